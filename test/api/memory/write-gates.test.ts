import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryBody, writeBody } from '../../support/requests.js';
import { refused } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const withMemory = (fields: object) => ({ ...writeBody(), memory: { ...memoryBody(), ...fields } });
const without = (body: object, field: string) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `item ${index}`);

describe('the schema gate refuses', () => {
  test.each<[string, object, string[]]>([
    ['an unknown field beside op', { ...writeBody(), priority: 1 }, ['priority']],
    ['an unknown field in the memory', withMemory({ importance: 1 }), ['memory.importance']],
    ['an unknown field in links', withMemory({ links: { parent_id: 'x' } }), ['memory.links.parent_id']],
    ['a field of the prototype', withMemory({ constructor: 'x' }), ['memory.constructor']],
    ['a body without op', without(writeBody(), 'op'), ['op']],
    ['a body without repo_id', without(writeBody(), 'repo_id'), ['repo_id']],
    ['a body without a memory', without(writeBody(), 'memory'), ['memory']],
    ['a memory without text', { ...writeBody(), memory: without(memoryBody(), 'text') }, ['memory.text']],
    ['a memory without scope', { ...writeBody(), memory: without(memoryBody(), 'scope') }, ['memory.scope']],
    ['a memory without kind', { ...writeBody(), memory: without(memoryBody(), 'kind') }, ['memory.kind']],
    [
      'a memory without confidence',
      { ...writeBody(), memory: without(memoryBody(), 'confidence') },
      ['memory.confidence'],
    ],
    ['another op', { ...writeBody(), op: 'read' }, ['op']],
    ['an empty repo_id', { ...writeBody(), repo_id: '' }, ['repo_id']],
    ['a memory that is a list', { ...writeBody(), memory: [] }, ['memory']],
    ['an empty text', withMemory({ text: '' }), ['memory.text']],
    ['a text that is a number', withMemory({ text: 7 }), ['memory.text']],
    ['an unknown scope', withMemory({ scope: 'team' }), ['memory.scope']],
    ['an unknown kind', withMemory({ kind: 'idea' }), ['memory.kind']],
    ['a confidence above one', withMemory({ confidence: 1.01 }), ['memory.confidence']],
    ['a confidence below zero', withMemory({ confidence: -0.01 }), ['memory.confidence']],
    ['a confidence in words', withMemory({ confidence: '0.9' }), ['memory.confidence']],
    ['a confidence of null', withMemory({ confidence: null }), ['memory.confidence']],
    ['a rationale that is a list', withMemory({ rationale: ['because'] }), ['memory.rationale']],
    ['a problem_id that is a number', withMemory({ links: { problem_id: 7 } }), ['memory.links.problem_id']],
    [
      'repeated related ids',
      withMemory({ links: { related_memory_ids: ['a', 'a'] } }),
      ['memory.links.related_memory_ids'],
    ],
    [
      'a related id that is no text',
      withMemory({ links: { related_memory_ids: [7] } }),
      ['memory.links.related_memory_ids.0'],
    ],
    ['repeated evidence', withMemory({ evidence_refs: ['a', 'b', 'a'] }), ['memory.evidence_refs']],
    ['evidence that is no list', withMemory({ evidence_refs: 'commit:1' }), ['memory.evidence_refs']],
    ['evidence that is no text', withMemory({ evidence_refs: ['a', null] }), ['memory.evidence_refs.1']],
    ['allow_duplicate that is no truth value', { ...writeBody(), allow_duplicate: 'yes' }, ['allow_duplicate']],
  ])('%s', async (_name, body, fields) => {
    expect(await refused(service, '/memory/write', body)).toMatchObject({
      status: 400,
      code: 'schema_error',
      errors: fields.map((field) => [field, 'schema_error']),
    });
  });

  test('everything that is wrong at once, each with its own path', async () => {
    const memory = {
      scope: 'team',
      kind: 'idea',
      confidence: 2,
      mood: 'good',
      links: { parent: 1 },
      evidence_refs: [1],
    };
    const { errors } = await refused(service, '/memory/write', { op: 'write', repo_id: '', memory, extra: true });
    expect(errors.map(([field]) => field)).toEqual([
      'extra',
      'memory.confidence',
      'memory.evidence_refs.0',
      'memory.kind',
      'memory.links.parent',
      'memory.mood',
      'memory.scope',
      'memory.text',
      'repo_id',
    ]);
  });

  test('an unknown field with a message that names the known ones', async () => {
    const { messages } = await refused(service, '/memory/write', withMemory({ links: { parent_id: 'x' } }));
    expect(messages[0]).toContain('problem_id, related_memory_ids');
  });
});

