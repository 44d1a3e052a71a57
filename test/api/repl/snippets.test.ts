import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { GraphClient } from '../../support/nodes.js';
import { failing, lasting, postSnippet, quoted, REPO, resultOf, run } from '../../support/repl.js';
import { remember } from '../../support/requests.js';
import { select } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

/** A snippet as a whole: what it sees, what it leaves behind and what is answered. */

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

describe('SPEC-02.37 a snippet sees what it wrote itself', () => {
  test('in memory_query, once and with what the store has', async () => {
    await remember(service, { text: 'Knots winter here' });
    const code = 'const id = memory_add_fact("Knots flock"); [id, memory_query("knots").map((node) => node.id)]';
    const [id, found] = (await resultOf(service, code)) as [string, string[]];
    expect(found.filter((one) => one === id)).toEqual([id]);
    expect(found.length).toBe(2);
    expect(await resultOf(service, 'memory_query("knots").length')).toBe(2);
  });

  test('in memory_get_context, where it ranks by confidence like all else', async () => {
    const code = `memory_add_fact("low", 0.1); memory_add_fact("high", 1); memory_add_experience("middle", "x", true);
      memory_get_context(3).map((node) => node.content)`;
    expect(await resultOf(service, code, {}, 'own/context')).toEqual(['high', 'middle', 'low']);
  });

  test('within the tier and the limit that it asks for', async () => {
    const code = `for (let n = 0; n < 5; n++) memory_add_fact("Ruff " + n);
      memory_add_fact("Ruff for long", 0.5, "longterm");
      [memory_query("ruff", 2).length, memory_query("ruff", 9, "longterm").length, memory_get_context(9, "session").length]`;
    expect(await resultOf(service, code, {}, 'own/tiers')).toEqual([2, 1, 0]);
  });

  test('but not what it put into the archive, unless it asks for that', async () => {
    const code = `memory_add_fact("Smew", 1, "archive");
      [memory_query("smew"), memory_get_context(), memory_query("smew", 5, "archive"), memory_get_context(5, "archive")]
        .map((found) => found.length)`;
    expect(await resultOf(service, code, {}, 'own/archive')).toEqual([0, 0, 1, 1]);
  });
});

