import { describe, expect, test } from 'vitest';
import { CHUNK_TYPES, detectType } from '../../src/domain/chunk-types.js';

const typesOf = (sentences: readonly string[]): Record<string, string> =>
  Object.fromEntries(sentences.map((sentence) => [sentence, detectType(sentence)]));

const all = (sentences: readonly string[], type: string): Record<string, string> =>
  Object.fromEntries(sentences.map((sentence) => [sentence, type]));

const DECISIONS = [
  'We decided to keep the cart in Redis',
  'The team chose Postgres for the ledger',
  'Ada selected the smaller machine',
  'We are going with server-side sessions',
  'They went with tabs in the end',
  'The group opted for weekly releases',
  'Everybody settled on one time zone',
  'The review concluded that the index pays for itself',
];

const PREFERENCES = [
  'I prefer tabs to spaces',
  'User prefers Python over JavaScript',
  'I like short functions',
  'Ada likes her coffee black',
  'I want fewer meetings',
  'Grace wanted the dark theme',
  'I would rather read the log first',
  'The reviewers dislike long files',
  'He hates flaky tests',
  'I wish the build were faster',
];

const PATTERNS = [
  'The build usually takes a minute',
  'Deployments often fail on Fridays',
  'The cache tends to fill overnight',
  'The same pattern shows up in each report',
  'Ada always runs the linter first',
  'Reviews typically need two rounds',
  'Requests generally come in the morning',
  'The worker frequently restarts',
  'Backups are regularly checked',
  'The port changes every time',
  'The queue stays empty most of the time',
  'Whenever the index grows, searches slow down',
];

const FACTS = [
  'Redis is a key-value store',
  'The gateway is an old machine',
  'Tabs are a matter of taste',
  'These files are an archive',
  'The first release was a prototype',
  'The tests were a week late',
  'Ada works as a programmer',
  'Grace works at the shipyard',
  'Alan works for the office',
  'The server room stands located in Oslo',
  'Ada lives in London',
  'Grace came to be born in New York',
  'Alan studied at Cambridge',
  'Ada graduated from the academy',
  'The cluster has 12 machines',
  'There are 40 tables in the schema',
  'There is one lock for every store',
];

const NOTES = [
  'Remember to rotate the keys',
  'Redis on port 6380',
  'The undecided await a likeness of patternless chosen wishbones',
  'The cluster has several machines',
  'const isAn = there.isA;',
  '猫が好きです',
];

test('every table has as many sentences as the origin of the rules was tested with', () => {
  expect([DECISIONS, PREFERENCES, PATTERNS, FACTS].map(({ length }) => length)).toEqual([8, 10, 12, 17]);
});

test.each([
  ['decision', DECISIONS],
  ['preference', PREFERENCES],
  ['pattern', PATTERNS],
  ['fact', FACTS],
  ['note', NOTES],
])('what says so is a %s', (type, sentences) => {
  expect(CHUNK_TYPES).toContain(type);
  expect(typesOf(sentences)).toEqual(all(sentences, type));
  const loud = sentences.map((sentence) => sentence.toUpperCase());
  expect(typesOf(loud)).toEqual(all(loud, type));
});

test.each(['', ' \n\t '])('the empty text %j is a note', (text) => {
  expect(detectType(text)).toBe('note');
});

describe('a text that says several things', () => {
  test.each([
    ['We decided what we usually prefer: this is a test', 'decision'],
    ['I usually prefer what is a test', 'pattern'],
    ['I prefer what is a test', 'preference'],
  ])('is what comes first in the order of the rules: %s', (text, type) => {
    expect(detectType(text)).toBe(type);
  });

  test('says it across the end of a line too', () => {
    expect(detectType('In the end they went\nwith tabs')).toBe('decision');
  });
});

test.each([
  'preferred',
  'preference',
  'preferring',
  'liked',
  'wants',
  'disliked',
  'hated',
  'wishes',
  'favourite',
  'favors',
])('the form %s tells a preference', (word) => {
  expect(detectType(`so it was ${word} then`)).toBe('preference');
});

test('words are whole words in every script', () => {
  expect(detectType('élike likeé prefer_x 2want')).toBe('note');
});

test('only the beginning of a long text is looked at, so that none takes long', () => {
  expect(detectType(`${'x '.repeat(9_000)} we decided`)).toBe('decision');
  expect(detectType(`${'x '.repeat(10_000)} we decided`)).toBe('note');
});

test.each(['has ', 'is ', 'every ', 'most of the ', ' ', '\n'])(
  'a text of nothing but %j is gone through in no time',
  (unit) => {
    const before = process.cpuUsage();
    expect(detectType(unit.repeat(1_000_000 / unit.length))).toBe('note');
    expect(detectType(`has${' '.repeat(1_000_000)}x`)).toBe('note');
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
  },
);