describe('the semantic gate refuses', () => {
  const links = { problem_id: '00000000-0000-4000-8000-00000000beef' };

  test.each<[string, object, string[]]>([
    ['a blank text', withMemory({ text: ' \t\n\u00a0' }), ['memory.text']],
    ['a text over 100,000 characters', withMemory({ text: 'x'.repeat(100_001) }), ['memory.text']],
    ['a blank rationale', withMemory({ rationale: '  ' }), ['memory.rationale']],
    ['a rationale over 10,000 characters', withMemory({ rationale: 'x'.repeat(10_001) }), ['memory.rationale']],
    ['empty evidence', withMemory({ evidence_refs: [''] }), ['memory.evidence_refs.0']],
    ['blank evidence', withMemory({ evidence_refs: ['a', ' \t'] }), ['memory.evidence_refs.1']],
    ['evidence that repeats but for blanks', withMemory({ evidence_refs: ['a', ' a'] }), ['memory.evidence_refs.1']],
    ['evidence over 2,000 characters', withMemory({ evidence_refs: ['x'.repeat(2_001)] }), ['memory.evidence_refs.0']],
    ['more than 100 references', withMemory({ evidence_refs: numbered(101) }), ['memory.evidence_refs']],
    [
      'more than 100 related ids',
      withMemory({ links: { related_memory_ids: numbered(101) } }),
      ['memory.links.related_memory_ids'],
    ],
    ['a blank repo_id', writeBody({}, '  '), ['repo_id']],
    ['a repo_id with a line break', writeBody({}, 'acme\nshop'), ['repo_id']],
    ['a repo_id over 200 characters', writeBody({}, 'x'.repeat(201)), ['repo_id']],
    ['a solution without its problem', withMemory({ kind: 'solution' }), ['memory.links.problem_id']],
    [
      'a failed_tactic without its problem',
      withMemory({ kind: 'failed_tactic', links: {} }),
      ['memory.links.problem_id'],
    ],
    ['a problem with a problem', withMemory({ kind: 'problem', links }), ['memory.links.problem_id']],
    ['a fact with a problem', withMemory({ kind: 'fact', links }), ['memory.links.problem_id']],
    ['a preference with a problem', withMemory({ kind: 'preference', links }), ['memory.links.problem_id']],
    ['a change with a problem', withMemory({ kind: 'change', links }), ['memory.links.problem_id']],
    [
      'a fact without evidence',
      { ...writeBody(), memory: without(memoryBody(), 'evidence_refs') },
      ['memory.evidence_refs'],
    ],
    ['a change without evidence', withMemory({ kind: 'change', evidence_refs: [] }), ['memory.evidence_refs']],
    [
      'a solution without evidence',
      withMemory({ kind: 'solution', links, evidence_refs: [] }),
      ['memory.evidence_refs'],
    ],
    [
      'a failed_tactic without evidence',
      withMemory({ kind: 'failed_tactic', links, evidence_refs: [] }),
      ['memory.evidence_refs'],
    ],
  ])('%s', async (_name, body, fields) => {
    const repoId = (body as { repo_id: string }).repo_id;
    expect(await refused(service, '/memory/write', body, repoId)).toMatchObject({
      status: 422,
      code: 'semantic_error',
      errors: fields.map((field) => [field, 'semantic_error']),
    });
  });

  test('everything that is wrong at once, each with its own path', async () => {
    const memory = memoryBody({ text: ' ', rationale: '\t', kind: 'solution', evidence_refs: [] });
    const { errors } = await refused(service, '/memory/write', { op: 'write', repo_id: ' ', memory }, ' ');
    expect(errors.map(([field]) => field)).toEqual([
      'memory.evidence_refs',
      'memory.links.problem_id',
      'memory.rationale',
      'memory.text',
      'repo_id',
    ]);
  });

  test.each([
    ['a text of 100,000 characters', { text: 'x'.repeat(100_000) }],
    ['a rationale of 10,000 characters', { text: 'Long reason', rationale: 'x'.repeat(10_000) }],
    ['100 references of evidence', { text: 'Well proven', evidence_refs: numbered(100) }],
    ['evidence of 2,000 characters', { text: 'Long evidence', evidence_refs: ['x'.repeat(2_000)] }],
  ])('nothing that is just within its limit: %s', async (_name, fields) => {
    await service.http.post('/memory/write').send(withMemory(fields)).expect(201);
  });
});
