import { expect, test } from 'vitest';
import { viewOf } from '../../../src/domain/spaces.js';
import { indexTerms } from '../../../src/domain/terms.js';
import type { SearchFilter, TermMatch } from '../../../src/storage/port.js';
import { concept, idOf, insert, insertGlobal, move, OTHER_REPO, REPO } from '../../support/plans.js';
import { ANYWHERE, MANY, type Subject } from './subject.js';

export function nodeSearch(subject: Subject): void {
  const found = async (match: TermMatch, filter: Partial<SearchFilter> = {}, pool = MANY, view = viewOf(REPO)) =>
    (await subject.store.searchNodes(view, match, { ...ANYWHERE, ...filter }, pool)).map(({ id }) => id).sort();
  const any = (text: string): TermMatch => ({ match: 'any', terms: indexTerms(text) });

  const MATCHES: [string, TermMatch, number[]][] = [
    ['any of the terms', { match: 'any', terms: ['redi', 'till'] }, [1, 2, 3]],
    ['all of them', { match: 'all', terms: ['redi', 'cart'] }, [1, 2]],
    ['all in this order', { match: 'phrase', terms: ['redi', 'cart'] }, [1]],
    [
      'all, and one of those that the last may become',
      { match: 'prefix', terms: ['redi'], lastTerms: ['cart', 'x'] },
      [1, 2],
    ],
    ['what the last may become alone', { match: 'prefix', terms: [], lastTerms: ['till'] }, [3]],
    ['a last term that becomes nothing', { match: 'prefix', terms: ['redi'], lastTerms: [] }, []],
    ['no terms', { match: 'all', terms: [] }, []],
    ['an empty phrase', { match: 'phrase', terms: [] }, []],
  ];
  test.each(MATCHES)('finds the nodes that hold %s', async (_, match, numbers) => {
    await subject.apply(
      concept(idOf(1), { content: 'redis cart' }),
      concept(idOf(2), { content: 'cart redis' }),
      concept(idOf(3), { content: 'till' }),
    );
    expect(await found(match)).toEqual(numbers.map(idOf));
  });

  test('hands each out with its terms and its length', async () => {
    await subject.apply(insert(idOf(1), { content: 'Redis port, redis port 6380' }));
    expect(await subject.store.searchNodes(viewOf(REPO), any('port'), ANYWHERE, MANY)).toEqual([
      { id: idOf(1), terms: ' redi port redi port 6380 ', length: 5 },
    ]);
  });

  const FILTERS: [string, Partial<SearchFilter>, number[]][] = [
    ['a type', { type: 'entity' }, [2]],
    ['a tier', { tier: 'session' }, [2]],
    ['a form', { form: 'memory' }, [3]],
    ['a kind', { kind: 'k' }, [1]],
    ['a least confidence', { minConfidence: 0.9 }, [1]],
    ['what nothing has', { kind: 'unheard' }, []],
  ];
  test.each(FILTERS)('lets only those through that have %s', async (_, filter, numbers) => {
    await subject.apply(
      concept(idOf(1), { content: 'redis', kind: 'k', confidence: 0.9 }),
      concept(idOf(2), { content: 'redis', type: 'entity', tier: 'session' }),
      insert(idOf(3), { content: 'redis' }),
    );
    expect(await found(any('redis'), filter)).toEqual(numbers.map(idOf));
  });

  test('what does not fit takes no place from what does, and each space gives its own best', async () => {
    const hidden = Array.from({ length: 30 }, (_, number) => idOf(100 + number));
    await subject.apply(
      ...hidden.map((id) => insert(id, { content: 'redis' })),
      ...hidden.map((id) => move(id)),
      concept(idOf(1), { content: 'redis is mentioned at the end of a longer note' }),
      concept(idOf(2), { content: 'redis is mentioned at the end of a much longer note than that one' }),
    );
    await subject.applyGlobal(insertGlobal(idOf(5), { content: 'redis is mentioned too' }));
    expect(await found(any('redis'), {}, 1)).toEqual([1, 5].map(idOf));
    expect(await found(any('redis'), {}, 1, viewOf(OTHER_REPO))).toEqual([idOf(5)]);
    expect(await found(any('redis'), {}, 1, viewOf(REPO, { includeGlobal: false }))).toEqual([idOf(1)]);
  });

  test('the terms that begin like a word are known, in order and as far as asked for', async () => {
    await subject.applyGlobal(insertGlobal(idOf(5), { content: 'reindex' }));
    await subject.apply(
      concept(idOf(1), { content: 'redis rest red' }),
      concept(idOf(2), { content: 'rf 数据库 redis' }),
      concept(idOf(3), { repoId: REPO, content: 'r' }),
    );
    const terms = (beginnings: string[], max = MANY, view = viewOf(REPO)) =>
      subject.store.findTerms(view, beginnings, max);
    expect((await terms(['re'])).sort()).toEqual(['red', 'redi', 'reindex', 'rest']);
    expect(await terms(['re'], 2, viewOf(REPO, { includeGlobal: false }))).toEqual(['red', 'redi']);
    expect((await terms(['数', 'rf'])).sort()).toEqual(['rf', '数据']);
    expect(await terms(['x'])).toEqual([]);
    expect(await terms([])).toEqual([]);
    expect(await terms(['re'], MANY, viewOf(OTHER_REPO))).toEqual(['reindex']);
  });
}
