import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '../../../src/services/context.js';
import { searchNodes } from '../../../src/services/node-search.js';
import { GraphClient, members, UNKNOWN_ID } from '../../support/nodes.js';
import { concept, idOf, link } from '../../support/plans.js';
import { failing, postSnippet, quoted, REPO, resultOf, run } from '../../support/repl.js';
import { remember } from '../../support/requests.js';
import { linksOf } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

/** What each memory function does, and what it refuses. */

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

const nodeOf = async (id: unknown) => (await graph.getNode(String(id)).expect(200)).body;
const contentsOf = async (code: string, repoId = REPO) =>
  ((await resultOf(service, code, {}, repoId)) as { content: string }[]).map(({ content }) => content);

describe('SPEC-02.28 SPEC-02.37 memory_add_fact', () => {
  test('adds a fact of the task with half confidence unless told otherwise, and gives its id', async () => {
    expect(await nodeOf(await resultOf(service, 'memory_add_fact("Avocets wade")'))).toMatchObject({
      type: 'fact',
      content: 'Avocets wade',
      confidence: 0.5,
      tier: 'task',
      session_id: null,
    });
  });

  test('takes a confidence and a tier', async () => {
    const id = await resultOf(service, 'memory_add_fact("Avocets fly", 0.9, "longterm")');
    expect(await nodeOf(id)).toMatchObject({ confidence: 0.9, tier: 'longterm' });
  });

  test.each([0, 1])('takes the confidence %d', async (confidence) => {
    expect(await nodeOf(await resultOf(service, `memory_add_fact("x", ${confidence})`))).toMatchObject({ confidence });
  });

  test('takes what is undefined or null as left out', async () => {
    const id = await resultOf(service, 'memory_add_fact("Avocets rest", undefined, null)');
    expect(await nodeOf(id)).toMatchObject({ confidence: 0.5, tier: 'task' });
  });

  test('keeps what it is given character for character, whatever it says', async () => {
    const content = `Robert'); DROP TABLE nodes;-- "*" \n\t𝄞 \${1}`;
    expect(await nodeOf(await resultOf(service, `memory_add_fact(${quoted(content)})`))).toMatchObject({ content });
  });
});

describe('SPEC-02.29 SPEC-02.37 memory_add_experience', () => {
  test('adds an experience of the session with its outcome and success, and gives its id', async () => {
    const id = await resultOf(service, 'memory_add_experience("Raised the timeout", "still red", false)');
    expect(await nodeOf(id)).toMatchObject({
      type: 'experience',
      content: 'Raised the timeout',
      tier: 'session',
      metadata: { outcome: 'still red', success: false },
    });
  });

  test('takes a tier', async () => {
    const id = await resultOf(service, 'memory_add_experience("Set the port", "green", true, "longterm")');
    expect(await nodeOf(id)).toMatchObject({ tier: 'longterm', metadata: { outcome: 'green', success: true } });
  });
});

describe('SPEC-02.27 SPEC-02.37 memory_query', () => {
  const repoId = 'query/birds';
  beforeAll(async () => {
    await run(
      service,
      `for (let n = 0; n < 15; n++) memory_add_fact("Curlew number " + n);
       memory_add_fact("Curlew of the long term", 0.9, "longterm");
       memory_add_fact("Curlew of the archive", 0.9, "archive");
       memory_add_fact("Something else")`,
      {},
      repoId,
    );
  });

  test('finds ten nodes that hold a word of the query unless told otherwise', async () => {
    const found = await contentsOf('memory_query("where is the curlew?")', repoId);
    expect(found.length).toBe(10);
    expect(found.filter((content) => !content.startsWith('Curlew'))).toEqual([]);
  });

  test('takes a limit', async () => {
    expect((await contentsOf('memory_query("curlew", 3)', repoId)).length).toBe(3);
    expect((await contentsOf('memory_query("curlew", 100)', repoId)).length).toBe(16);
  });

  test('takes a tier, and looks into the archive only when that is the tier', async () => {
    expect(await contentsOf('memory_query("curlew", 10, "longterm")', repoId)).toEqual(['Curlew of the long term']);
    expect(await contentsOf('memory_query("curlew", 10, "archive")', repoId)).toEqual(['Curlew of the archive']);
    expect(await contentsOf('memory_query("curlew", 100)', repoId)).not.toContain('Curlew of the archive');
  });

  test('gives nodes with their id, type, content, confidence and tier', async () => {
    const [node] = (await resultOf(service, 'memory_query("curlew", 1, "longterm")', {}, repoId)) as [{ id: string }];
    expect(node).toEqual({
      id: node.id,
      type: 'fact',
      subtype: null,
      content: 'Curlew of the long term',
      confidence: 0.9,
      tier: 'longterm',
    });
  });

  test.each(['', '   ', '?!'])('finds nothing for the query %j, which has no words', async (query) => {
    expect(await contentsOf(`memory_query(${quoted(query)})`, repoId)).toEqual([]);
  });

  test('finds memories too, and global ones from every repo', async () => {
    await remember(service, { text: 'Whimbrel is a memory' }, repoId);
    await remember(service, { text: 'Whimbrel is global', scope: 'global' }, repoId);
    expect((await contentsOf('memory_query("whimbrel")', repoId)).sort()).toEqual([
      'Whimbrel is a memory',
      'Whimbrel is global',
    ]);
    expect(await contentsOf('memory_query("whimbrel")', 'query/other')).toEqual(['Whimbrel is global']);
  });
});

