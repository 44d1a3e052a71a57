import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  byScore,
  chooseTerms,
  fuse,
  inverseFrequency,
  isAdmitted,
  lexicalScorer,
  utilityFactor,
} from '../../src/domain/ranking.js';

const RUN = { seed: 20_260_101, numRuns: 500 };

const TERMS = ['alpha', 'beta', 'gamma', 'delta'] as const;

/** A corpus, a query of all four terms, and a document that could stand in that corpus. */
const situation = fc
  .record({
    documents: fc.integer({ min: 1, max: 10_000 }),
    averageLength: fc.integer({ min: 1, max: 300 }),
    shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 }),
    counts: fc.array(fc.nat(20), { minLength: 4, maxLength: 4 }),
    otherWords: fc.nat(500),
  })
  .map(({ documents, averageLength, shares, counts, otherWords }) => {
    // A term that the document holds occurs in at least one document.
    const frequencies = new Map(
      TERMS.map((term, index) => [
        term as string,
        Math.max(counts[index] ? 1 : 0, Math.floor((shares[index] as number) * documents)),
      ]),
    );
    return {
      corpus: { documents, terms: documents * averageLength, frequencies },
      counts: new Map(TERMS.map((term, index) => [term as string, counts[index] as number])),
      length: counts.reduce((sum, count) => sum + count, 0) + otherWords,
    };
  });

const FLOAT_SLACK = 1e-9;

test('score and coverage stay between 0 and 1, evidence is never negative, and nothing matched is nothing scored', () => {
  fc.assert(
    fc.property(situation, ({ corpus, counts, length }) => {
      const match = lexicalScorer(corpus, TERMS)({ counts, length });
      for (const value of [match.score, match.coverage]) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1 + FLOAT_SLACK);
      }
      expect(match.evidence).toBeGreaterThanOrEqual(0);
      expect(match.score === 0).toBe(match.matchedTerms.length === 0);
    }),
    RUN,
  );
});

test('saying a word of the question once more never lowers the score of a text of the same length', () => {
  fc.assert(
    fc.property(situation, fc.constantFrom(...TERMS), ({ corpus, counts, length }, term) => {
      fc.pre((corpus.frequencies.get(term) ?? 0) > 0);
      const score = lexicalScorer(corpus, TERMS);
      const more = new Map(counts).set(term, (counts.get(term) ?? 0) + 1);
      const [before, after] = [score({ counts, length }), score({ counts: more, length })];
      expect(after.score).toBeGreaterThan(before.score);
      expect(after.coverage).toBeGreaterThanOrEqual(before.coverage - FLOAT_SLACK);
      expect(after.evidence).toBeGreaterThanOrEqual(before.evidence - FLOAT_SLACK);
    }),
    RUN,
  );
});

test('more words beside them never raise the score, and change neither coverage nor evidence', () => {
  fc.assert(
    fc.property(situation, fc.integer({ min: 1, max: 500 }), ({ corpus, counts, length }, more) => {
      const score = lexicalScorer(corpus, TERMS);
      const [short, long] = [score({ counts, length }), score({ counts, length: length + more })];
      expect(long.score).toBeLessThanOrEqual(short.score);
      expect([long.coverage, long.evidence]).toEqual([short.coverage, short.evidence]);
    }),
    RUN,
  );
});

test('the rarer a word, the more it weighs, and it always weighs something', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.nat(), fc.nat(), (documents, one, other) => {
      const [rarer, commoner] = [one % (documents + 1), other % (documents + 1)].sort((a, b) => a - b);
      const [heavier, lighter] = [
        inverseFrequency(documents, rarer as number),
        inverseFrequency(documents, commoner as number),
      ];
      expect(heavier).toBeGreaterThanOrEqual(lighter);
      expect(lighter).toBeGreaterThan(0);
    }),
    RUN,
  );
});

test('what an ambient answer lets in, a targeted one lets in too', () => {
  const match = fc.record({
    coverage: fc.double({ min: 0, max: 1, noNaN: true }),
    evidence: fc.double({ min: 0, max: 12, noNaN: true }),
  });
  fc.assert(
    fc.property(match, (given) => {
      if (isAdmitted('ambient', given)) expect(isAdmitted('targeted', given)).toBe(true);
    }),
    RUN,
  );
});

test('a memory that holds none of the choosing terms could not have been let in', () => {
  /** Beyond this many entries of the index the promise is given up for speed. */
  const postingsMax = 2_000;
  fc.assert(
    fc.property(situation, fc.constantFrom('ambient', 'targeted'), ({ corpus, counts, length }, mode) => {
      const postings = [...corpus.frequencies.values()].reduce((sum, frequency) => sum + frequency, 0);
      fc.pre(postings <= postingsMax);
      const { any } = chooseTerms(mode, corpus, TERMS);
      const others = new Map([...counts].filter(([term]) => !any.includes(term)));
      const match = lexicalScorer(corpus, TERMS)({ counts: others, length });
      expect(isAdmitted(mode, match)).toBe(false);
    }),
    RUN,
  );
});

test('votes move a score by at most 5 %, always to the side they were cast for, and more of them move it further', () => {
  fc.assert(
    fc.property(fc.nat(100_000), fc.double({ min: -1, max: 1, noNaN: true }), (count, mean) => {
      const factor = utilityFactor({ count, mean });
      expect(factor).toBeGreaterThanOrEqual(0.95);
      expect(factor).toBeLessThanOrEqual(1.05);
      expect(Math.sign(factor - 1) * Math.sign(mean)).toBeGreaterThanOrEqual(0);
      expect(Math.abs(utilityFactor({ count: count + 1, mean }) - 1)).toBeGreaterThanOrEqual(
        Math.abs(factor - 1) - FLOAT_SLACK,
      );
    }),
    RUN,
  );
});

test('fused scores stay between 0 and 1, whatever the lanes weigh', () => {
  const lane = fc.record({
    name: fc.constant('lane'),
    weight: fc.double({ min: 0.01, max: 100, noNaN: true }),
    scores: fc
      .dictionary(fc.constantFrom('a', 'b', 'c'), fc.double({ min: 0, max: 1, noNaN: true }))
      .map((scores) => new Map(Object.entries(scores))),
  });
  fc.assert(
    fc.property(fc.array(lane, { maxLength: 4 }), (lanes) => {
      const fused = fuse(lanes);
      expect([...fused.keys()].sort()).toEqual([...new Set(lanes.flatMap(({ scores }) => [...scores.keys()]))].sort());
      for (const score of fused.values()) {
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1 + FLOAT_SLACK);
      }
    }),
    RUN,
  );
});

test('the order of scores is total: the same items come in one order only', () => {
  const item = fc.record({ id: fc.stringMatching(/^[a-f]$/), score: fc.constantFrom(0, 0.25, 0.5) });
  fc.assert(
    fc.property(fc.uniqueArray(item, { selector: ({ id }) => id }), (items) => {
      expect([...items].reverse().sort(byScore)).toEqual([...items].sort(byScore));
    }),
    RUN,
  );
});
