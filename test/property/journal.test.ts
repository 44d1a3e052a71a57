import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENTRY_TYPES, IMPORTANCES } from '../../src/domain/entries.js';
import { type EntryReport, JournalClient, UNKNOWN_ENTRY_ID } from '../support/journal.js';
import { type Service, startService } from '../support/service.js';

const LIMITS = { core: 4, learning: 3, task: 3 };

let service: Service;
beforeAll(async () => {
  service = await startService({ JOURNAL_CORE_MAX: '4', JOURNAL_LEARNINGS_MAX: '3', JOURNAL_TASKS_MAX: '3' });
});
afterAll(() => service.stop());

/** What to do, with numbers in place of ids: whom a number means is known only when it is done. */
type Step =
  | { do: 'create'; fields: object }
  | { do: 'rewrite' | 'patch'; target: number; fields: object }
  | { do: 'archive' | 'restore' | 'purge' | 'read' | 'complete'; target: number }
  | { do: 'list'; limit: number }
  | { do: 'wait'; ms: number };

const target = fc.nat(15);
const only = <Word extends string>(word: Word) => fc.constant(word);
const fields = {
  content: fc.constantFrom('a', 'some text', '数据 🙂', 'x'.repeat(500)),
  tags: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
  importance: fc.constantFrom(...IMPORTANCES),
};
const category = fc.constantFrom('c', 'd');
const patchFields = fc.record(
  { ...fields, category: fc.option(category), archived: fc.boolean() },
  { requiredKeys: ['importance'] },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: only('create'),
      fields: fc.record(
        { ...fields, type: fc.constantFrom(...ENTRY_TYPES), category },
        { requiredKeys: ['type', 'content'] },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('patch' as const, 'rewrite' as const), target, fields: patchFields }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'archive' as const,
        'restore' as const,
        'purge' as const,
        'read' as const,
        'complete' as const,
      ),
      target,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: only('list'), limit: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ do: only('wait'), ms: fc.constantFrom(1, 86_400_000) }) },
);

/** What is known of the entries from the answers alone. */
class Journal {
  readonly known = new Map<string, { type: string; looks: number }>();

  constructor(readonly client: JournalClient) {}

  idAt(number: number): string {
    const ids = [...this.known.keys()];
    return ids[number % Math.max(1, ids.length)] ?? UNKNOWN_ENTRY_ID;
  }

  look(id: string): void {
    const entry = this.known.get(id);
    if (entry) entry.looks++;
  }

  async carryOut(action: Step): Promise<number> {
    const { client } = this;
    switch (action.do) {
      case 'create': {
        // No two are of the same moment, so that their order is known.
        service.clock.advance(1);
        const { status, body } = await client.postEntry(action.fields);
        if (status === 201) this.known.set(body.id, { type: body.memory.type, looks: 0 });
        return status;
      }
      case 'rewrite': {
        const id = this.idAt(action.target);
        const {
          archived: _,
          category: word,
          ...rest
        } = action.fields as { archived?: boolean; category?: string | null };
        const type = this.known.get(id)?.type;
        const said = { ...rest, ...(word && { category: word }), ...(type && { type }), id };
        const { status, body } = await client.postEntry(said);
        const entry = this.known.get(id);
        if (status === 200 && entry && body.memory.access_count === entry.looks + 1) entry.looks++;
        return status;
      }
      case 'patch':
        return this.#patch(this.idAt(action.target), action.fields);
      case 'archive':
        return (await client.deleteEntry(this.idAt(action.target))).status;
      case 'restore':
        return this.#patch(this.idAt(action.target), { archived: false });
      case 'complete':
        return this.#patch(this.idAt(action.target), { task_metadata: { status: 'completed' } });
      case 'purge': {
        const id = this.idAt(action.target);
        this.known.delete(id);
        return (await client.deleteEntry(id, { permanent: true })).status;
      }
      case 'read': {
        const id = this.idAt(action.target);
        this.look(id);
        return (await client.getEntry(id)).status;
      }
      case 'list': {
        const { memories } = await client.page({ limit: action.limit });
        for (const { id } of memories) this.look(id);
        return 200;
      }
      case 'wait':
        service.clock.advance(action.ms);
        return 200;
    }
  }

  /** Whoever changes an entry looks at it. */
  #changedNow(id: string, before: EntryReport): Partial<EntryReport> {
    this.look(id);
    const now = service.clock.iso().replace('.000Z', 'Z');
    return { updated_at: now, accessed_at: now, access_count: before.access_count + 1 };
  }

  /** A change tells what it changed: the fields it names, and no others. */
  async #patch(id: string, said: object): Promise<number> {
    const before = (await this.client.getEntry(id)).body;
    this.look(id);
    const { status, body } = await this.client.patchEntry(id, said);
    if (status === 200) {
      const changed = Object.keys(said).filter(
        (field) => JSON.stringify(body.memory[field]) !== JSON.stringify(before[field]),
      );
      expect(body.updated_fields.toSorted()).toEqual(changed.sort());
      expect(body.memory).toEqual({
        ...before,
        ...Object.fromEntries(changed.map((field) => [field, body.memory[field]])),
        ...(changed.length > 0 && this.#changedNow(id, before)),
      });
    }
    return status;
  }
}