describe('SPEC-02.30 SPEC-02.37 memory_get_context', () => {
  const repoId = 'context/birds';
  beforeAll(async () => {
    await run(
      service,
      `for (let n = 0; n < 12; n++) memory_add_fact("Dunlin " + n, n / 20);
       memory_add_experience("Dunlin seen", "good", true);
       memory_add_fact("Dunlin archived", 1, "archive")`,
      {},
      repoId,
    );
  });

  test('gives the ten surest nodes, surest first, unless told otherwise', async () => {
    const nodes = (await resultOf(service, 'memory_get_context()', {}, repoId)) as { confidence: number }[];
    expect(nodes.length).toBe(10);
    const confidences = nodes.map(({ confidence }) => confidence);
    expect(confidences).toEqual([...confidences].sort((a, b) => b - a));
    expect(Math.min(...confidences)).toBeGreaterThanOrEqual(0.15);
  });

  test('takes a limit', async () => {
    expect(await contentsOf('memory_get_context(1, "session")', repoId)).toEqual(['Dunlin seen']);
    const all = await contentsOf('memory_get_context(100)', repoId);
    expect(all.filter((content) => content.startsWith('Dunlin')).length).toBe(13);
  });

  test('takes a tier, and looks into the archive only when that is the tier', async () => {
    expect(await contentsOf('memory_get_context(10, "session")', repoId)).toEqual(['Dunlin seen']);
    expect(await contentsOf('memory_get_context(10, "archive")', repoId)).toEqual(['Dunlin archived']);
    expect(await contentsOf('memory_get_context(100)', repoId)).not.toContain('Dunlin archived');
  });

  test('is empty in a repo that was never written, but for what is global', async () => {
    expect(await contentsOf('memory_get_context(10, "task")', 'context/nobody')).toEqual([]);
    expect(await contentsOf('memory_get_context()', 'context/nobody')).toContain('Whimbrel is global');
  });
});