describe('SPEC-02.37 what a snippet writes is stored together or not at all', () => {
  test('an edge that somebody else drew in the meantime is that edge, and all the rest is stored', async () => {
    const [one, two] = [await graph.node({ content: 'Teal' }), await graph.node({ content: 'Garganey' })];
    const { store } = service;
    const apply = store.apply.bind(store);
    const relate = `memory_relate("meanwhile", ${quoted(one.id)}, ${quoted(two.id)})`;
    let firstId: unknown;
    const spy = vi.spyOn(store, 'apply').mockImplementationOnce(async (plan) => {
      firstId = await resultOf(service, relate);
      return apply(plan);
    });
    const code = `const id = ${relate}; print("edge", id); ({ fact: memory_add_fact("beside it"), id })`;
    const { result, printed, side_effects } = await run(service, code);
    spy.mockRestore();
    const { fact, id } = result as { fact: string; id: string };
    expect([id, printed]).toEqual([firstId, [`edge ${firstId}`]]);
    expect(side_effects).toEqual([{ effect: 'node_inserted', id: fact }]);
    await graph.getNode(fact).expect(200);
    expect(await graph.allEdges({ label: 'meanwhile' })).toMatchObject([{ id }]);
  });

  const WRITES = `const a = memory_add_fact("one"); const b = memory_add_fact("two");
memory_add_experience("three", "done", true); memory_relate("then", a, b);`;

  test('a snippet that ends well stores all of it, at one moment', async () => {
    const { side_effects } = await run(service, WRITES, {}, 'whole/well');
    expect(side_effects.map(({ effect }) => effect)).toEqual([
      'node_inserted',
      'node_inserted',
      'node_inserted',
      'edge_inserted',
    ]);
    expect(select(service, 'whole/well', 'SELECT content FROM nodes ORDER BY seq')).toEqual(
      ['one', 'two', 'three'].map((content) => ({ content })),
    );
  });

  test.each([
    ['throws', 'throw new Error("changed my mind")', 'Error: changed my mind (line 3)'],
    ['fails in a function', 'memory_add_fact("four", 5)', 'Error: confidence must be from 0 to 1 (line 3)'],
    ['throws after waiting', 'await null; throw new TypeError("late")', 'TypeError: late (line 3)'],
    ['names what is not there', 'nowhere()', "ReferenceError: 'nowhere' is not defined (line 3)"],
  ])('a snippet that %s stores nothing', async (_, end, detail) => {
    expect(await failing(service, `${WRITES}\n${end}`)).toBe(detail);
  });

  test('a snippet that does not parse does nothing', async () => {
    expect(await failing(service, `${WRITES}\nlet let = 1`)).toMatch(/^SyntaxError: .+ \(line 3\)$/);
  });

  test('a snippet that meets a limit stores nothing', async () => {
    await failing(service, `${WRITES}\nfor (;;) memory_add_fact("more")`, 'snippet_limit');
  });

  test('an error that the snippet catches undoes nothing else', async () => {
    const code = `memory_add_fact("kept");
      try { memory_add_fact("refused", 7) } catch (error) { print(error.message) }
      memory_add_fact("kept too")`;
    const { printed, calls } = await run(service, code, {}, 'whole/caught');
    expect([printed, calls.length]).toEqual([['confidence must be from 0 to 1'], 3]);
    expect(select(service, 'whole/caught', 'SELECT content FROM nodes').length).toBe(2);
  });

  test('a dry run is answered the same and stores nothing', async () => {
    const before = lasting(service);
    const answer = await run(service, `${WRITES} memory_query("one").length`, { dry_run: true });
    expect(answer).toMatchObject({ applied: false, result: 1 });
    expect(answer.side_effects.length).toBe(4);
    expect(lasting(service)).toEqual(before);
    expect((await run(service, '1', { dry_run: false })).applied).toBe(true);
  });

  test('a dry run of reads in a repo that was never written does not begin it', async () => {
    await run(service, 'memory_add_fact("x"); memory_query("x")', { dry_run: true }, 'whole/never');
    const { body } = await service.http.get('/repos').expect(200);
    expect(JSON.stringify(body)).not.toContain('whole/never');
  });
});

describe('SPEC-02.37 the answer', () => {
  test('holds the result, the printed lines, the calls in order and what was written', async () => {
    const { result, ...rest } = await run(
      service,
      'const id = memory_add_fact("Godwit", 0.9); print("added", id); print({ n: [1] }, null); memory_query("nobody", 5)',
      {},
      'answer/whole',
    );
    const [, id] = (rest.printed[0] as string).split(' ');
    expect(result).toEqual([]);
    expect(rest).toEqual({
      printed: [`added ${id}`, '{"n":[1]} null'],
      calls: [
        { function: 'memory_add_fact', arguments: ['Godwit', 0.9] },
        { function: 'memory_query', arguments: ['nobody', 5] },
      ],
      applied: true,
      side_effects: [{ effect: 'node_inserted', id }],
    });
  });

  test.each([
    ['1 + 1', 2],
    ['"text"', 'text'],
    ['({ a: [true, null] })', { a: [true, null] }],
    ['let x = 5', null],
    ['undefined', null],
    ['await Promise.resolve(7)', 7],
    ['(async () => 8)()', 8],
    ['new Map([["a", 1]])', [['a', 1]]],
    ['10n', '10'],
    ['if (true) { "branch" }', 'branch'],
  ])('to %s is %j', async (code, result) => {
    expect(await resultOf(service, code)).toEqual(result);
  });

  test('of each snippet is its own: nothing of the one before is left', async () => {
    await run(service, 'globalThis.left = 1; Array.prototype.map = null; memory_query = null; print("x")');
    const { result, printed } = await run(service, '[typeof left, [1].map((one) => one), typeof memory_query]');
    expect([result, printed]).toEqual([['undefined', [1], 'function'], []]);
  });
});

