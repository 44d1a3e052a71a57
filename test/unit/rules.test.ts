import { describe, expect, test } from 'vitest';
import {
  checkDistinct,
  checkQuery,
  checkReference,
  checkRepoId,
  checkUpdate,
  checkWrite,
  EVIDENCE_CHARACTERS_MAX,
  LINKS_MAX,
  type MemoryDraft,
  QUERY_CHARACTERS_MAX,
  RATIONALE_CHARACTERS_MAX,
  REPO_ID_CHARACTERS_MAX,
  TEXT_CHARACTERS_MAX,
  type UpdateDraft,
} from '../../src/domain/rules.js';
import { GateFailure } from '../../src/domain/violations.js';
import { MEMORY_KINDS, type MemoryKind } from '../../src/domain/vocabulary.js';

const EVIDENCE_KINDS = new Set(['solution', 'failed_tactic', 'fact', 'change']);
const ATTEMPTS: readonly string[] = ['solution', 'failed_tactic'];

const draftOf = (kind: MemoryKind, fields: Partial<MemoryDraft> = {}): MemoryDraft => ({
  text: 'The checkout tests need Redis',
  scope: 'repo',
  kind,
  confidence: 0.9,
  rationale: null,
  problemId: ATTEMPTS.includes(kind) ? 'problem' : null,
  relatedIds: [],
  evidenceRefs: ['commit:1'],
  ...fields,
});

const writeFields = (draft: MemoryDraft): string[] =>
  checkWrite('memory', draft, EVIDENCE_KINDS).map(({ field, code }) => `${field} ${code}`);

describe.each(MEMORY_KINDS)('a memory of kind %s', (kind) => {
  test('is accepted when it says what it must', () => {
    expect(writeFields(draftOf(kind))).toEqual([]);
  });

  test(`${ATTEMPTS.includes(kind) ? 'must' : 'must not'} name a problem`, () => {
    const refused = draftOf(kind, { problemId: ATTEMPTS.includes(kind) ? null : 'problem' });
    expect(writeFields(refused)).toEqual(['memory.links.problem_id semantic_error']);
  });

  test(`${EVIDENCE_KINDS.has(kind) ? 'must' : 'need not'} name evidence`, () => {
    const expected = EVIDENCE_KINDS.has(kind) ? ['memory.evidence_refs semantic_error'] : [];
    expect(writeFields(draftOf(kind, { evidenceRefs: [] }))).toEqual(expected);
  });
});

test('which kinds need evidence is for the caller of the rule to say', () => {
  const draft = draftOf('preference', { evidenceRefs: [] });
  expect(checkWrite('memory', draft, new Set(['preference']))).toHaveLength(1);
  expect(checkWrite('memory', draft, new Set())).toEqual([]);
});

describe('what a memory may hold', () => {
  const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `ref:${index}`);

  test.each<[string, Partial<MemoryDraft>, string[]]>([
    ['a blank text', { text: ' \n\t\u00a0' }, ['memory.text']],
    ['a text that is too long', { text: 'x'.repeat(TEXT_CHARACTERS_MAX + 1) }, ['memory.text']],
    ['the longest text', { text: 'x'.repeat(TEXT_CHARACTERS_MAX) }, []],
    ['a blank rationale', { rationale: '  ' }, ['memory.rationale']],
    ['an empty rationale', { rationale: '' }, []],
    ['a rationale that is too long', { rationale: 'x'.repeat(RATIONALE_CHARACTERS_MAX + 1) }, ['memory.rationale']],
    ['blank evidence', { evidenceRefs: ['commit:1', ' '] }, ['memory.evidence_refs.1']],
    [
      'evidence that is too long',
      { evidenceRefs: ['x'.repeat(EVIDENCE_CHARACTERS_MAX + 1)] },
      ['memory.evidence_refs.0'],
    ],
    ['the same evidence twice', { evidenceRefs: ['commit:1', 'b', ' commit:1 '] }, ['memory.evidence_refs.2']],
    ['too many pieces of evidence', { evidenceRefs: many(LINKS_MAX + 1) }, ['memory.evidence_refs']],
    ['as much evidence as is kept', { evidenceRefs: many(LINKS_MAX) }, []],
    ['too many related memories', { relatedIds: many(LINKS_MAX + 1) }, ['memory.links.related_memory_ids']],
  ])('%s', (_, fields, violations) => {
    expect(writeFields(draftOf('fact', fields))).toEqual(violations.map((field) => `${field} semantic_error`));
  });

  test('all that is wrong is told at once, at the path of the request', () => {
    const draft = draftOf('solution', { text: '', problemId: null, evidenceRefs: [] });
    expect(checkWrite('items.3.memory', draft, EVIDENCE_KINDS).map(({ field }) => field)).toEqual([
      'items.3.memory.text',
      'items.3.memory.links.problem_id',
      'items.3.memory.evidence_refs',
    ]);
  });
});