describe('SPEC-02.31 SPEC-02.37 memory_relate', () => {
  test.each([
    ['causes', ['cause', 'effect']],
    ['summarizes', ['subject', 'object']],
    ['related_to', ['participant', 'participant']],
    ['a word of its own', ['subject', 'object']],
  ])('draws an edge labelled %s with the parts %j in their order', async (label, roles) => {
    const code = `const [a, b] = [memory_add_fact("a"), memory_add_fact("b")]; [a, b, memory_relate(${quoted(label)}, a, b)]`;
    const [a, b, id] = (await resultOf(service, code)) as [string, string, string];
    const { members } = (await graph.getEdge(id).expect(200)).body;
    expect(members.map(({ node_id, role }: { node_id: string; role: string }) => [node_id, role])).toEqual([
      [a, roles[0]],
      [b, roles[1]],
    ]);
  });

  test('finds an edge that is there between two nodes with thousands of newer ones', async () => {
    const [a, b, ...others] = Array.from({ length: 1_102 }, (_, index) => idOf(5_000_000 + index)) as [string, string];
    const nodes = [a, b, ...others].map((id) => concept(id, { repoId: REPO }));
    await service.store.apply({ space: REPO, changes: nodes });
    const edges = (others as string[]).flatMap((id) => [link('supports', [a, id]), link('supports', [b, id])]);
    await service.store.apply({ space: REPO, changes: [link('supports', [a, b], { id: idOf(5_900_000) }), ...edges] });
    expect(await resultOf(service, `memory_relate("supports", ${quoted(a)}, ${quoted(b)})`)).toBe(idOf(5_900_000));
  });

  test('relates two nodes of the snippet, which are then related', async () => {
    const { result } = await run(
      service,
      'const [a, b] = [memory_add_fact("a"), memory_add_fact("b")]; [a, b, memory_relate("precedes", a, b)]',
    );
    const [a, b, edge] = result as [string, string, string];
    expect((await graph.getEdge(edge).expect(200)).body).toMatchObject({
      type: 'relation',
      label: 'precedes',
      members: [
        { node_id: a, role: 'subject' },
        { node_id: b, role: 'object' },
      ],
    });
    const related = (await graph.getRelated(a).expect(200)).body;
    expect(JSON.stringify(related)).toContain(b);
  });

  test('relates nodes and memories of the store, and those of the snippet with them', async () => {
    const node = await graph.node({ content: 'stored' });
    const memory = await remember(service);
    const code = `const own = memory_add_fact("own");
      [own, memory_relate("knows", own, ${quoted(node.id)}), memory_relate("knows", ${quoted(node.id)}, ${quoted(memory)})]`;
    const [own, first, second] = (await resultOf(service, code)) as [string, string, string];
    const membersOf = async (id: string) =>
      (await graph.getEdge(id).expect(200)).body.members.map(({ node_id }: { node_id: string }) => node_id);
    expect(await membersOf(first)).toEqual([own, node.id]);
    expect(await membersOf(second)).toEqual([node.id, memory]);
  });

  test('gives the same id for the same again, in the snippet and after it, and stores it once', async () => {
    const [a, b] = (await graph.nodes('a', 'b')) as unknown as [{ id: string }, { id: string }];
    const relate = `memory_relate("repeats", ${quoted(a.id)}, ${quoted(b.id)})`;
    const [first, second] = (await resultOf(service, `[${relate}, ${relate}]`)) as [string, string];
    expect(second).toBe(first);
    const again = await run(service, relate);
    expect([again.result, again.side_effects]).toEqual([first, []]);
    expect(linksOf(service, REPO, 'repeats').length).toBe(1);
  });

  test('tells the other way round, and another label, from the same', async () => {
    const [a, b] = (await graph.nodes('a', 'b')) as unknown as [{ id: string }, { id: string }];
    const [one, two] = [quoted(a.id), quoted(b.id)];
    const code = `[memory_relate("l", ${one}, ${two}), memory_relate("l", ${two}, ${one}), memory_relate("m", ${one}, ${two})]`;
    expect(new Set((await resultOf(service, code)) as string[]).size).toBe(3);
  });

  test('relates what is related_to each other, from whichever end', async () => {
    const [a, b] = (await graph.nodes('a', 'b')) as unknown as [{ id: string }, { id: string }];
    const [one, two] = [quoted(a.id), quoted(b.id)];
    const code = `[memory_relate("related_to", ${one}, ${two}), memory_relate("related_to", ${two}, ${one})]`;
    const [first, second] = (await resultOf(service, code)) as [string, string];
    expect(second).toBe(first);
  });

  test('relates an archived node, as POST /edges does', async () => {
    const [a, b] = (await graph.nodes('a', 'b')) as unknown as [{ id: string }, { id: string }];
    await graph.deleteNode(a.id);
    expect(await resultOf(service, `memory_relate("after", ${quoted(a.id)}, ${quoted(b.id)})`)).toEqual(
      expect.any(String),
    );
  });

  test('leaves it to POST /edges to relate two global memories for every repo, and knows those that it related', async () => {
    const a = await remember(service, { text: 'Global one', scope: 'global' });
    const b = await remember(service, { text: 'Global two', scope: 'global' });
    const relate = `memory_relate("beside", ${quoted(a)}, ${quoted(b)})`;
    expect(await failing(service, relate)).toContain('use POST /edges');
    const { id } = await graph.edge(members(['subject', a], ['object', b]), { label: 'beside' });
    expect(await resultOf(service, relate, {}, 'relate/other')).toBe(id);
  });

  test.each([
    ['nobody’s', UNKNOWN_ID],
    ['no id', 'nope'],
    ['empty', ''],
  ])('refuses an id that is %s, by the part it plays', async (_, id) => {
    const { id: known } = await graph.node();
    expect(await failing(service, `memory_add_fact("x"); memory_relate("l", ${quoted(id)}, ${quoted(known)})`)).toBe(
      `Error: subject: no node ${quoted(id)} is visible from this repo (line 1)`,
    );
    expect(await failing(service, `memory_add_fact("x"); memory_relate("l", ${quoted(known)}, ${quoted(id)})`)).toBe(
      `Error: object: no node ${quoted(id)} is visible from this repo (line 1)`,
    );
  });

  test('refuses a node of another repo', async () => {
    const id = quoted(await resultOf(service, 'memory_add_fact("elsewhere")', {}, 'relate/else'));
    expect(await failing(service, `memory_relate("l", ${id}, ${id})`)).toContain('is visible from this repo');
  });

  test.each(['mine', 'supports'])(
    'refuses to relate a node with itself as %s, or does it: it never breaks',
    async (label) => {
      const answer = await postSnippet(
        service,
        `const a = memory_add_fact("a"); memory_relate(${quoted(label)}, a, a)`,
      );
      expect([200, 422]).toContain(answer.status);
    },
  );

  test.each(['attempts', 'fact_update'])('leaves %s links to the memory contract', async (label) => {
    const code = `const [a, b] = [memory_add_fact("a"), memory_add_fact("b")]; memory_relate(${quoted(label)}, a, b)`;
    expect(await failing(service, code)).toContain('are made by the routes under /memory');
  });
});

