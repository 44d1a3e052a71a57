import { describe, expect, test } from 'vitest';
import { indexTerms, queryTerms } from '../../src/domain/terms.js';

const TERM_CHARACTERS_MAX = 64;
const QUERY_TERMS_MAX = 48;

describe('identifiers and paths are kept whole and split', () => {
  test.each([
    ['src/auth/login.ts', ['src', 'auth', 'login', 'ts', 'src_auth_login_ts']],
    ['src\\auth', ['src', 'auth', 'src_auth']],
    ['user_id', ['user', 'id', 'user_id']],
    ['red-black', ['red', 'black', 'red_black']],
    ['Node.js', ['node', 'js', 'node_js']],
    ['v1.2.3', ['v1', '2', '3', 'v1_2_3']],
    ['std::vector', ['std', 'vector', 'std_vector']],
    ['acme@1', ['acm', '1', 'acme_1']],
    ['userId', ['userid', 'user', 'id']],
    ['HTTPServer', ['httpserver', 'http', 'server']],
    ['get2Items', ['get2items', 'get2', 'item']],
    ['Cart.totalPrice', ['cart', 'totalpric', 'total', 'price', 'cart_totalprice']],
  ])('%s', (text, terms) => {
    expect(indexTerms(text)).toEqual(terms);
  });

  test('so a part finds the whole, and the whole finds itself', () => {
    const indexed = indexTerms('The cart lives in src/cart/RedisStore.ts');
    for (const query of ['redis', 'store', 'RedisStore', 'src/cart/RedisStore.ts', 'cart']) {
      expect(indexed).toEqual(expect.arrayContaining(queryTerms(query)));
    }
  });
});

describe('words are found in their other shapes', () => {
  test.each([
    ['endings', 'deployments', 'deployment'],
    ['endings of verbs', 'failing', 'failed'],
    ['letter case', 'REDIS', 'redis'],
    ['accents', 'café', 'cafe'],
    ['accents written as marks of their own', 're\u0301sume\u0301', 'résumé'],
    ['full-width letters', 'Ｒｅｄｉｓ', 'redis'],
    ['ligatures', 'ﬁle', 'file'],
    ['Greek capitals', 'ΣΊΣΥΦΟΣ', 'σίσυφος'],
    ['half-width kana', 'ｶﾞｽ', 'ガス'],
  ])('%s', (_, one, other) => {
    expect(indexTerms(one)).toEqual(indexTerms(other));
  });
});

describe('scripts without blanks between words give overlapping pairs', () => {
  test.each([
    ['数据库', ['数据', '据库']],
    ['猫', ['猫']],
    ['数据 库', ['数据', '库']],
    ['コーヒー', ['コー', 'ーヒ', 'ヒー']],
  ])('%s', (text, terms) => {
    expect(indexTerms(text)).toEqual(terms);
  });

  test('beside words of other scripts in the same run', () => {
    expect(indexTerms('用Redis缓存').sort()).toEqual([...indexTerms('用'), ...indexTerms('Redis'), '缓存'].sort());
  });
});

describe('a query', () => {
  test('drops the words that say nothing', () => {
    expect(queryTerms('what is the port of the database?')).toEqual(queryTerms('port database'));
  });

  test('keeps them when there is nothing else', () => {
    expect(queryTerms('To be or the')).toEqual(['to', 'be', 'or', 'the']);
  });

  test('keeps a word of the stop list as part of a whole identifier', () => {
    expect(queryTerms('to_do')).toEqual(['to_do']);
  });

  test('names each term once, in the order asked', () => {
    expect(queryTerms('redis port Redis ports REDIS')).toEqual(['redi', 'port']);
  });

  test(`has at most ${QUERY_TERMS_MAX} terms`, () => {
    const words = Array.from({ length: 200 }, (_, index) => `w${index}`);
    expect(queryTerms(words.join(' '))).toEqual(words.slice(0, QUERY_TERMS_MAX));
  });

  test('without any letter or digit has no term', () => {
    expect(queryTerms('?! … — 🙂')).toEqual([]);
  });
});

describe('a text', () => {
  test('keeps repetitions and the words that say nothing, because they make its length', () => {
    expect(indexTerms('the port, the port')).toEqual(['the', 'port', 'the', 'port']);
  });

  test.each([
    ['nothing', ''],
    ['punctuation', '---///...'],
    ['an emoji', '🙂🙂'],
    ['combining marks alone', '\u0301\u0302'],
  ])('of %s has no terms', (_, text) => {
    expect(indexTerms(text)).toEqual([]);
  });

  test('of the language of queries gives plain words', () => {
    expect(indexTerms(`"a" OR b* AND NEAR(c) -d ^e {f}: '); DROP TABLE x;--`).join(' ')).toMatch(/^[a-z ]+$/);
  });
});

describe('a term', () => {
  test.each([
    ['one long word', 'x'.repeat(1_000)],
    ['one long path', 'part/'.repeat(200)],
    ['one long Korean word', '한국어'.repeat(100)],
  ])(`of %s is cut at ${TERM_CHARACTERS_MAX} characters`, (_, text) => {
    for (const term of indexTerms(text)) expect(term.length).toBeLessThanOrEqual(TERM_CHARACTERS_MAX);
    expect(indexTerms(text).some((term) => term.length === TERM_CHARACTERS_MAX)).toBe(true);
  });

  // Compatibility forms unfold into punctuation or blanks, and characters outside the basic plane into halves.
  test.each([
    ['a fraction', '½ cup'],
    ['a number in brackets', '⑴ stop the worker'],
    ['a number with a full stop', '⒈ stop the worker'],
    ['a phrase in one character', 'ﷺ'],
    ['a letter that unfolds to a blank and a mark', '\ufe70'],
    ['a cut between the halves of a character', `a${'𐐨'.repeat(40)}`],
  ])('holds letters, digits and _ only, even of %s', (_, text) => {
    for (const term of indexTerms(text)) expect(term).toMatch(/^[\p{L}\p{N}_]+$/u);
  });
});

test('a run of marks that no script writes is cut short, at once', () => {
  expect(indexTerms(`cafe${'\u0301\u0327'.repeat(50_000)} bar`)).toEqual(['cafe', 'bar']);
});
