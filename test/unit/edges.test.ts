import { describe, expect, test } from 'vitest';
import { checkEdge, checkLabel, type Direction, type EdgeDraft, leads } from '../../src/domain/edges.js';
import { edgeKey, type Label, LINKS, type Member, membersOf } from '../../src/domain/links.js';
import { EDGE_TYPES, ROLES, type Role } from '../../src/domain/vocabulary.js';

const parts = (...roles: [Role, string][]): Member[] =>
  roles.map(([role, nodeId], position) => ({ nodeId, role, position }));
const draft = (fields: Partial<EdgeDraft>): EdgeDraft => ({
  type: 'relation',
  label: 'mine',
  weight: 1,
  members: parts(['subject', 'a'], ['object', 'b']),
  ...fields,
});
const fieldsIn = (violations: readonly { field: string }[]): string[] => violations.map(({ field }) => field);

const LABELS = Object.keys(LINKS) as Label[];
const OPEN = LABELS.filter((label) => LINKS[label].keeper === null);
const KEPT = LABELS.filter((label) => LINKS[label].keeper !== null);

describe('SPEC-02.12 a label', () => {
  test.each(['', 'a', 'x'.repeat(200), 'constructor', '__proto__', ...OPEN])('may be %j', (label) => {
    expect(checkLabel(label)).toEqual([]);
  });

  test.each(['x'.repeat(201), ...KEPT])('may not be %j', (label) => {
    expect(checkLabel(label)).toMatchObject([{ field: 'label', code: 'semantic_error' }]);
  });
});

describe('SPEC-02.16 an edge of the caller’s own', () => {
  test.each(EDGE_TYPES)('may be of type %s', (type) => {
    expect(checkEdge(draft({ type }))).toEqual([]);
  });

  test.each(ROLES)('may have %s as its only part', (role) => {
    expect(checkEdge(draft({ members: parts([role, 'a']) }))).toEqual([]);
  });

  test('may have a node in every part, each once', () => {
    const once = ROLES.map((role): [Role, string] => [role, 'a']);
    expect(checkEdge(draft({ members: parts(...once) }))).toEqual([]);
    expect(fieldsIn(checkEdge(draft({ members: parts(...once, ...once) })))).toEqual(
      ROLES.map((_, index) => `members.${ROLES.length + index}`),
    );
  });
});

describe.each(OPEN)('SPEC-02.25 the known label %s', (label) => {
  const { type, roles } = LINKS[label];
  const right = membersOf(label, ['a', 'b']);

  test('is right with its own type and roles, in any order', () => {
    expect(checkEdge(draft({ label, type, members: right }))).toEqual([]);
    expect(checkEdge(draft({ label, type, members: [...right].reverse() }))).toEqual([]);
  });

  test('is wrong with any other type', () => {
    for (const other of EDGE_TYPES.filter((word) => word !== type)) {
      expect(fieldsIn(checkEdge(draft({ label, type: other, members: right })))).toEqual(['type']);
    }
  });

  test('is wrong with any other pair of roles', () => {
    const wanted = right.map(({ role }) => role).sort();
    for (const first of ROLES) {
      for (const second of ROLES) {
        const violations = checkEdge(draft({ label, type, members: parts([first, 'a'], [second, 'b']) }));
        const isRight = [first, second].sort().join() === wanted.join();
        expect(fieldsIn(violations), `${first} and ${second}`).toEqual(isRight ? [] : ['members']);
      }
    }
  });

  test('is wrong with one member, or with the same node twice', () => {
    expect(fieldsIn(checkEdge(draft({ label, type, members: right.slice(0, 1) })))).toEqual(['members']);
    const violations = checkEdge(draft({ label, type, members: membersOf(label, ['a', 'a']) }));
    expect(fieldsIn(violations)).toContain('members');
  });

  test('joins more than two only when all play the same part', () => {
    const violations = checkEdge(draft({ label, type, members: membersOf(label, ['a', 'b', 'c']) }));
    expect(violations.length === 0).toBe(roles.length === 1);
  });
});

describe('SPEC-02.25 what makes two edges the same edge', () => {
  const members = parts(['subject', 'a'], ['object', 'b']);

  test('is the type, the label, the members and their parts, in whatever order', () => {
    expect(edgeKey('mine', members, 'context')).toBe(edgeKey('mine', [...members].reverse(), 'context'));
    const keys = [
      edgeKey('mine', members, 'context'),
      edgeKey('mine', members, 'relation'),
      edgeKey('yours', members, 'context'),
      edgeKey('', members, 'context'),
      edgeKey('mine', parts(['object', 'a'], ['subject', 'b']), 'context'),
      edgeKey('mine', parts(['subject', 'a']), 'context'),
      edgeKey('mine', parts(['subject', 'a'], ['object', 'b'], ['context', 'c']), 'context'),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('cannot be imitated by a label that holds the marks of a key', () => {
    const keys = [
      edgeKey('x', members),
      edgeKey('x|object=b', parts(['subject', 'a'])),
      edgeKey('related_to', membersOf('related_to', ['a', 'b'])),
      edgeKey('related_to|participant=a', parts(['participant', 'b'])),
      edgeKey('relation "related_to"', membersOf('related_to', ['a', 'b'])),
      edgeKey('"', members),
      edgeKey('\\"', members),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('SPEC-02.26 an edge leads', () => {
  const DIRECTED: [Role, Role][] = [
    ['subject', 'object'],
    ['cause', 'effect'],
    ['subject', 'effect'],
    ['cause', 'object'],
  ];

  test('from anybody to anybody when no direction is said', () => {
    for (const from of ROLES) for (const to of ROLES) expect(leads(from, to, 'both')).toBe(true);
  });

  test.each(DIRECTED)('out from %s to %s and in from there, and not the other way', (from, to) => {
    expect(leads(from, to, 'outgoing')).toBe(true);
    expect(leads(to, from, 'incoming')).toBe(true);
    expect(leads(to, from, 'outgoing')).toBe(false);
    expect(leads(from, to, 'incoming')).toBe(false);
  });

  test.each(['context', 'participant'] satisfies Role[])('both ways between a %s and anybody', (role) => {
    const ways = (['outgoing', 'incoming'] satisfies Direction[]).flatMap((direction) =>
      ROLES.flatMap((other) => [
        [role, other, direction, leads(role, other, direction)],
        [other, role, direction, leads(other, role, direction)],
      ]),
    );
    expect(ways.filter(([, , , isLed]) => !isLed)).toEqual([]);
  });

  test('in where it leads out, seen from the other end', () => {
    for (const from of ROLES) {
      for (const to of ROLES) expect(leads(from, to, 'outgoing')).toBe(leads(to, from, 'incoming'));
    }
  });
});