describe('SPEC-02.37 memory_read', () => {
  test('gives the memories that were written through /memory/write, with why and in what state', async () => {
    const id = await remember(service, { text: 'Turnstones turn stones' }, 'read/birds');
    expect(await resultOf(service, 'memory_read("turnstones")', {}, 'read/birds')).toEqual([
      {
        id,
        form: 'memory',
        kind: 'fact',
        text: 'Turnstones turn stones',
        score: expect.any(Number),
        why: 'direct_match',
        state: 'current',
      },
    ]);
  });

  test('takes a limit, which is ten unless told otherwise', async () => {
    for (let n = 0; n < 12; n++) await remember(service, { text: `Sanderling number ${n}` }, 'read/limit');
    const count = (code: string) => resultOf(service, `${code}.length`, {}, 'read/limit');
    expect(await count('memory_read("sanderling")')).toBe(10);
    expect(await count('memory_read("sanderling", 2)')).toBe(2);
  });
});

const LIMIT = 'limit must be a whole number from 1 to 100';
const TIER = 'tier must be one of task, session, longterm, archive';

test.each([
  ['memory_add_fact()', 'content must be a text'],
  ['memory_add_fact(5)', 'content must be a text'],
  ['memory_add_fact(null)', 'content must be a text'],
  ['memory_add_fact({ content: "x" })', 'content must be a text'],
  ['memory_add_fact("x".repeat(100001))', 'content has 100001 characters, at most 100000 are kept'],
  ['memory_add_fact("x", 1.1)', 'confidence must be from 0 to 1'],
  ['memory_add_fact("x", -0.1)', 'confidence must be from 0 to 1'],
  ['memory_add_fact("x", "high")', 'confidence must be from 0 to 1'],
  ['memory_add_fact("x", NaN)', 'argument 2 is NaN; give a number that is finite'],
  ['memory_query("x", -Infinity)', 'argument 2 is -Infinity; give a number that is finite'],
  ['memory_add_fact("x", 0.5, "forever")', TIER],
  ['memory_add_fact("x", 0.5, 1)', TIER],
  ['memory_add_experience("x")', 'outcome must be a text'],
  ['memory_add_experience("x", "y")', 'success must be true or false'],
  ['memory_add_experience("x", "y", "yes")', 'success must be true or false'],
  ['memory_add_experience("x", "y", 1)', 'success must be true or false'],
  ['memory_add_experience("x", "y", true, "soon")', TIER],
  ['memory_query()', 'query must be a text'],
  ['memory_query(["x"])', 'query must be a text'],
  ['memory_query("x", 0)', LIMIT],
  ['memory_query("x", 101)', LIMIT],
  ['memory_query("x", 1.5)', LIMIT],
  ['memory_query("x", "5")', LIMIT],
  ['memory_query("x", 5, "all")', TIER],
  ['memory_get_context(-1)', LIMIT],
  ['memory_get_context(5, "all")', TIER],
  ['memory_read()', 'query must be a text'],
  ['memory_read("x", 0)', LIMIT],
  ['memory_relate()', 'must be a text'],
  ['memory_relate("l")', 'must be a text'],
  ['memory_relate(5, "a", "b")', 'label must be a text'],
])('SPEC-02.37 %s is refused with what is wrong, and nothing is written', async (call, message) => {
  const detail = await failing(service, `memory_add_fact("before");\n${call}`);
  expect(detail).toContain(message);
  expect(detail).toContain('(line 2)');
});

