import { describe, expect, test } from 'vitest';
import {
  byScore,
  type Corpus,
  chooseTerms,
  fuse,
  inverseFrequency,
  isAdmitted,
  lexicalScorer,
  SUPERSEDED_FACTOR,
  utilityFactor,
} from '../../src/domain/ranking.js';
import { indexTerms, queryTerms } from '../../src/domain/terms.js';

/** A corpus of texts, and how each of them scores for a query. */
function score(texts: readonly string[], query: string) {
  const documents = texts.map(indexTerms);
  const terms = queryTerms(query);
  const corpus: Corpus = {
    documents: documents.length,
    terms: documents.reduce((sum, document) => sum + document.length, 0),
    frequencies: new Map(
      terms.map((term) => [term, documents.filter((document) => document.includes(term)).length] as const),
    ),
  };
  const scoreDocument = lexicalScorer(corpus, terms);
  return documents.map((document) =>
    scoreDocument({
      counts: new Map(terms.map((term) => [term, document.filter((word) => word === term).length] as const)),
      length: document.length,
    }),
  );
}

describe('in a corpus of five, "deployment issue"', () => {
  const [both, issueOnly, ...deploymentOnly] = score(
    ['Deployment issue found', 'Login issue', 'Deployment notes', 'Deployment window', 'Deployment owner'],
    'deployment issue',
  );

  test('weighs a word that four of five hold at .288 and one that two hold at .875', () => {
    expect(inverseFrequency(5, 4)).toBeCloseTo(0.288, 3);
    expect(inverseFrequency(5, 2)).toBeCloseTo(0.875, 3);
  });

  test('is covered in full by the text that holds both words', () => {
    expect(both?.coverage).toBeCloseTo(1, 10);
    expect(both?.evidence).toBeCloseTo(0.288 + 0.875, 2);
    expect(both?.matchedTerms).toHaveLength(2);
  });

  test('is covered to .753 by the rarer word alone, which lets it into a targeted answer', () => {
    expect(issueOnly?.coverage).toBeCloseTo(0.753, 3);
    expect(isAdmitted('targeted', issueOnly as never)).toBe(true);
    expect(isAdmitted('ambient', issueOnly as never)).toBe(false);
  });

  test('is covered to .247 by the commoner word alone, which lets it into none', () => {
    expect(deploymentOnly).toHaveLength(3);
    for (const match of deploymentOnly) {
      expect(match.coverage).toBeCloseTo(0.247, 3);
      expect(isAdmitted('targeted', match)).toBe(false);
    }
  });
});

test('two of three equally rare words cover .667: enough for a targeted answer, not for an ambient one', () => {
  const [rollback] = score(['Rollback deployment', 'Auth'], 'rollback deployment auth');
  expect(rollback?.coverage).toBeCloseTo(0.667, 3);
  expect(isAdmitted('targeted', rollback as never)).toBe(true);
  expect(isAdmitted('ambient', rollback as never)).toBe(false);
});

test('the shorter, denser text outranks the longer one', () => {
  const [dense, long] = score(
    ['Redis port', 'Redis port is one of many things that this long note about the staging network mentions'],
    'redis port',
  );
  expect(dense?.score).toBeGreaterThan(long?.score as number);
});

test('in a large corpus a match on one rare word is let in, however many words the question had', () => {
  const texts = Array.from({ length: 400 }, (_, index) => `note w${index}`);
  const [match] = score(texts, 'w0 w1 w2 w3 w4 w5 w6 w7 w8 w9');
  expect(match?.coverage).toBeCloseTo(0.1, 10);
  expect(isAdmitted('targeted', match as never)).toBe(true);
  expect(isAdmitted('ambient', match as never)).toBe(true);
});

test('a word nobody ever wrote lowers the score but bars no one', () => {
  const texts = ['Redis port', 'Cart tests'];
  const [plain] = score(texts, 'redis port');
  const [withUnknown] = score(texts, 'redis port flurb');
  expect(withUnknown?.coverage).toBe(plain?.coverage);
  expect(withUnknown?.score).toBeLessThan(plain?.score as number);
});

