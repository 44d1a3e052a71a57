import { describe, expect, test } from 'vitest';
import {
  checkMutable,
  checkNodeFields,
  METADATA_CHARACTERS_MAX,
  NAME_CHARACTERS_MAX,
  type NodePatch,
  PROVENANCE_CHARACTERS_MAX,
} from '../../src/domain/concepts.js';
import { FORMS, type Form } from '../../src/domain/forms.js';
import { CONFIDENCE_DEFAULT } from '../../src/domain/node.js';

const fieldsIn = (violations: readonly { field: string }[]): string[] => violations.map(({ field }) => field);

test('SPEC-02.10 SPEC-02.18 a node is half sure and of the task tier unless it says otherwise', () => {
  expect(CONFIDENCE_DEFAULT).toBe(0.5);
  expect(FORMS.concept.defaultTier).toBe('task');
});

describe('SPEC-02.08 the lengths of fields', () => {
  const ROWS: [field: string, max: number, (text: string) => Parameters<typeof checkNodeFields>[0]][] = [
    ['content', 100_000, (content) => ({ content })],
    ['subtype', NAME_CHARACTERS_MAX, (subtype) => ({ subtype })],
    ['session_id', NAME_CHARACTERS_MAX, (sessionId) => ({ sessionId })],
    ['task_id', NAME_CHARACTERS_MAX, (taskId) => ({ taskId })],
    ['provenance', PROVENANCE_CHARACTERS_MAX, (provenance) => ({ provenance })],
    ['tags.0', NAME_CHARACTERS_MAX, (tag) => ({ tags: [tag] })],
    // Five quotes, a colon and two braces stand around it in JSON.
    ['metadata', METADATA_CHARACTERS_MAX - '{"x":""}'.length, (x) => ({ metadata: { x } })],
  ];

  test.each(ROWS)('%s may be as long as %d characters, and no longer', (field, max, fieldsOf) => {
    expect(checkNodeFields(fieldsOf('x'.repeat(max)))).toEqual([]);
    expect(checkNodeFields(fieldsOf('x'.repeat(max + 1)))).toMatchObject([{ field, code: 'semantic_error' }]);
  });

  test('of all fields together are told together', () => {
    const violations = checkNodeFields({
      content: 'x'.repeat(100_001),
      provenance: 'x'.repeat(2_001),
      tags: ['fine', ' ', 'x'.repeat(201)],
    });
    expect(fieldsIn(violations)).toEqual(['content', 'provenance', 'tags.1', 'tags.2']);
  });
});

test('SPEC-02.08 what is empty, left out or cleared is right', () => {
  expect(checkNodeFields({})).toEqual([]);
  expect(checkNodeFields({ content: '', subtype: null, provenance: null, metadata: {}, tags: [] })).toEqual([]);
});

test.each(['', ' ', '\t\n', '\u00a0'])('SPEC-02.08 the tag %j says nothing, and is refused', (tag) => {
  expect(fieldsIn(checkNodeFields({ tags: [tag] }))).toEqual(['tags.0']);
});

describe('SPEC-02.22 what may be patched', () => {
  const EVERYTHING: Required<NodePatch> = {
    content: 'x',
    confidence: 1,
    subtype: 'x',
    provenance: 'x',
    metadata: {},
    tags: [],
    tier: 'session',
  };
  const FIELDS = Object.keys(EVERYTHING).filter((field) => field !== 'tier');

  test('of a concept is everything', () => {
    expect(checkMutable('concept', EVERYTHING)).toEqual([]);
    expect([...FORMS.concept.mutableFields].sort()).toEqual([...FIELDS].sort());
  });

  test('of a memory is nothing but its tier', () => {
    const violations = checkMutable('memory', EVERYTHING);
    expect(fieldsIn(violations)).toEqual(FIELDS);
    expect(violations.every(({ code }) => code === 'conflict')).toBe(true);
    expect(checkMutable('memory', { tier: 'archive' })).toEqual([]);
  });

  test.each(Object.keys(FORMS) as Form[])('of a %s is never refused when nothing is named', (form) => {
    expect(checkMutable(form, {})).toEqual([]);
  });
});
