import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MEMORY_KINDS } from '../../src/domain/vocabulary.js';
import {
  allItems,
  idsIn,
  memoryBody,
  type Pack,
  recall,
  remember,
  updateBody,
  writeBody,
} from '../support/requests.js';
import { type Service, startService } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** One thing that happens in one of two repos. What it points at is chosen among what the repo may see by then. */
interface Step {
  readonly side: 0 | 1;
  readonly kind: string;
  readonly scope: string;
  readonly word: number;
  readonly target: number;
  readonly isRelated: boolean;
  readonly afterwards: 'nothing' | 'archive' | 'vote' | 'replace';
}

const step: fc.Arbitrary<Step> = fc.record({
  side: fc.constantFrom(0 as const, 1 as const),
  kind: fc.constantFrom(...MEMORY_KINDS),
  scope: fc.constantFrom('repo', 'repo', 'global'),
  word: fc.nat(2),
  target: fc.nat(),
  isRelated: fc.boolean(),
  afterwards: fc.constantFrom('nothing', 'nothing', 'archive', 'vote', 'replace'),
});

interface Written {
  readonly id: string;
  readonly side: 0 | 1;
  readonly kind: string;
  readonly scope: string;
  /** A word that no other memory holds. */
  readonly name: string;
  archived: boolean;
}

/** Two repos, and all that was written into them. Words carry the number of the world, so that worlds do not meet. */
class World {
  static #count = 0;
  readonly number = ++World.#count;
  readonly repoIds = [`left/${this.number}`, `right/${this.number}`] as const;
  /** Everything private to a repo holds its marker: texts, reasons and evidence. */
  readonly markers = [`zanzibar${this.number}`, `quagga${this.number}`] as const;
  readonly words = ['harbour', 'lantern', 'compass'].map((word) => `${word}${this.number}`);
  readonly written: Written[] = [];

  visibleFrom = (side: 0 | 1): Written[] =>
    this.written.filter((memory) => memory.side === side || memory.scope === 'global');
  privateTo = (side: 0 | 1): Written[] =>
    this.written.filter((memory) => memory.side === side && memory.scope === 'repo');

  async carryOut({ side, scope, word, target, isRelated, afterwards, kind: wish }: Step): Promise<void> {
    const linkable = this.visibleFrom(side).filter((memory) => scope === 'repo' || memory.scope === 'global');
    const pick = (memories: readonly Written[]): Written | undefined => memories[target % Math.max(1, memories.length)];
    const problem = pick(linkable.filter((memory) => memory.kind === 'problem'));
    const isAttempt = wish === 'solution' || wish === 'failed_tactic';
    const kind = isAttempt && !problem ? 'problem' : wish;
    const related = isRelated ? pick(linkable) : undefined;
    const secret = scope === 'repo' ? this.markers[side] : 'shared';
    const name = `name${this.number}x${this.written.length}`;
    const id = await remember(
      service,
      {
        text: `${this.words[word]} ${secret} ${name}`,
        kind,
        scope,
        rationale: secret,
        evidence_refs: [`commit:${secret}`],
        links: {
          ...(kind === wish && isAttempt && problem && { problem_id: problem.id }),
          ...(related && { related_memory_ids: [related.id] }),
        },
      },
      this.repoIds[side],
    );
    const memory: Written = { id, side, kind, scope, name, archived: false };
    this.written.push(memory);
    await this.#noteBeside(side, id);
    await this.#workBeside(side, id);
    if (afterwards === 'archive') await this.#archive(memory);
    if (afterwards === 'vote')
      await this.#vote(memory, pick(this.visibleFrom(side).filter((other) => other.kind === 'problem')));
    if (afterwards === 'replace') await this.#replace(side, target);
  }