test.each(['memory_query("x".repeat(10001))', 'memory_read("x".repeat(10001))'])(
  'SPEC-02.37 %s is refused in words that its writer understands',
  async (call) => {
    const detail = await failing(service, call);
    expect(detail).not.toContain('gate');
    expect(detail).toMatch(/^Error: query (has|must)/);
  },
);

test.each([
  ['a NUL', 'memory_add_fact("a\\0b")'],
  ['half of a surrogate pair', 'memory_add_fact("a\\ud800b")'],
  ['a NUL in an outcome', 'memory_add_experience("a", "b\\0", true)'],
  ['a NUL in a label', 'const a = memory_add_fact("a"), b = memory_add_fact("b"); memory_relate("l\\0", a, b)'],
])('SPEC-02.34 text with %s is refused, as everywhere', async (_, code) => {
  await failing(service, code);
});

test.each([
  ['memory_query("x", 1, "task", 4)', 3],
  ['memory_add_fact("x", 0.5, "task", [])', 3],
  ['memory_add_experience("x", "y", true, "task", 0.5)', 4],
  ['memory_get_context(1, "task", "x")', 2],
  ['memory_relate("l", "a", "b", 0.5)', 3],
  ['memory_read("x", 1, null)', 2],
])('%s is refused: what is given besides would change nothing', async (call, most) => {
  const name = call.slice(0, call.indexOf('('));
  expect(await failing(service, call)).toContain(`${name} takes at most ${most} arguments, and ${most + 1} were given`);
});

test.each(['memory_query("   ")', 'memory_query("")', 'memory_read("   ")', 'memory_read("")'])(
  'a blank query fits nothing: %s',
  async (call) => {
    expect(await resultOf(service, call)).toEqual([]);
  },
);

test('memory_get_context shows global nodes beside those of the repo, by their confidence', async () => {
  const repoId = 'context/global';
  await remember(service, { text: 'Ruddy everywhere', scope: 'global', confidence: 0.7 }, repoId);
  const code = 'memory_add_fact("Ruddy low", 0.6, "longterm"); memory_add_fact("Ruddy high", 0.8, "longterm")';
  await resultOf(service, code, {}, repoId);
  const contents = await contentsOf('memory_get_context(100, "longterm")', repoId);
  const own = contents.filter((content) => content.startsWith('Ruddy'));
  expect(own).toEqual(['Ruddy high', 'Ruddy everywhere', 'Ruddy low']);
  expect(await contentsOf('memory_get_context(3, "task")', repoId)).toEqual([]);
});

describe('of many long texts', () => {
  const repoId = 'long/texts';
  const TEXTS = 8;
  beforeAll(async () => {
    const long = new GraphClient(service, repoId);
    const content = `plover ${'of the strand '.repeat(6_400)}`;
    for (let index = 0; index < TEXTS; index++) await long.node({ content: `${index} ${content}` });
  });

  test.each([
    ['memory_query("plover", 100)', 'content'],
    ['memory_get_context(100, "task")', 'content'],
    ['memory_read("plover", 100)', 'text'],
  ])('%s gives back as much as one call may carry', async (call, field) => {
    const code = `${call}.map(({ ${field} }) => [${field}.length, ${field}.endsWith("…")])`;
    const texts = (await resultOf(service, code, {}, repoId)) as [number, boolean][];
    expect(texts).toHaveLength(TEXTS);
    expect(texts.reduce((sum, [length]) => sum + length, 0)).toBeLessThanOrEqual(200_000 + TEXTS);
    expect(texts.map(([, isCut]) => isCut)).toEqual([false, false, ...Array(TEXTS - 2).fill(true)]);
  });

  test('a search lets others have their turn in between', async () => {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const found = await searchNodes({ store: service.store } as unknown as Context, repoId, {
      query: 'plover',
      match: 'any',
      filter: { type: null, tier: null, form: null, kind: null, minConfidence: 0, sessionId: null },
      includeArchived: false,
      includeGlobal: true,
      limit: 100,
    });
    isOver = true;
    expect(found).toHaveLength(TEXTS);
    expect(turns).toBeGreaterThan(0);
  });
});