describe('SPEC-02.37 the request', () => {
  test('of a session sees of the task and session tiers what belongs to it, and all of the others', async () => {
    const repoId = 'sessions/apart';
    const note = (tier: string, more: object = {}) =>
      resultOf(service, `memory_add_fact("Godwit of ${tier}", 0.9, "${tier}")`, more, repoId);
    for (const tier of ['task', 'session', 'longterm']) await note(tier, { session_id: 'A' });
    const seen = '[memory_query("godwit"), memory_get_context()].map((nodes) => nodes.map(({ tier }) => tier).sort())';
    const all = ['longterm', 'session', 'task'];
    expect(await resultOf(service, seen, { session_id: 'A' }, repoId)).toEqual([all, all]);
    expect(await resultOf(service, seen, {}, repoId)).toEqual([all, all]);
    expect(await resultOf(service, seen, { session_id: 'B' }, repoId)).toEqual([['longterm'], ['longterm']]);
    await note('session');
    expect(await resultOf(service, 'memory_query("godwit", 1, "session")', { session_id: 'B' }, repoId)).toEqual([]);
    expect(await note('session', { session_id: 'B' })).toEqual(expect.any(String));
    const own = '[memory_query("godwit", 1, "session"), memory_get_context(1, "session")].map(({ length }) => length)';
    expect(await resultOf(service, own, { session_id: 'B' }, repoId)).toEqual([1, 1]);
  });

  test('of a session reads what belongs to it and what all share, whether found or reached over edges', async () => {
    const repoId = 'sessions/read';
    const shared = await resultOf(service, 'memory_add_fact("Whimbrel flock", 0.9, "longterm")', {}, repoId);
    const noted = `const own = [memory_add_fact("Whimbrel mine"), memory_add_experience("Curlew", "seen", true)];
      for (const id of own) memory_relate("related_to", ${quoted(shared)}, id); own`;
    const own = await resultOf(service, noted, { session_id: 'A' }, repoId);
    const read = 'memory_read("whimbrel", 20).map(({ id }) => id).sort()';
    const all = [shared, ...(own as string[])].sort();
    expect(await resultOf(service, read, { session_id: 'A' }, repoId)).toEqual(all);
    expect(await resultOf(service, read, {}, repoId)).toEqual(all);
    expect(await resultOf(service, read, { session_id: 'B' }, repoId)).toEqual([shared]);
  });

  test('of a session reads as if words that only another one noted were unheard of', async () => {
    const repoId = 'sessions/words';
    for (const word of ['zebra', 'yak']) {
      await resultOf(service, `memory_add_fact("Dunlin of the ${word}", 0.9)`, { session_id: 'A' }, repoId);
    }
    await resultOf(service, 'memory_add_fact("Dunlin alone", 0.9, "longterm")', {}, repoId);
    const read = (query: string) =>
      resultOf(service, `memory_read("${query}").map(({ text, score }) => [text, score])`, { session_id: 'B' }, repoId);
    expect(await read('dunlin zebra yak')).toEqual(await read('dunlin okapi eland'));
  });

  test('names the task that what is added belongs to, so that it can be consolidated', async () => {
    const repoId = 'tasks/done';
    const place = { session_id: 's-8', task_id: 't-8' };
    const id = await resultOf(service, 'memory_add_fact("of a task")', place, repoId);
    const { body } = await service.http
      .post('/evolution/consolidate')
      .query({ repo_id: repoId })
      .send({ task_id: 't-8' })
      .expect(200);
    expect(body.promoted_node_ids).toEqual([id]);
    expect(await resultOf(service, 'memory_get_context(5, "session").length', place, repoId)).toBe(1);
  });

  test('shows of the arguments of a call as much as is needed to know them by', async () => {
    const { calls } = await run(
      service,
      'const long = "x".repeat(1000); memory_query(long); memory_query("short", 3); try { memory_query([long]) } catch {}',
    );
    expect(calls).toEqual([
      { function: 'memory_query', arguments: [`${'x'.repeat(499)}…`] },
      { function: 'memory_query', arguments: ['short', 3] },
      { function: 'memory_query', arguments: [`["${'x'.repeat(497)}…`] },
    ]);
  });

  test('names the session that what is added belongs to', async () => {
    const id = await resultOf(service, 'memory_add_fact("of a session")', { session_id: 's-7' });
    expect((await graph.getNode(String(id)).expect(200)).body).toMatchObject({ session_id: 's-7' });
    expect((await graph.listed({ session: 's-7', tier: 'task' })).map((node) => node.id)).toEqual([id]);
  });

  test('means the repo called default when it names none', async () => {
    const { body } = await service.http.post('/repl').send({ code: 'memory_add_fact("no repo")' }).expect(200);
    expect(select(service, 'default', 'SELECT id FROM nodes')).toEqual([{ id: body.result }]);
  });

  test.each([
    ['no code', {}, 'code'],
    ['empty code', { code: '' }, 'code'],
    ['code that is no text', { code: 1 }, 'code'],
    ['code that is too long', { code: `1//${'x'.repeat(100_000)}` }, 'code'],
    ['an empty session', { code: '1', session_id: '' }, 'session_id'],
    ['an empty task', { code: '1', task_id: '' }, 'task_id'],
    ['a dry_run that is no boolean', { code: '1', dry_run: 'yes' }, 'dry_run'],
    ['an unknown field', { code: '1', language: 'js' }, 'language'],
  ])('with %s is refused by the field', async (_, body, field) => {
    const answer = await service.http.post('/repl').send(body).expect(400);
    expect([answer.body.code, answer.body.errors[0].field]).toEqual(['schema_error', field]);
  });

  test('may hold 100,000 characters of code', async () => {
    await postSnippet(service, `1//${'x'.repeat(99_997)}`).expect(200);
  });
});

