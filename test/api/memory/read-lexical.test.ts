import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idsIn, memoryBody, type PackItem, readBody, recall, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A corpus of its own, because what else a repo holds weighs the words. Answers the repo and the ids. */
async function corpus(...texts: string[]): Promise<{ repoId: string; ids: string[] }> {
  const repoId = `lexical/${++repos}`;
  const ids: string[] = [];
  for (const text of texts) ids.push(await remember(service, { text }, repoId));
  return { repoId, ids };
}

const direct = async (repoId: string, query: string, more: object = {}): Promise<PackItem[]> =>
  (await recall(service, query, { expand: { semantic_hops: 0 }, ...more }, repoId)).direct;

const lexical = (item: PackItem | undefined) =>
  item?.explain?.lexical as { score: number; coverage: number; evidence: number; matched_terms: string[] };

test('a match on the rarer of two words is let in, a match on the commoner one is not', async () => {
  const { repoId, ids } = await corpus(
    'Deployment issue in the billing service',
    'An issue with the login form',
    'Deployment runs every night',
    'Deployment needs two approvals',
    'Deployment notes live in the wiki',
  );
  const items = await direct(repoId, 'deployment issue', { explain: true });
  expect(idsIn(items)).toEqual([ids[0], ids[1]]);
  // idf of 2 in 5 and of 4 in 5 documents: ln 2.4 = 0.875 and ln 1.333 = 0.288.
  expect(lexical(items[0]).evidence).toBeCloseTo(0.875 + 0.288, 3);
  expect(lexical(items[0]).coverage).toBeCloseTo(1, 10);
  expect(lexical(items[1]).evidence).toBeCloseTo(0.875, 3);
  expect(lexical(items[1]).coverage).toBeCloseTo(0.753, 3);
});

test('two thirds of a question are enough for a targeted read and not for an ambient one', async () => {
  const { repoId, ids } = await corpus('Rollback deployment', 'Auth');
  const items = await direct(repoId, 'rollback deployment auth', { explain: true });
  expect(idsIn(items)).toEqual([ids[0]]);
  expect(lexical(items[0]).coverage).toBeCloseTo(0.667, 3);
  expect(await direct(repoId, 'rollback deployment auth', { mode: 'ambient' })).toEqual([]);
  expect(idsIn(await direct(repoId, 'rollback deployment', { mode: 'ambient' }))).toEqual([ids[0]]);
});

test('a word that no memory holds lowers the score and bars nobody', async () => {
  const { repoId, ids } = await corpus('Rollback deployment', 'Auth');
  const [plain] = await direct(repoId, 'rollback deployment', { explain: true });
  const [longer] = await direct(repoId, 'rollback deployment xylophone', { explain: true });
  expect(longer?.memory_id).toBe(ids[0]);
  expect(lexical(longer).coverage).toBeCloseTo(1, 10);
  expect(longer?.score).toBeLessThan(plain?.score as number);
});

test('in a large corpus a rare word is evidence enough, however little of the question it is', async () => {
  const words = ['zeppelin', 'hangar', 'propeller', 'altimeter', 'rudder'];
  const filler = Array.from({ length: 55 }, (_, index) => `Entry ${index}`);
  const { repoId, ids } = await corpus(...words, ...filler);
  const found = await direct(repoId, words.join(' '), { explain: true });
  expect(idsIn(found)).toEqual(ids.slice(0, words.length));
  for (const item of found) {
    expect(lexical(item).coverage).toBeCloseTo(0.2, 10);
    // 1 in 60 documents: ln(1 + 59.5 / 1.5) = 3.7 nats, enough for a question and not for what nobody asked.
    expect(lexical(item).evidence).toBeCloseTo(3.705, 3);
  }
  expect(await direct(repoId, words.join(' '), { mode: 'ambient' })).toEqual([]);
});

test('the one memory that holds both words comes first, however many shorter ones hold the rarer word alone', async () => {
  const repoId = `lexical/${++repos}`;
  const batch = (texts: string[]) => {
    const items = texts.map((text) => ({ op: 'write', memory: memoryBody({ text }) }));
    return service.http.post('/memory/batch').send({ repo_id: repoId, items }).expect(200);
  };
  await batch(Array.from({ length: 100 }, (_, index) => `Deployment d${index}`));
  await batch(Array.from({ length: 60 }, (_, index) => `Issue i${index}`));
  const id = await remember(service, { text: 'Deployment issue today' }, repoId);
  for (const limit of [1, 5, 20]) {
    expect((await direct(repoId, 'deployment issue', { limit }))[0]?.memory_id).toBe(id);
  }
});

