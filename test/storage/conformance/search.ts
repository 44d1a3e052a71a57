import { describe, expect, test } from 'vitest';
import type { ChosenTerms } from '../../../src/domain/ranking.js';
import { GLOBAL_SPACE, viewOf } from '../../../src/domain/spaces.js';
import { indexTerms } from '../../../src/domain/terms.js';
import { idOf, insert, insertGlobal, link, move, OTHER_REPO, REPO, START_MS } from '../../support/plans.js';
import { expectConflict, type Subject } from './subject.js';

const POOL = 100;

export function search(subject: Subject): void {
  const found = async (terms: readonly string[], pool = POOL, view = viewOf(REPO)): Promise<string[]> =>
    (await subject.store.searchTerms(view, { any: terms, also: [] }, pool)).map(({ memory }) => memory.id).sort();
  const corpusOf = async (terms: readonly string[], view = viewOf(REPO)) => {
    const corpus = await subject.store.countTerms(view, terms);
    return {
      documents: corpus.documents,
      terms: corpus.terms,
      frequencies: terms.map((term) => corpus.frequencies.get(term) ?? 0),
    };
  };

  test('finds the memories that hold at least one of the terms', async () => {
    await subject.apply(
      insert(idOf(1), { content: 'redis cart' }),
      insert(idOf(2), { content: 'redis till' }),
      insert(idOf(3), { content: 'cart till' }),
      insert(idOf(4), { content: 'queue' }),
    );
    expect(await found(['redi', 'cart'])).toEqual([1, 2, 3].map(idOf));
    expect(await found(['queue', 'unheard'])).toEqual([idOf(4)]);
    expect(await found(['unheard'])).toEqual([]);
    expect(await found([])).toEqual([]);
  });

  test('finds whole terms only', async () => {
    await subject.apply(insert(idOf(1), { content: 'src/cart/store.ts' }), insert(idOf(2), { content: 'storehouse' }));
    expect(await found(['store'])).toEqual([idOf(1)]);
    expect(await found(['src_cart_store_ts'])).toEqual([idOf(1)]);
    expect(await found(['src_cart'])).toEqual([]);
    expect(await found(['stor'])).toEqual([]);
  });

  test('hands out each candidate with its memory in brief, its terms between single blanks, and its length', async () => {
    await subject.apply(insert(idOf(1), { content: 'Redis port, redis port 6380' }));
    const [memory] = await subject.store.getBriefs(viewOf(REPO), [idOf(1)]);
    expect(await subject.store.searchTerms(viewOf(REPO), { any: ['redi'], also: [] }, POOL)).toEqual([
      { memory, terms: ' redi port redi port 6380 ', length: 5 },
    ]);
  });

  test('where there is not room for all it keeps those that hold more of the question', async () => {
    await subject.apply(
      insert(idOf(1), { content: 'redis is one of many things that this long note about the network mentions' }),
      insert(idOf(2), { content: 'redis cart redis cart' }),
      insert(idOf(3), { content: 'cart redis queue' }),
      ...[4, 5, 6, 7, 8, 9].map((number) => insert(idOf(number), { content: `note number ${number}` })),
    );
    expect(await found(['redi', 'cart'], 1)).toEqual([idOf(2)]);
    expect(await found(['redi', 'cart'], 2)).toEqual([idOf(2), idOf(3)]);
  });

  test('where there is not room for all it keeps those that hold the rarer terms', async () => {
    await subject.apply(
      insert(idOf(1), { content: 'common words' }),
      insert(idOf(2), { content: 'rarest words' }),
      ...[3, 4, 5, 6].map((number) => insert(idOf(number), { content: 'common things' })),
    );
    expect(await found(indexTerms('common rarest'), 1)).toEqual([idOf(2)]);
  });

  test('where there is not room for all it keeps the denser ones', async () => {
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    await subject.apply(
      ...numbers.map((number) => insert(idOf(number), { content: `redis${' filler'.repeat(number)}` })),
    );
    expect(await found(['redi'], 3)).toEqual([0, 1, 2].map(idOf));
  });

  test('beside the best it gives some that hold one of the other terms too', async () => {
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    await subject.apply(
      ...numbers.map((number) => insert(idOf(number), { content: 'redis' })),
      insert(idOf(30), { content: 'redis is mentioned in a longer note about the cart' }),
      insert(idOf(31), { content: 'cart' }),
    );
    const search = (terms: ChosenTerms) => subject.store.searchTerms(viewOf(REPO), terms, 5);
    const idsOf = async (terms: ChosenTerms) => (await search(terms)).map(({ memory }) => memory.id);
    expect(await idsOf({ any: ['redi'], also: [] })).not.toContain(idOf(30));
    const both = await idsOf({ any: ['redi'], also: ['cart'] });
    expect(both).toContain(idOf(30));
    expect(both).not.toContain(idOf(31));
    expect(new Set(both).size).toBe(both.length);
    expect(both.length).toBeLessThanOrEqual(10);
    expect(await idsOf({ any: [], also: ['cart'] })).toEqual([]);
  });

  test('each space gives its own best, so that a large one does not drown a small one', async () => {
    await subject.apply(...[1, 2, 3, 4, 5].map((number) => insert(idOf(number), { content: 'redis' })));
    await subject.applyGlobal(insertGlobal(idOf(6), { content: 'redis is mentioned in a longer note' }));
    expect(await found(['redi'], 2)).toContain(idOf(6));
    expect(await found(['redi'], 2)).toHaveLength(3);
  });

  test('gives the same candidates in the same order every time, equal ones too', async () => {
    await subject.apply(...Array.from({ length: 20 }, (_, number) => insert(idOf(number), { content: 'redis port' })));
    const search = () => subject.store.searchTerms(viewOf(REPO), { any: ['redi'], also: ['port'] }, 10);
    const first = await search();
    for (let round = 0; round < 3; round++) expect(await search()).toEqual(first);
  });

  describe('the corpus', () => {
    test('is that of the spaces in the view: documents, terms, and in how many documents each term occurs', async () => {
      await subject.apply(insert(idOf(1), { content: 'redis redis port' }), insert(idOf(2), { content: 'cart' }));
      await subject.applyGlobal(insertGlobal(idOf(3), { content: 'redis rules here' }));
      await subject.applyIn(OTHER_REPO, insert(idOf(4), { repoId: OTHER_REPO, content: 'redis redis redis' }));
      const terms = ['redi', 'port', 'unheard'];
      expect(await corpusOf(terms)).toEqual({ documents: 3, terms: 7, frequencies: [2, 1, 0] });
      expect(await corpusOf(terms, viewOf(REPO, { includeGlobal: false }))).toEqual({
        documents: 2,
        terms: 4,
        frequencies: [1, 1, 0],
      });
    });

    test('of a repo that nobody wrote to is empty', async () => {
      expect(await corpusOf(['redi'])).toEqual({ documents: 0, terms: 0, frequencies: [0] });
    });

    test('does not count a global memory again for each repo that refers to it', async () => {
      await subject.applyGlobal(insertGlobal(idOf(1), { content: 'redis rules' }));
      await subject.apply(insert(idOf(2), { content: 'cart' }), link('related_to', [idOf(2), idOf(1)]));
      expect(await corpusOf(['redi'])).toEqual({ documents: 2, terms: 3, frequencies: [1] });
      expect(await found(['redi'])).toEqual([idOf(1)]);
    });

    test('counts a term as unknown when the view shows none of those that hold it', async () => {
      await subject.apply(
        insert(idOf(1), { content: 'redis', kind: 'problem', createdAtMs: START_MS + 5 }),
        insert(idOf(2), { content: 'cart' }),
        move(idOf(2), { atMs: START_MS + 5 }),
      );
      const frequencies = async (options: Parameters<typeof viewOf>[1]) =>
        (await corpusOf(['redi', 'cart'], viewOf(REPO, options))).frequencies;
      expect(await frequencies({})).toEqual([1, 0]);
      expect(await frequencies({ includeArchived: true })).toEqual([1, 1]);
      expect(await frequencies({ kinds: ['fact'] })).toEqual([0, 0]);
      expect(await frequencies({ kinds: ['problem'] })).toEqual([1, 0]);
      expect(await frequencies({ asOfMs: START_MS })).toEqual([0, 1]);
      expect(await frequencies({})).toEqual([1, 0]);
    });

    test('knows a term that one visible memory holds, however many hidden ones hold it too', async () => {
      const hidden = Array.from({ length: 1_200 }, (_, number) => idOf(1_000 + number));
      await subject.apply(...hidden.flatMap((id) => [insert(id, { content: 'redis' }), move(id)]));
      await subject.apply(insert(idOf(1), { content: 'redis' }));
      expect((await corpusOf(['redi'])).frequencies[0]).toBeGreaterThan(0);
      expect(await found(['redi'], 5)).toEqual([idOf(1)]);
    });

    test('is counted anew after every write, and as before after one that failed', async () => {
      const frequency = async () => (await corpusOf(['redi'])).frequencies[0];
      expect(await frequency()).toBe(0);
      await subject.apply(insert(idOf(1), { content: 'redis' }));
      expect(await frequency()).toBe(1);
      await expectConflict(subject.apply(insert(idOf(2), { content: 'redis' }), move(idOf(3))), 'tier_moved');
      expect(await frequency()).toBe(1);
      await subject.apply(insert(idOf(5), { content: 'redis again' }));
      expect(await frequency()).toBe(2);
      await subject.applyGlobal(insertGlobal(idOf(4), { content: 'redis' }));
      expect(await frequency()).toBe(3);
      await subject.store.dropRepo(REPO);
      expect(await frequency()).toBe(1);
    });
  });

  describe('keeps to its view', () => {
    test.each([
      ['spaces', viewOf(REPO, { includeGlobal: false }), [1, 2]],
      ['all spaces', viewOf(REPO), [1, 2, 5]],
      ['the global space', { ...viewOf(REPO), spaces: [GLOBAL_SPACE] }, [5]],
      ['another repo', viewOf(OTHER_REPO), [5, 6]],
      ['archive', viewOf(REPO, { includeArchived: true }), [1, 2, 3, 5]],
      ['moment', viewOf(REPO, { asOfMs: START_MS }), [1, 3, 5]],
      ['kinds', viewOf(REPO, { kinds: ['problem'] }), [2]],
      ['no kinds', viewOf(REPO, { kinds: [] }), []],
    ] as const)('%s', async (_, view, numbers) => {
      await subject.apply(
        insert(idOf(1), { content: 'redis' }),
        insert(idOf(2), { content: 'redis', kind: 'problem', createdAtMs: START_MS + 5 }),
        insert(idOf(3), { content: 'redis', tier: 'session' }),
        move(idOf(3), { from: 'session', atMs: START_MS + 5 }),
      );
      await subject.applyGlobal(insertGlobal(idOf(5), { content: 'redis' }));
      await subject.applyIn(OTHER_REPO, insert(idOf(6), { repoId: OTHER_REPO, content: 'redis' }));
      expect(await found(['redi'], POOL, view)).toEqual(numbers.map(idOf));
    });

    test('what the view hides takes no place from what it shows', async () => {
      const hidden = Array.from({ length: 38 }, (_, number) => idOf(number));
      await subject.apply(
        ...hidden.map((id) => insert(id, { content: 'redis' })),
        ...hidden.map((id) => move(id)),
        insert(idOf(38), { content: 'redis is mentioned at the end of a much longer note' }),
        insert(idOf(39), { content: 'redis is mentioned at the end of a much longer note than that one' }),
      );
      expect(await found(['redi'], 1)).toContain(idOf(38));
      expect(await found(['redi'], 5)).toEqual([idOf(38), idOf(39)]);
    });
  });

  test.each([
    '"',
    'redi*',
    'AND',
    'NEAR(redi port)',
    'terms:redi',
    '-redi',
    '^redi',
    '(redi',
    "'; DROP TABLE nodes; --",
    '',
  ])('the term %j is no query language: it breaks nothing', async (term) => {
    await subject.apply(insert(idOf(1), { content: 'redis port' }), insert(idOf(2), { content: 'cart' }));
    expect(await found([term])).not.toContain(idOf(2));
    expect(await found([term, 'port'])).toEqual([idOf(1)]);
    expect((await corpusOf([term, 'port'])).frequencies).toEqual([0, 1]);
  });

  test.each([
    ['English', 'The checkout tests are failing on port 6380'],
    ['German', 'Größere Änderungen am Straßennetz'],
    ['Greek', 'Ο Σίσυφος και ο βράχος'],
    ['Russian', 'Тесты корзины падают'],
    ['Turkish', 'İstanbul ılık'],
    ['Arabic', 'قاعدة البيانات'],
    ['Hebrew', 'מסד נתונים'],
    ['Hindi', 'डेटाबेस पोर्ट'],
    ['Chinese', '数据库端口'],
    ['Japanese', 'データベースのポート'],
    ['Korean', '데이터베이스 포트'],
    ['Thai', 'ฐานข้อมูล'],
    ['identifiers', 'src/cart/RedisStore.ts getUserId v1.2.3 HTTP_500'],
    ['numbers', '½ of ² and ⑴ of ①'],
    ['letters outside the basic plane', '𐐨𐐩 𝕏𝕐'],
  ])('a memory in %s is found by every one of its terms', async (_, content) => {
    await subject.apply(insert(idOf(1), { content }), insert(idOf(2), { content: 'zzz' }));
    for (const term of indexTerms(content)) {
      expect(await found([term]), term).toEqual([idOf(1)]);
      expect((await corpusOf([term])).frequencies, term).toEqual([1]);
    }
  });
}