describe('an update', () => {
  const vote: UpdateDraft = { type: 'utility_vote', problemId: 'p', vote: 1, rationale: null, evidenceRefs: [] };
  const factLink: UpdateDraft = {
    type: 'fact_update_link',
    oldFactId: 'old',
    newFactId: 'new',
    rationale: null,
    evidenceRefs: [],
  };
  const archive: UpdateDraft = { type: 'archive_state', archived: true, rationale: null };

  test.each<[string, string, UpdateDraft, string[]]>([
    ['that archives', 'm', archive, []],
    ['that archives with a blank rationale', 'm', { ...archive, rationale: ' ' }, ['update.rationale']],
    ['that votes', 'm', vote, []],
    ['that votes for a problem with itself', 'p', vote, ['update.problem_id']],
    ['that votes with blank evidence', 'm', { ...vote, evidenceRefs: [''] }, ['update.evidence_refs.0']],
    ['that links two facts', 'c', factLink, []],
    ['that replaces a fact by itself', 'c', { ...factLink, newFactId: 'old' }, ['update.new_fact_id']],
    ['whose change is the old fact', 'old', factLink, ['memory_id']],
    ['whose change is the new fact', 'new', factLink, ['memory_id']],
    ['of one memory in all three parts', 'old', { ...factLink, newFactId: 'old' }, ['update.new_fact_id', 'memory_id']],
    ['with the same evidence twice', 'c', { ...factLink, evidenceRefs: ['a', 'a'] }, ['update.evidence_refs.1']],
  ])('%s', (_, memoryId, update, fields) => {
    const violations = checkUpdate('', memoryId, update);
    expect(violations.map(({ field, code }) => `${field} ${code}`)).toEqual(
      fields.map((field) => `${field} semantic_error`),
    );
  });

  test('inside a batch is told at its own path', () => {
    expect(checkUpdate('items.2', 'p', vote).map(({ field }) => field)).toEqual(['items.2.update.problem_id']);
  });
});

test.each([
  ['acme/shop', 0],
  ['../x', 0],
  ['🙂'.repeat(REPO_ID_CHARACTERS_MAX / 2), 0],
  ['', 1],
  ['   ', 1],
  ['x'.repeat(REPO_ID_CHARACTERS_MAX + 1), 1],
  ['a\u0000b', 1],
  ['a\nb', 1],
  ['a\u0085b', 1],
])('the repo id %j breaks %i rules', (repoId, violations) => {
  expect(checkRepoId('repo_id', repoId)).toHaveLength(violations);
});

test.each<[string, readonly string[] | null, string[]]>([
  ['redis', null, []],
  ['redis', ['fact'], []],
  [' \n', null, ['query']],
  ['x'.repeat(QUERY_CHARACTERS_MAX + 1), null, ['query']],
  ['redis', [], ['kinds']],
  ['', [], ['query', 'kinds']],
])('a query is checked', (query, kinds, fields) => {
  expect(checkQuery(query, kinds).map(({ field }) => field)).toEqual(fields);
});

describe('a reference', () => {
  const reference = { field: 'memory.links.problem_id', id: 'p', kind: 'problem', fromGlobal: false } as const;

  test.each([
    ['to nothing that can be seen', reference, undefined, 'not_found'],
    ['to the wrong kind', reference, { kind: 'fact', scope: 'repo' }, 'integrity_error'],
    [
      'from global scope into a repo',
      { ...reference, fromGlobal: true },
      { kind: 'problem', scope: 'repo' },
      'integrity_error',
    ],
  ] as const)('%s is refused', (_, from, target, code) => {
    expect(checkReference(from, target)).toMatchObject([{ field: reference.field, code }]);
  });

  test.each([
    ['to the right kind', reference, { kind: 'problem', scope: 'repo' }],
    ['from a repo to global scope', reference, { kind: 'problem', scope: 'global' }],
    ['from global scope to global scope', { ...reference, fromGlobal: true }, { kind: 'problem', scope: 'global' }],
    ['to any kind where any will do', { ...reference, kind: null }, { kind: 'fact', scope: 'repo' }],
  ] as const)('%s is accepted', (_, from, target) => {
    expect(checkReference(from, target)).toEqual([]);
  });

  test('that is very long is not repeated in full', () => {
    const [violation] = checkReference({ ...reference, id: 'x'.repeat(10_000) }, undefined);
    expect(violation?.message.length).toBeLessThan(200);
  });
});

test.each<[string[], string[]]>([
  [[], []],
  [['a', 'b', 'c'], []],
  [['a', 'b', 'a'], ['field-2']],
  [
    ['a', 'a', 'a'],
    ['field-1', 'field-2'],
  ],
])('an update that names the memories %j names these again: %j', (ids, fields) => {
  const references = ids.map((_, index) => ({
    field: `field-${index}`,
    id: `@${index}`,
    kind: null,
    fromGlobal: false,
  }));
  const violations = checkDistinct(references, ids);
  expect(violations.map(({ field }) => field)).toEqual(fields);
  for (const { code } of violations) expect(code).toBe('integrity_error');
});

test('a failed gate names itself, how much is wrong, and where it begins', () => {
  const failure = new GateFailure('semantic', checkQuery('', []));
  expect(failure.gate).toBe('semantic');
  expect(failure.message).toBe('semantic gate: 2 violations, the first in query');
});