test('the shorter, denser text comes first', async () => {
  const { repoId, ids } = await corpus(
    'Terraform state is locked while the nightly job of the platform group walks through all regions',
    'Terraform state is locked',
    'Unrelated',
  );
  expect(idsIn(await direct(repoId, 'terraform state locked'))).toEqual([ids[1], ids[0]]);
});

test('texts that match equally well are ordered by id', async () => {
  const { repoId, ids } = await corpus('Gamma walrus', 'Alpha walrus', 'Beta walrus');
  const items = await direct(repoId, 'walrus');
  expect(new Set(items.map((item) => item.score)).size).toBe(1);
  expect(idsIn(items)).toEqual([...ids].sort());
});

test.each([
  ['stop words of a question say nothing', 'Redis needs a port', 'what is the port that this one needs?', true],
  ['a shared stop word is no match', 'This is how we were', 'what is redis?', false],
  ['a query of nothing but stop words keeps them', 'To be or not to be', 'to be', true],
  ['a plural finds the singular', 'The migration is slow', 'migrations', true],
  ['a verb finds its other forms', 'Caching was disabled', 'cache disabling', true],
  ['letter case does not matter', 'REDIS on Port', 'redis PORT', true],
  ['a camelCase name is found whole', 'Call parseUserToken first', 'parseUserToken', true],
  ['a camelCase name is found by its parts', 'Call parseUserToken first', 'user token', true],
  ['an acronym inside a name is a part', 'See HTTPServerConfig', 'http server', true],
  ['a snake_case name is found whole', 'Set max_retry_count to 3', 'max_retry_count', true],
  ['a snake_case name is found by its parts', 'Set max_retry_count to 3', 'retry count', true],
  ['a kebab-case name is found by its parts', 'Use the api-gateway-eu cluster', 'gateway', true],
  ['a path is found whole', 'Fixed in src/auth/login.ts', 'src/auth/login.ts', true],
  ['a path is found by its file name', 'Fixed in src/auth/login.ts', 'login.ts', true],
  ['a path is found by its directories', 'Fixed in src/auth/login.ts', 'auth', true],
  ['a Windows path is found by its parts', 'Fixed in C:\\app\\Billing.cs', 'billing', true],
  ['a dotted name is found whole', 'Setting app.cache.ttl', 'app.cache.ttl', true],
  ['a version is found whole', 'Broken since 4.17.21', '4.17.21', true],
  ['a number is a word', 'Listens on 6380', '6380', true],
  ['words that only share a beginning do not match', 'The portal is up', 'port', false],
])('%s', async (_promise, text, query, isFound) => {
  const { repoId, ids } = await corpus(text, 'Something else entirely');
  expect(idsIn(await direct(repoId, query))).toEqual(isFound ? [ids[0]] : []);
});

test('a whole identifier outranks a shorter text that merely holds its parts', async () => {
  const { repoId, ids } = await corpus('retry count max', 'raise max_retry_count slowly', 'Count me', 'Unrelated text');
  expect(idsIn(await direct(repoId, 'max_retry_count'))[0]).toBe(ids[1]);
});

test.each([
  ['a quoted phrase', '"redis port"'],
  ['an unclosed quote', '"redis port'],
  ['NEAR', 'NEAR(redis port, 1)'],
  ['a prefix star', 'redis* port*'],
  ['OR', 'redis OR port'],
  ['AND NOT', 'redis AND port NOT'],
  ['a column', 'terms:redis content:port'],
  ['a column filter', '{terms content} : redis port'],
  ['a caret', '^redis port'],
  ['plus and minus', '+redis -port'],
  ['parentheses that do not close', '((redis port'],
  ['SQL', "redis port'; DROP TABLE nodes; --"],
  ['a wildcard of LIKE', '%redis_ port%'],
  ['backslashes', '\\redis\\ port\\'],
])('%s in a query is just words', async (_syntax, query) => {
  const { repoId, ids } = await corpus('Redis port changed', 'Nothing to see');
  expect(idsIn(await direct(repoId, query))).toEqual([ids[0]]);
});

