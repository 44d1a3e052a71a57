import { countTokens } from 'gpt-tokenizer';
import { beforeAll, expect, test } from 'vitest';
import { loadTokenCounter, type TokenCounter } from '../../src/services/tokens.js';

const NO_LIMIT = Number.MAX_SAFE_INTEGER;
const PLAIN_TEXT = { disallowedSpecial: new Set<string>() };
/** How much the counter reads at once; a cut inside a token may cost one token more. */
const SLICE_CHARACTERS = 256;

let count: TokenCounter;
beforeAll(async () => {
  count = await loadTokenCounter();
});

const SENTENCE = 'The checkout tests need Redis on port 6380, because the cart is kept there; see src/cart/store.ts. ';

test.each([
  ['nothing', ''],
  ['one word', 'Redis'],
  ['a paragraph', SENTENCE.repeat(40)],
  ['paragraphs', `${SENTENCE.repeat(3)}\n\n`.repeat(20)],
  ['a list', '# Steps\n\n- stop the worker\n- drop the queue\n\n'.repeat(40)],
  ['text with accents', 'Le café est fermé, déjà trois élèves ont réservé. '.repeat(40)],
  ['Russian text', 'Тесты корзины требуют базу данных на другом порту. '.repeat(40)],
  ['short Chinese sentences', '结账测试需要缓存服务。 '.repeat(80)],
])('the tokens of %s are counted as the library counts them', (_, text) => {
  expect(count(text, NO_LIMIT)).toBe(countTokens(text, PLAIN_TEXT));
});

test.each([
  [
    'indented code',
    'function add(a: number) {\n        if (a > 2) {\n                return a;\n        }\n}\n'.repeat(40),
  ],
  ['one word in each line', SENTENCE.repeat(20).replaceAll(' ', '\n')],
  ['a long path', 'src/cart/store/index/'.repeat(100)],
])('the tokens of %s are never counted short, and at most one too many for each piece read', (_, text) => {
  const exact = countTokens(text, PLAIN_TEXT);
  const counted = count(text, NO_LIMIT);
  expect(counted).toBeGreaterThanOrEqual(exact);
  expect(counted).toBeLessThanOrEqual(exact + Math.ceil(text.length / SLICE_CHARACTERS));
});

test.each([
  ['a letter', 'a'],
  ['an ideograph', '猫'],
  ['an emoji', '🙂'],
])(
  'an unbroken run of %s costs in proportion to its length, so that no text can hold the service up',
  (_, character) => {
    const piece = character.repeat(SLICE_CHARACTERS / character.length);
    const pieceTokens = countTokens(piece, PLAIN_TEXT);
    expect(count(piece.repeat(400), NO_LIMIT)).toBe(400 * pieceTokens);
  },
);

test('a character outside the basic plane is never cut in two', () => {
  const text = `a${'🙂'.repeat(1_000)}`;
  expect(count(text, NO_LIMIT)).toBeLessThanOrEqual(countTokens(text, PLAIN_TEXT) + 8);
});

test('control tokens of a model are text like any other', () => {
  expect(count('<|endoftext|>', NO_LIMIT)).toBe(countTokens('<|endoftext|>', PLAIN_TEXT));
  expect(count('<|endoftext|>', NO_LIMIT)).toBeGreaterThan(1);
});

test.each([0, 1, 10, 100])('counting stops once %i is passed', (max) => {
  expect(count(SENTENCE.repeat(40), max)).toBe(max + 1);
});

test('a text that just fits is counted in full', () => {
  const tokens = countTokens(SENTENCE, PLAIN_TEXT);
  expect(count(SENTENCE, tokens)).toBe(tokens);
  expect(count(SENTENCE, tokens - 1)).toBe(tokens);
});
