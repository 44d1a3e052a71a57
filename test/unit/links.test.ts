import { describe, expect, test } from 'vitest';
import { edgeKey, type Label, LINKS, membersOf } from '../../src/domain/links.js';
import { EDGE_TYPES, ROLES } from '../../src/domain/vocabulary.js';

const LABELS = Object.keys(LINKS) as Label[];

describe.each(LABELS)('the link %s', (label) => {
  test('is made of words of the vocabulary, with a strength above none and at most full', () => {
    expect(EDGE_TYPES).toContain(LINKS[label].type);
    for (const role of LINKS[label].roles) expect(ROLES).toContain(role);
    expect(LINKS[label].weight).toBeGreaterThan(0);
    expect(LINKS[label].weight).toBeLessThanOrEqual(1);
  });
});

test('an attempt names the attempt first and the problem second', () => {
  expect(membersOf('attempts', ['attempt', 'problem'])).toEqual([
    { nodeId: 'attempt', role: 'subject', position: 0 },
    { nodeId: 'problem', role: 'object', position: 1 },
  ]);
});

test('a fact update joins the change, the old fact and the new fact in one edge', () => {
  expect(membersOf('fact_update', ['change', 'old', 'new'])).toEqual([
    { nodeId: 'change', role: 'cause', position: 0 },
    { nodeId: 'old', role: 'object', position: 1 },
    { nodeId: 'new', role: 'effect', position: 2 },
  ]);
});

test('all members of an association play the same part', () => {
  expect(membersOf('related_to', ['a', 'b', 'c']).map((member) => member.role)).toEqual([
    'participant',
    'participant',
    'participant',
  ]);
});

test('an association is the same edge from either end', () => {
  expect(edgeKey('related_to', membersOf('related_to', ['a', 'b']))).toBe(
    edgeKey('related_to', membersOf('related_to', ['b', 'a'])),
  );
});

test('an attempt the other way round is another edge', () => {
  expect(edgeKey('attempts', membersOf('attempts', ['a', 'b']))).not.toBe(
    edgeKey('attempts', membersOf('attempts', ['b', 'a'])),
  );
});

test('the same members under another label are another edge', () => {
  const members = membersOf('related_to', ['a', 'b']);
  expect(edgeKey('related_to', members)).not.toBe(edgeKey('context_of', members));
});