test('operators do not widen or negate: NOT and * find nothing by themselves', async () => {
  const { repoId } = await corpus('Redis port changed', 'Portal opened');
  expect(await direct(repoId, 'red*')).toEqual([]);
  expect(await direct(repoId, '*')).toEqual([]);
  expect(await direct(repoId, '"" () : ^ -- 🚀')).toEqual([]);
});

test.each([
  ['Chinese', '数据库连接池已经用尽', '连接池'],
  ['Japanese', 'サーバーのポートを変更した', 'ポート'],
  ['Japanese in ideographs', '決済処理が遅い', '決済'],
  ['Korean', '서버 포트 변경', '포트'],
  ['Thai', 'เซิร์ฟเวอร์ล่ม', 'เซิร์ฟเวอร์'],
  ['Cyrillic', 'Сервер перезагружен', 'СЕРВЕР'],
  ['Arabic', 'الخادم يعمل الآن', 'الخادم'],
  ['Arabic with vowel signs in the text', 'الخَادِم يعمل', 'الخادم'],
  ['Hebrew', 'השרת פועל', 'השרת'],
  ['Greek with a final sigma', 'Ο δρόμος έκλεισε', 'δρόμος'],
  ['Greek capitals', 'Ο ΔΡΟΜΟΣ ΕΚΛΕΙΣΕ', 'δρόμος'],
  ['Hindi', 'सर्वर पोर्ट बदल गया', 'पोर्ट'],
  ['Tamil', 'சேவையகம் நிறுத்தப்பட்டது', 'சேவையகம்'],
  ['accents left out in the query', 'Le résumé est prêt', 'resume'],
  ['accents left out in the text', 'Le resume est pret', 'résumé'],
  ['accents composed in the text and decomposed in the query', 'Le résumé est prêt', 're\u0301sume\u0301'],
  ['accents decomposed in the text and composed in the query', 'Le re\u0301sume\u0301 est prêt', 'résumé'],
  ['Vietnamese', 'Máy chủ đã khởi động', 'khởi động'],
  ['full-width letters', 'ＲＥＤＩＳ restarted', 'redis'],
  ['ideographs outside the basic plane', '𠀀𠀁𠀂 noted', '𠀀𠀁'],
  ['Latin inside Japanese', 'Redisサーバーを再起動', 'redis'],
  ['a fraction', 'Use ½ of the memory', '½'],
])('text is found in %s', async (_script, text, query) => {
  const { repoId, ids } = await corpus(text, 'Something else entirely');
  expect(idsIn(await direct(repoId, query))).toEqual([ids[0]]);
});

test('a word of a script with vowel signs is one word: another word of the same consonants does not match', async () => {
  const { repoId } = await corpus('पार टूर पट रट', 'Something else entirely');
  expect(await direct(repoId, 'पोर्ट')).toEqual([]);
});

/** Ranges of code points by rough script, so that the large ones do not crowd out the rest. */
const LETTERS = [
  [0x41, 0x24f],
  [0x370, 0x3ff],
  [0x400, 0x8ff],
  [0x900, 0x1fff],
  [0x2070, 0x2fff],
  [0x3000, 0x9fff],
  [0xa000, 0xffff],
  [0x10000, 0x2ffff],
] as const;

test('whatever letters a word is made of, the word finds its text', async () => {
  const letters = LETTERS.map(([min, max]) =>
    fc
      .integer({ min, max })
      .map((point) => String.fromCodePoint(point))
      .filter((character) => /[\p{L}\p{N}]/u.test(character)),
  );
  const word = fc.string({ unit: fc.oneof(...letters), minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(word, async (rest) => {
      // A few letters are nothing but a detached accent and leave no word behind; the first letter always does.
      const { repoId, ids } = await corpus(`k${rest}`);
      expect(idsIn(await direct(repoId, `k${rest}`))).toEqual(ids);
    }),
    { numRuns: 80, seed: 1 },
  );
});

test.each([
  ['an empty query', '', 400],
  ['a blank query', ' \t\n', 422],
  ['a query of more than 10,000 characters', 'x'.repeat(10_001), 422],
])('%s is refused', async (_wrong, query, status) => {
  const answer = await service.http.post('/memory/read').send(readBody(query)).expect(status);
  expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual(['query']);
});

test('a query of 10,000 characters is answered', async () => {
  const { repoId, ids } = await corpus('Albatross');
  expect(idsIn(await direct(repoId, `albatross ${'padding '.repeat(1_300)}`.slice(0, 10_000)))).toEqual(ids);
});