const indexOf = (
  entries: readonly EntryReport[],
  wordsOf: (entry: EntryReport) => readonly string[],
  all: string[] = [],
) => {
  const words = new Set([...all, ...entries.flatMap(wordsOf)]);
  return Object.fromEntries(
    [...words].map((word) => [word, entries.filter((entry) => wordsOf(entry).includes(word)).map(({ id }) => id)]),
  );
};
const countBy = (entries: readonly EntryReport[], words: readonly string[], key: 'type' | 'importance') =>
  Object.fromEntries(words.map((word) => [word, entries.filter((entry) => entry[key] === word).length]));

/** What the stats have to be, as whoever counts the list would say. The live ones are oldest first. */
function countedIn(live: readonly EntryReport[], all: readonly EntryReport[]) {
  const times = live.map(({ created_at }) => created_at);
  const holders = Object.entries(indexOf(live, ({ tags }) => tags)).map(([tag, { length: count }]) => ({ tag, count }));
  const looks = Math.max(0, ...live.map(({ access_count }) => access_count));
  return {
    version: '1.0.0',
    last_updated: all.length === 0 ? Number.NaN : Math.max(...all.map(({ updated_at }) => Date.parse(updated_at))),
    statistics: {
      total_memories: live.length,
      by_type: countBy(live, ENTRY_TYPES, 'type'),
      by_importance: countBy(live, IMPORTANCES, 'importance'),
      archived_count: all.length - live.length,
      oldest_memory: times[0] ?? null,
      newest_memory: times.at(-1) ?? null,
      top_tags: holders.sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1)).slice(0, 10),
    },
    most_looks: looks,
    tags_index: indexOf(live, ({ tags }) => tags),
    category_index: indexOf(live, ({ category }) => (category === undefined ? [] : [category])),
    importance_index: indexOf(live, ({ importance }) => [importance], [...IMPORTANCES]),
  };
}

let repos = 0;

test('whatever is done, the stats are what the list counts, each look is counted once, and no limit is exceeded', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 22 }), async (steps) => {
      const journal = new Journal(new JournalClient(service, `random/${++repos}`));
      const { client } = journal;
      for (const action of steps) {
        expect([200, 201, 404, 422, 507]).toContain(await journal.carryOut(action));
        const { by_type } = (await client.stats()).statistics;
        for (const type of ENTRY_TYPES) expect(by_type[type]).toBeLessThanOrEqual(LIMITS[type]);
      }
      const stats = await client.stats();
      const byAge = { sort_by: 'created_at', sort_order: 'asc' };
      const shown = await client.listed({ ...byAge, archived: true });
      expect(shown.map(({ id }) => id)).toEqual([...journal.known.keys()]);
      // This list was a look too.
      const all = shown.map((entry) => ({ ...entry, access_count: entry.access_count - 1 }));
      expect(all.map(({ access_count }) => access_count)).toEqual(
        [...journal.known.values()].map(({ looks }) => looks),
      );
      const live = all.filter(({ archived }) => !archived);
      const { most_accessed, total_storage_bytes, ...statistics } = stats.statistics;
      expect({
        ...stats,
        statistics,
        last_updated: Date.parse(stats.last_updated ?? ''),
        most_looks: (most_accessed as EntryReport | null)?.access_count ?? 0,
      }).toEqual(countedIn(live, all));
      const lines = all.reduce((sum, entry) => sum + Buffer.byteLength(JSON.stringify(entry)), 0);
      expect(total_storage_bytes).toBeGreaterThanOrEqual(lines);
      expect(total_storage_bytes).toBeLessThan(lines + 200 * all.length + 1);
    }),
    { seed: 20_260_101, numRuns: 60 },
  );
});

const LETTERS = ['a', 'B', 'é', 'e\u0301', 'É', 'ß', 'ü', 'u\u0308', ' ', '%', '_', '数', '🙂', 'Ж', 'ж'];
const said = fc.array(fc.constantFrom(...LETTERS), { minLength: 1, maxLength: 6 }).map((letters) => letters.join(''));
const folded = (text: string): string => text.normalize('NFC').toLowerCase();

test('whatever is sought, a search finds exactly the entries whose text has it, in whatever case and composition', async () => {
  const client = new JournalClient(service, 'random/search');
  await fc.assert(
    fc.asyncProperty(fc.array(said, { minLength: 3, maxLength: 3 }), said, async (contents, search) => {
      fc.pre([search, ...contents].every((text) => text.trim() !== '' && text === text.trim() && !text.includes('  ')));
      const made = [];
      for (const content of contents) made.push(await client.entry(content));
      const fits = contents.filter((content) => folded(content).includes(folded(search)));
      for (const sought of [search, search.normalize('NFD'), search.toLowerCase()]) {
        expect((await client.page({ search: sought })).total).toBe(fits.length);
      }
      for (const { id } of made) await client.remove(id, { permanent: true });
    }),
    { seed: 20_260_101, numRuns: 60 },
  );
});