  /** A node of the repo's own that says something about the memory, which may be global. */
  async #noteBeside(side: 0 | 1, memoryId: string): Promise<void> {
    const place = { repo_id: this.repoIds[side] };
    const content = `note ${this.markers[side]} ${this.words[0]}`;
    const { body } = await service.http.post('/nodes').query(place).send({ type: 'fact', content }).expect(201);
    const members = [
      { node_id: body.id, role: 'subject' },
      { node_id: memoryId, role: 'object' },
    ];
    const edge = { type: 'relation', label: this.markers[side], members };
    await service.http.post('/edges').query(place).send(edge).expect(201);
  }

  /** An episode of the repo's own that has to do with the memory and with a file that both repos have. */
  async #workBeside(side: 0 | 1, memoryId: string): Promise<void> {
    const project_id = this.repoIds[side];
    const secret = this.markers[side];
    const { body } = await service.http.post('/agents').send({ project_id, specialization: secret }).expect(201);
    const episode = {
      project_id,
      agent_id: body.agent.id,
      intent: { goal: `${this.words[0]} ${secret}`, task_type: 'other' },
      perception: { relevant_files: [{ path: 'src/shared.ts', relevance: secret, state_summary: secret }] },
      outcome: { success: false, summary: secret, failure_reason: secret, learnings: [`Always ${secret}`] },
      links: { related_to: [memoryId] },
      tags: [secret, 'both'],
    };
    await service.http.post('/episodes').send(episode).expect(201);
  }

  async #update(side: 0 | 1, id: string, update: object, statuses = [200]): Promise<void> {
    const body = updateBody(id, update, 'commit', this.repoIds[side]);
    expect(statuses).toContain((await service.http.post('/memory/update').send(body)).status);
  }

  async #archive(memory: Written): Promise<void> {
    await this.#update(memory.side, memory.id, { type: 'archive_state', archived: true });
    memory.archived = true;
  }

  async #vote(memory: Written, problem: Written | undefined): Promise<void> {
    if (!problem || problem === memory) return;
    const rationale = memory.scope === 'repo' || problem.scope === 'repo' ? this.markers[memory.side] : 'shared';
    await this.#update(memory.side, memory.id, { type: 'utility_vote', problem_id: problem.id, vote: 1, rationale });
  }

  async #replace(side: 0 | 1, target: number): Promise<void> {
    const visible = this.visibleFrom(side);
    const facts = visible.filter((memory) => memory.kind === 'fact');
    const changes = visible.filter((memory) => memory.kind === 'change');
    const [first, second] = [
      facts[target % Math.max(1, facts.length)],
      facts[(target + 1) % Math.max(1, facts.length)],
    ];
    const change = changes[target % Math.max(1, changes.length)];
    if (!first || !second || !change || first === second) return;
    const isShared = [first, second, change].every((memory) => memory.scope === 'global');
    const rationale = isShared ? 'shared' : this.markers[side];
    const update = { type: 'fact_update_link', old_fact_id: first.id, new_fact_id: second.id, rationale };
    // Random replacements may repeat one another or close a circle; that is refused, and not what is tested here.
    await this.#update(side, change.id, update, [200, 409, 422]);
  }
}

const READS = [
  {},
  { mode: 'ambient' },
  { include_archived: true, expand: { semantic_hops: 3 } },
  { mode: 'ambient', include_archived: true, expand: { semantic_hops: 3 } },
  { expand: { semantic_hops: 0, include_problem_links: false, include_fact_update_links: false } },
  { include_global: false, include_archived: true },
];