test.each([
  ['an empty corpus', [], 'redis'],
  ['a text that shares no word', ['Cart tests'], 'redis'],
  ['a query without terms', ['Cart tests'], '?!'],
])('%s gives no score, no coverage and no evidence, and is never let in', (_, texts, query) => {
  const scores =
    texts.length > 0
      ? score(texts, query)
      : [lexicalScorer({ documents: 0, terms: 0, frequencies: new Map() }, [query])({ counts: new Map(), length: 0 })];
  for (const match of scores) {
    expect(match).toEqual({ score: 0, coverage: 0, evidence: 0, matchedTerms: [] });
    expect(isAdmitted('targeted', match)).toBe(false);
  }
});

describe('the terms that choose candidates', () => {
  const corpusOf = (documents: number, frequencies: Record<string, number>): Corpus => ({
    documents,
    terms: documents * 10,
    frequencies: new Map(Object.entries(frequencies)),
  });

  test('are those that the corpus knows, the rarest first', () => {
    const corpus = corpusOf(10, { common: 4, rare: 1, middle: 2, unheard: 0 });
    const { any, also } = chooseTerms('targeted', corpus, ['common', 'rare', 'middle', 'unheard']);
    expect([...any, ...also]).toEqual(['rare', 'middle', 'common']);
    expect(any[0]).toBe('rare');
  });

  test.each([[['unheard']], [[]]])('are none for %j', (terms) => {
    expect(chooseTerms('targeted', corpusOf(10, { unheard: 0 }), terms)).toEqual({ any: [], also: [] });
  });

  test('are only welcome besides where they could not let a memory in by themselves', () => {
    const corpus = corpusOf(1_000, { rare: 1, common: 900 });
    expect(chooseTerms('targeted', corpus, ['common', 'rare'])).toEqual({ any: ['rare'], also: ['common'] });
  });

  test('are only welcome besides where their lists are too long to walk, but never all of them', () => {
    const corpus = corpusOf(1_000_000, { one: 3_000, two: 3_500, three: 900_000 });
    expect(chooseTerms('targeted', corpus, ['one', 'two', 'three'])).toEqual({ any: ['one'], also: ['two', 'three'] });
    expect(chooseTerms('targeted', corpus, ['three'])).toEqual({ any: ['three'], also: [] });
  });
});

describe('votes', () => {
  test('that nobody gave change nothing', () => {
    expect(utilityFactor({ count: 0, mean: 0 })).toBe(1);
  });

  test('move a score by 2.5 % when there are ten of one mind, and by 5 % at the very most', () => {
    expect(utilityFactor({ count: 10, mean: 1 })).toBeCloseTo(1.025, 10);
    expect(utilityFactor({ count: 10, mean: -1 })).toBeCloseTo(0.975, 10);
    expect(utilityFactor({ count: 1_000_000, mean: 1 })).toBeLessThanOrEqual(1.05);
    expect(utilityFactor({ count: 1_000_000, mean: -1 })).toBeGreaterThanOrEqual(0.95);
  });
});

describe('fusion', () => {
  const lane = (weight: number, scores: Record<string, number>) => ({
    name: 'lane',
    weight,
    scores: new Map(Object.entries(scores)),
  });

  test('of one lane leaves its scores as they are', () => {
    expect(fuse([lane(3, { a: 0.5, b: 0.25 })])).toEqual(new Map(Object.entries({ a: 0.5, b: 0.25 })));
  });

  test('puts what two lanes found above what only one found as well', () => {
    const fused = fuse([lane(1, { a: 0.8, b: 0.8 }), lane(1, { b: 0.8 })]);
    expect(fused.get('b')).toBeGreaterThan(fused.get('a') as number);
    expect(fused.get('a')).toBeCloseTo(0.4, 10);
  });

  test('of no lane finds nothing', () => {
    expect(fuse([]).size).toBe(0);
  });
});

test('equal scores stand in the order of their ids', () => {
  const items = [
    { id: 'c', score: 0.5 },
    { id: 'a', score: 0.5 },
    { id: 'b', score: 0.9 },
  ];
  expect(items.sort(byScore).map((item) => item.id)).toEqual(['b', 'a', 'c']);
});

test('a replaced fact keeps some of its score, and loses more than votes could ever give back', () => {
  expect(SUPERSEDED_FACTOR).toBeGreaterThan(0);
  expect(SUPERSEDED_FACTOR * utilityFactor({ count: 1e9, mean: 1 })).toBeLessThan(
    utilityFactor({ count: 1e9, mean: -1 }),
  );
});
