import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MEMORY_KINDS } from '../../../src/domain/vocabulary.js';
import { remember, writeBody } from '../../support/requests.js';
import { select, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let problemId: string;
beforeAll(async () => {
  service = await startService();
  problemId = await remember(service, { kind: 'problem', text: 'Checkout tests time out' });
});
afterAll(() => service.stop());

const isAttempt = (kind: string): boolean => kind === 'solution' || kind === 'failed_tactic';
const linksFor = (kind: string) => (isAttempt(kind) ? { links: { problem_id: problemId } } : {});
const write = (body: object) => service.http.post('/memory/write').send(body);

/** Where each kind belongs in the ontology that all forms of node share. */
const TYPES = {
  problem: 'experience',
  solution: 'experience',
  failed_tactic: 'experience',
  fact: 'fact',
  preference: 'fact',
  change: 'experience',
};

describe.each(MEMORY_KINDS)('a memory of kind %s', (kind) => {
  test('is stored as it was sent and answered with 201', async () => {
    service.clock.advance(1_000);
    const body = writeBody({
      kind,
      text: `What a ${kind} says`,
      confidence: 0.25,
      rationale: 'seen',
      ...linksFor(kind),
    });
    const answer = await write(body).expect(201);
    expect(answer.body.duplicate_of).toBeNull();
    expect(answer.body.memory).toEqual({
      memory_id: answer.body.memory_id,
      form: 'memory',
      kind,
      type: TYPES[kind],
      repo_id: 'acme/shop',
      scope: 'repo',
      text: `What a ${kind} says`,
      confidence: 0.25,
      rationale: 'seen',
      links: { problem_id: isAttempt(kind) ? problemId : null, related_memory_ids: [] },
      links_complete: true,
      evidence_refs: ['commit:4f2a91c'],
      evidence_complete: true,
      created_at: service.clock.iso(),
    });
  });

  test('has exactly one row of its own, with its rationale', async () => {
    const memoryId = await remember(service, { kind, text: `A row for ${kind}`, rationale: 'why', ...linksFor(kind) });
    const rows = select(
      service,
      'acme/shop',
      `SELECT n.form, n.kind, m.kind AS memory_kind, n.content, n.scope, n.repo_id, n.tier, n.confidence, m.rationale
       FROM nodes n JOIN memories m ON m.node_seq = n.seq WHERE n.id = ?`,
      memoryId,
    );
    expect(rows).toEqual([
      {
        form: 'memory',
        kind,
        memory_kind: kind,
        content: `A row for ${kind}`,
        scope: 'repo',
        repo_id: 'acme/shop',
        tier: 'longterm',
        confidence: 0.9,
        rationale: 'why',
      },
    ]);
  });

  test('reports its side effects in the fixed order: memory, evidence, attempt, relations', async () => {
    const relatedIds = [
      await remember(service, { text: `First beside ${kind}` }),
      await remember(service, { text: `Second beside ${kind}` }),
    ];
    const links = { ...linksFor(kind).links, related_memory_ids: relatedIds };
    const { body } = await write(
      writeBody({ kind, text: `Order of ${kind}`, links, evidence_refs: ['file:a', 'file:b'] }),
    ).expect(201);
    const id = body.memory_id;
    const edge = (label: string, weight: number, members: [string, string][]) => ({
      effect: 'edge_inserted',
      edge_id: expect.any(String),
      label,
      weight,
      members: members.map(([memory_id, role]) => ({ memory_id, role })),
    });
    expect(body.side_effects).toEqual([
      { effect: 'memory_inserted', memory_id: id, kind },
      { effect: 'evidence_attached', to: 'node', id, evidence_refs: ['file:a', 'file:b'] },
      ...(isAttempt(kind)
        ? [
            edge('attempts', 1, [
              [id, 'subject'],
              [problemId, 'object'],
            ]),
          ]
        : []),
      ...relatedIds.map((relatedId) =>
        edge('related_to', 0.5, [
          [id, 'participant'],
          [relatedId, 'participant'],
        ]),
      ),
    ]);
  });
});

test.each([0, 0.5, 1])('a confidence of %d is within its bounds and kept', async (confidence) => {
  const { body } = await write(writeBody({ text: `As sure as ${confidence}`, confidence })).expect(201);
  expect(body.memory.confidence).toBe(confidence);
});

test('the text is kept to the character, white space and all', async () => {
  const text = '  Tabs\tand\r\nlines, „quotes“, emoji 🧭, e\u0301 composed or not, and \\ or \' or " stay.  ';
  const { body } = await write(writeBody({ text })).expect(201);
  expect(body.memory.text).toBe(text);
  const { body: detail } = await service.http.get(`/memory/${body.memory_id}?repo_id=acme%2Fshop`).expect(200);
  expect(detail.text).toBe(text);
});

test.each(['acme/shop', 'ünïcode & co/?#%', '../../etc/passwd', 'a b'])(
  'the Location header of a write in repo %j leads to the memory',
  async (repoId) => {
    const answer = await write(writeBody({ text: 'Where am I?', rationale: 'to be found' }, repoId)).expect(201);
    const { body: detail } = await service.http.get(answer.headers.location as string).expect(200);
    expect(detail).toMatchObject({
      memory_id: answer.body.memory_id,
      text: 'Where am I?',
      rationale: 'to be found',
      repo_id: repoId,
      state: 'current',
      evidence_refs: ['commit:4f2a91c'],
    });
  },
);

test('a rationale that was not given is stored as none', async () => {
  const { body } = await write(writeBody({ text: 'No reason given' })).expect(201);
  expect(body.memory.rationale).toBeNull();
});

test('a write is logged together with the links it makes', async () => {
  const repoId = 'acme/logged';
  const problem = await remember(service, { kind: 'problem', text: 'It leaks' }, repoId);
  service.clock.advance(1_000);
  const solution = await remember(
    service,
    { kind: 'solution', text: 'Close the file', rationale: 'measured', links: { problem_id: problem } },
    repoId,
  );
  const log = (tables(service, repoId).evolution_log ?? []).filter((row) => row.at === service.clock.now());
  expect(
    log.map(({ operation, node_ids, reasoning }) => [operation, JSON.parse(node_ids as string), reasoning]),
  ).toEqual([
    ['create', [solution], 'measured'],
    ['link:attempts', [solution, problem], null],
  ]);
});