/** Every answer that the side can get, as text. */
async function everythingSeenFrom(world: World, side: 0 | 1): Promise<string[]> {
  const repoId = world.repoIds[side];
  const other = side === 0 ? 1 : 0;
  const answers: string[] = [];
  const queries = [...world.words, world.words.join(' '), `${world.markers[other]} ${world.words.join(' ')}`, 'shared'];
  for (const query of queries) {
    for (const more of READS) {
      const body = { op: 'read', repo_id: repoId, mode: 'targeted', query, limit: 100, explain: true, ...more };
      answers.push((await service.http.post('/memory/read').send(body).expect(200)).text);
    }
  }
  for (const memory of world.visibleFrom(side)) {
    for (const path of [
      `/memory/${memory.id}`,
      `/memory/${memory.id}/chain`,
      `/nodes/${memory.id}`,
      `/nodes/${memory.id}/related?hops=3`,
      `/nodes/${memory.id}/confidence`,
      `/graph?node=${memory.id}&hops=3`,
      `/edges?node=${memory.id}`,
      `/edges?node=${memory.id}&scope=global`,
      `/evolution?node=${memory.id}`,
    ]) {
      answers.push((await service.http.get(path).query({ repo_id: repoId })).text);
    }
  }
  const inProject = (path: string, body: object) => service.http.post(path).send({ project_id: repoId, ...body });
  const words = `${world.words[0]} ${world.markers[other]} always`;
  for (const answer of [
    await inProject('/chapters/detect', { min_memories: 2 }),
    await inProject('/wisdom/synthesize', { min_chapters: 1 }),
    await inProject('/wisdom/recall', { query: words }),
    await inProject('/episodes/recall', { query: words, depth: 'complete', include_links: true, limit: 100 }),
    await inProject('/episodes/recall', { file: '**/*.ts', depth: 'complete', limit: 100 }),
    await inProject('/files/check', { file_path: 'src/shared.ts', action: words, cooldown_seconds: 0 }),
    await service.http.get('/agents/latest').query({ repo_id: repoId }),
  ]) {
    answers.push(answer.text);
  }
  const narratives = [
    '/chapters',
    '/wisdom',
    '/episodes?depth=complete&limit=200',
    '/episodes?tags=both&file=shared.ts',
  ];
  for (const path of narratives)
    answers.push((await service.http.get(path).query({ repo_id: repoId }).expect(200)).text);
  const lists = ['/nodes', '/nodes?scope=global', '/nodes?include_archived=true', '/edges', '/edges?scope=global'];
  for (const path of [...lists, '/evolution?limit=500']) {
    answers.push((await service.http.get(path).query({ repo_id: repoId }).expect(200)).text);
  }
  for (const match of ['any', 'prefix']) {
    const body = { query: `note ${world.words[0]}`, match, include_archived: true, limit: 100 };
    answers.push((await service.http.post('/nodes/search').query({ repo_id: repoId }).send(body).expect(200)).text);
  }
  const code = `[memory_query("note ${world.words.join(' ')}", 100), memory_get_context(100), memory_read("${world.words[0]}", 100)]`;
  answers.push((await service.http.post('/repl').query({ repo_id: repoId }).send({ code }).expect(200)).text);
  answers.push((await service.http.get('/stats').query({ repo_id: repoId }).expect(200)).text);
  answers.push((await service.http.get('/repos').query({ limit: 100 }).expect(200)).text);
  return answers;
}

test('whatever two repos write, link, vote and archive, neither sees anything of the other but global memories', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
      const world = new World();
      for (const one of steps) await world.carryOut(one);
      for (const [side, other] of [
        [0, 1],
        [1, 0],
      ] as const) {
        const secrets = [world.markers[other], ...world.privateTo(other).map((memory) => memory.id)];
        for (const answer of await everythingSeenFrom(world, side)) {
          for (const secret of secrets) expect(answer).not.toContain(secret);
        }
        for (const memory of world.privateTo(other)) await expectOutOfReach(world.repoIds[side], memory);
        await expectCounts(world, side);
        for (const memory of world.written.filter(({ scope }) => scope === 'global')) {
          await service.http.get(`/memory/${memory.id}`).query({ repo_id: world.repoIds[side] }).expect(200);
          const pack = await recall(service, memory.name, { include_archived: memory.archived }, world.repoIds[side]);
          expect(idsIn(allItems(pack as Pack))).toContain(memory.id);
        }
      }
    }),
    { numRuns: 12, seed: 4 },
  );
});