describe('SPEC-02.37 repos are apart', () => {
  test('a snippet reads and relates nothing of another repo', async () => {
    const id = await resultOf(service, 'memory_add_fact("Shrike of one", 1, "longterm")', {}, 'apart/one');
    await remember(service, { text: 'Shrike memory of one' }, 'apart/one');
    const reads = '[memory_query("shrike"), memory_get_context(), memory_read("shrike")]';
    expect(await resultOf(service, reads, {}, 'apart/two')).toEqual([[], [], []]);
    const before = lasting(service, 'apart/one');
    const code = `const own = memory_add_fact("mine"); memory_relate("spies", own, ${quoted(id)})`;
    await postSnippet(service, code, {}, 'apart/two').expect(422);
    expect(lasting(service, 'apart/one')).toEqual(before);
    expect(select(service, 'apart/two', 'SELECT id FROM nodes')).toEqual([]);
  });

  test('a repo id that cannot be one is refused', async () => {
    const { body } = await postSnippet(service, '1', {}, 'bad\nrepo').expect(422);
    expect([body.code, body.errors[0].field]).toEqual(['semantic_error', 'repo_id']);
  });
});

test('SPEC-02.37 what a snippet writes is there for every other route', async () => {
  const id = await resultOf(service, 'memory_add_fact("Phalaropes spin", 0.9)');
  const { body } = await service.http
    .post('/nodes/search')
    .query({ repo_id: REPO })
    .send({ query: 'phalaropes' })
    .expect(200);
  expect(JSON.stringify(body)).toContain(String(id));
});
