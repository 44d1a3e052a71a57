import { describe, expect, test } from 'vitest';
import { FORM_NAMES, FORMS, formOf, isIdOf, REFERENCE_FORM, typeOf } from '../../src/domain/forms.js';
import { MEMORY_KINDS, NODE_TYPES, TIERS } from '../../src/domain/vocabulary.js';

describe.each(FORM_NAMES)('the form %s', (form) => {
  test('gives each of its kinds a type of the ontology', () => {
    const kinds = Object.keys(formOf(form).kinds ?? {});
    expect(kinds.length > 0).toBe(formOf(form).kinds !== null);
    for (const kind of kinds) expect(NODE_TYPES).toContain(typeOf(form, kind));
  });

  test('accepts the id that it shows as an example', () => {
    expect(isIdOf(form, formOf(form).idExample)).toBe(true);
  });

  test('begins in a tier that is not the archive, and never lists the tier as a field to change', () => {
    expect(TIERS).toContain(formOf(form).defaultTier);
    expect(formOf(form).defaultTier).not.toBe('archive');
    expect(formOf(form).mutableFields).not.toContain('tier');
  });

  test('tests ids without remembering the one before', () => {
    const pattern = formOf(form).idPattern;
    expect(pattern.global || pattern.sticky).toBe(false);
  });
});

test('the memory form holds exactly the six kinds of the contract', () => {
  expect(Object.keys(FORMS.memory.kinds)).toEqual([...MEMORY_KINDS]);
});

test.each([
  ['problem', 'experience'],
  ['solution', 'experience'],
  ['failed_tactic', 'experience'],
  ['fact', 'fact'],
  ['preference', 'fact'],
  ['change', 'experience'],
])('a memory of kind %s is of type %s', (kind, type) => {
  expect(typeOf('memory', kind)).toBe(type);
});

test.each(['episode', 'Fact', ''])('the unknown kind %j has no type', (kind) => {
  expect(() => typeOf('memory', kind)).toThrow(/no kind/);
});

test('nothing of a memory may be changed after it was written', () => {
  expect(FORMS.memory.mutableFields).toEqual([]);
});

test('the stand-in for a global node is no form that could be written', () => {
  expect(FORM_NAMES as string[]).not.toContain(REFERENCE_FORM);
});

test.each([
  ['empty', ''],
  ['another version of uuid', '3f2b8c1e-5d47-1a6b-9c0d-1e2f3a4b5c6d'],
  ['another variant of uuid', '3f2b8c1e-5d47-4a6b-7c0d-1e2f3a4b5c6d'],
  ['upper case', '3F2B8C1E-5D47-4A6B-9C0D-1E2F3A4B5C6D'],
  ['without hyphens', '3f2b8c1e5d474a6b9c0d1e2f3a4b5c6d'],
  ['too short', '3f2b8c1e-5d47-4a6b-9c0d-1e2f3a4b5c6'],
  ['with a line break after it', '3f2b8c1e-5d47-4a6b-9c0d-1e2f3a4b5c6d\n'],
  ['with something before it', 'x3f2b8c1e-5d47-4a6b-9c0d-1e2f3a4b5c6d'],
])('an id that is %s is no id of a memory', (_, id) => {
  expect(isIdOf('memory', id)).toBe(false);
});