/** By its id a memory of another repo is not found, and no reference to it is taken. */
async function expectOutOfReach(repoId: string, { id }: Written): Promise<void> {
  await service.http.get(`/memory/${id}`).query({ repo_id: repoId }).expect(404);
  await service.http.get(`/memory/${id}/chain`).query({ repo_id: repoId }).expect(404);
  for (const path of [`/nodes/${id}`, `/nodes/${id}/related`, `/nodes/${id}/confidence`, `/graph?node=${id}`]) {
    await service.http.get(path).query({ repo_id: repoId }).expect(404);
  }
  const edge = { type: 'relation', members: [{ node_id: id, role: 'subject' }] };
  await service.http.post('/edges').query({ repo_id: repoId }).send(edge).expect(404);
  await service.http.delete(`/nodes/${id}`).query({ repo_id: repoId }).expect(404);
  const writes = [
    { text: 'Reaches out', links: { related_memory_ids: [id] } },
    { text: 'Reaches out', kind: 'solution', links: { problem_id: id } },
    { text: 'Reaches out', scope: 'global', links: { related_memory_ids: [id] } },
  ];
  for (const fields of writes) await service.http.post('/memory/write').send(writeBody(fields, repoId)).expect(404);
  const updates = [
    { type: 'archive_state', archived: true },
    { type: 'utility_vote', problem_id: '00000000-0000-4000-8000-ffffffffffff', vote: 1 },
    {
      type: 'fact_update_link',
      old_fact_id: '00000000-0000-4000-8000-fffffffffffe',
      new_fact_id: '00000000-0000-4000-8000-ffffffffffff',
    },
  ];
  for (const update of updates) {
    const { body } = await service.http
      .post('/memory/update')
      .send(updateBody(id, update, 'commit', repoId))
      .expect(404);
    expect(body.errors[0]).toMatchObject({ field: 'memory_id', code: 'not_found' });
  }
  const items = [{ op: 'write', memory: memoryBody({ text: 'Reaches out', links: { related_memory_ids: [id] } }) }];
  await service.http.post('/memory/batch').send({ repo_id: repoId, items }).expect(404);
}

async function expectCounts(world: World, side: 0 | 1): Promise<void> {
  const own = world.privateTo(side);
  const { body } = await service.http.get('/stats').query({ repo_id: world.repoIds[side] }).expect(200);
  expect([body.repo.total, body.repo.archived]).toEqual([own.length, own.filter((memory) => memory.archived).length]);
  for (const kind of MEMORY_KINDS) {
    expect(body.repo.by_kind[kind]).toBe(own.filter((memory) => memory.kind === kind).length);
  }
}

test('a reference from one repo into the other is refused in every place that takes an id', async () => {
  const theirs = await remember(service, { text: 'Theirs', kind: 'problem' }, 'reference/theirs');
  const theirFact = await remember(service, { text: 'Their fact' }, 'reference/theirs');
  const fact = await remember(service, { text: 'Our fact' }, 'reference/ours');
  const changeId = await remember(service, { text: 'Our change', kind: 'change' }, 'reference/ours');
  const refusals: [string, object][] = [
    [
      'update.problem_id',
      updateBody(fact, { type: 'utility_vote', problem_id: theirs, vote: 1 }, 'commit', 'reference/ours'),
    ],
    ...[
      ['update.old_fact_id', { old_fact_id: theirFact, new_fact_id: fact }] as const,
      ['update.new_fact_id', { old_fact_id: fact, new_fact_id: theirFact }] as const,
    ].map(([field, ids]): [string, object] => [
      field,
      updateBody(changeId, { type: 'fact_update_link', ...ids }, 'commit', 'reference/ours'),
    ]),
  ];
  for (const [field, body] of refusals) {
    const answer = await service.http.post('/memory/update').send(body).expect(404);
    expect(answer.body.errors).toMatchObject([{ field, code: 'not_found' }]);
  }
});

test('the same text in two repos is two memories, and the same idempotency key two requests', async () => {
  const send = (repoId: string) =>
    service.http
      .post('/memory/write')
      .set('Idempotency-Key', 'one-key')
      .send(writeBody({ text: 'Said twice' }, repoId));
  const first = await send('twice/left').expect(201);
  const second = await send('twice/right').expect(201);
  expect(second.body.duplicate_of).toBeNull();
  expect(second.body.memory_id).not.toBe(first.body.memory_id);
  expect(second.body.memory.repo_id).toBe('twice/right');
});
