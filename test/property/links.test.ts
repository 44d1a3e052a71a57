import fc from 'fast-check';
import { expect, test } from 'vitest';
import { edgeKey, type Label, LINKS, membersOf } from '../../src/domain/links.js';

const RUN = { seed: 20_260_101, numRuns: 300 };

const LABELS = Object.keys(LINKS) as Label[];
const anyLabel = fc.constantFrom(...LABELS);
const nodeId = fc.uuid({ version: 4 });
const distinctIds = fc.uniqueArray(nodeId, { minLength: 2, maxLength: 6 });

const isSymmetric = (label: Label): boolean => LINKS[label].roles.length === 1;

test('an edge is the same edge in whatever order its members are listed', () => {
  fc.assert(
    fc.property(anyLabel, distinctIds, fc.infiniteStream(fc.nat()), (label, ids, order) => {
      const members = membersOf(label, ids);
      const shuffled = members
        .map((member) => ({ member, at: order.next().value as number }))
        .sort((a, b) => a.at - b.at)
        .map(({ member }) => member);
      expect(edgeKey(label, shuffled)).toBe(edgeKey(label, members));
    }),
    RUN,
  );
});

test('a symmetric link is the same from either end, any other is not', () => {
  fc.assert(
    fc.property(anyLabel, fc.uniqueArray(nodeId, { minLength: 2, maxLength: 2 }), (label, ids) => {
      const there = edgeKey(label, membersOf(label, ids));
      const back = edgeKey(label, membersOf(label, [...ids].reverse()));
      expect(there === back).toBe(isSymmetric(label));
    }),
    RUN,
  );
});

test('edges with different labels or different members are different edges', () => {
  fc.assert(
    fc.property(anyLabel, distinctIds, anyLabel, distinctIds, (oneLabel, oneIds, otherLabel, otherIds) => {
      fc.pre(oneLabel !== otherLabel || oneIds.some((id) => !otherIds.includes(id)));
      expect(edgeKey(oneLabel, membersOf(oneLabel, oneIds))).not.toBe(
        edgeKey(otherLabel, membersOf(otherLabel, otherIds)),
      );
    }),
    RUN,
  );
});

test('every member keeps its place, and plays a part that the link knows', () => {
  fc.assert(
    fc.property(anyLabel, distinctIds, (label, ids) => {
      const members = membersOf(label, ids);
      expect(members.map((member) => member.nodeId)).toEqual(ids);
      expect(members.map((member) => member.position)).toEqual(ids.map((_, position) => position));
      for (const member of members) expect(LINKS[label].roles).toContain(member.role);
    }),
    RUN,
  );
});
