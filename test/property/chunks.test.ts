import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHUNK_TYPES, type ChunkType } from '../../src/domain/chunk-types.js';
import { ChunkClient, type ChunkReport, textOf } from '../support/chunks.js';
import { select } from '../support/rows.js';
import { type Service, startService } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** What to do, with numbers in place of ids: whom a number means is known only when it is done. */
type Step =
  | { do: 'create'; talk: number; tokens: number; type: ChunkType }
  | { do: 'remember'; talk: number; parts: number }
  | { do: 'patch'; target: number; tokens: number; type: ChunkType; tags: string[] }
  | { do: 'archive' | 'restore' | 'purge'; target: number }
  | { do: 'link'; target: number; other: number }
  | { do: 'wait'; ms: number };

const target = fc.nat(12);
const talk = fc.nat(2);
const tokens = fc.integer({ min: 1, max: 20 });
const type = fc.constantFrom(...CHUNK_TYPES);
const only = <Word extends string>(word: Word) => fc.constant(word);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: only('create'), talk, tokens, type }) },
  { weight: 1, arbitrary: fc.record({ do: only('remember'), talk, parts: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: only('patch'), target, tokens, type, tags: fc.uniqueArray(fc.constantFrom('a', 'b')) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('archive' as const, 'restore' as const, 'purge' as const), target }),
  },
  { weight: 1, arbitrary: fc.record({ do: only('link'), target, other: target }) },
  { weight: 1, arbitrary: fc.record({ do: only('wait'), ms: fc.constantFrom(1, 299_999, 300_001) }) },
);

const idAt = (ids: readonly string[], number: number): string =>
  ids[number % Math.max(1, ids.length)] ?? 'chunk-2026-01-01-ffffffff';

async function carryOut(client: ChunkClient, ids: string[], action: Step): Promise<number> {
  switch (action.do) {
    case 'create': {
      const fields = { conversation_id: `talk ${action.talk}`, type: action.type, tags: ['a'] };
      const { status, body } = await client.postChunk({ content: textOf(action.tokens), ...fields });
      ids.push(body.id);
      return status;
    }
    case 'remember': {
      const content = Array(action.parts).fill(textOf(110)).join('\n\n');
      const { status, body } = await client.postText({ content, conversation_id: `talk ${action.talk}` });
      ids.push(...body.chunk_ids);
      return status;
    }
    case 'patch':
      return (
        await client.patchChunk(idAt(ids, action.target), {
          content: textOf(action.tokens),
          type: action.type,
          tags: action.tags,
        })
      ).status;
    case 'archive':
      return (await client.deleteChunk(idAt(ids, action.target))).status;
    case 'restore':
      return (await client.postRestore(idAt(ids, action.target))).status;
    case 'purge':
      return (await client.deleteChunk(idAt(ids, action.target), { permanent: true })).status;
    case 'link': {
      const fields = { target_id: idAt(ids, action.other), type: 'supports' };
      return (await client.postLink(idAt(ids, action.target), fields)).status;
    }
    case 'wait':
      service.clock.advance(action.ms);
      return 200;
  }
}

/** What the stats have to be, as whoever counts the list would say. */
function countedIn(live: readonly ChunkReport[], all: readonly ChunkReport[]) {
  const byType = CHUNK_TYPES.map((word) => [word, live.filter((chunk) => chunk.type === word).length]);
  return {
    total_chunks: live.length,
    archived_chunks: all.length - live.length,
    by_type: Object.fromEntries(byType),
    total_tokens: all.reduce((sum, chunk) => sum + chunk.tokens, 0),
    conversations: new Set(all.map(({ metadata }) => metadata.conversation_id)).size,
  };
}

const FOLLOW_MS = 300_000;
const madeAt = ({ metadata }: ChunkReport): number => Date.parse(metadata.created);
const shares = (one: ChunkReport, other: ChunkReport): boolean => one.tags.some((tag) => other.tags.includes(tag));
const isSameTalk = (one: ChunkReport, other: ChunkReport): boolean =>
  one.metadata.conversation_id === other.metadata.conversation_id;

/** Who the chunk has to be linked with, told from the list, which is newest first. */
function linksIn(live: readonly ChunkReport[], place: number) {
  const one = live[place] as ChunkReport;
  const ids = (fits: (other: ChunkReport, at: number) => boolean): string[] =>
    live.flatMap((other, at) => (at !== place && fits(other, at) ? [other.id] : [])).sort();
  return {
    context_of: ids((other) => isSameTalk(one, other)),
    follows: ids((other, at) => isSameTalk(one, other) && at > place && madeAt(one) - madeAt(other) <= FOLLOW_MS),
    related_to: ids((other) => !isSameTalk(one, other) && shares(one, other)),
  };
}

let repos = 0;

test('whatever is done, the stats, the links and the rows are what the list of chunks says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 18 }), async (steps) => {
      const client = new ChunkClient(service, `random/${++repos}`);
      const ids: string[] = [];
      for (const action of steps) expect(await carryOut(client, ids, action)).toBeLessThan(500);
      const live = await client.allChunks({ limit: 3 });
      const all = await client.allChunks({ limit: 100, include_archived: true });
      expect((await client.getStats().expect(200)).body).toEqual(countedIn(live, all));
      for (const [place, { links }] of live.entries()) {
        const shown = {
          context_of: links.context_of.toSorted(),
          follows: links.follows.toSorted(),
          related_to: links.related_to.toSorted(),
        };
        // A chunk shows no more than 20 of each sort.
        if (live.length <= 20) expect(shown).toEqual(linksIn(live, place));
        expect(live.map(({ id }) => id)).toEqual(expect.arrayContaining(links.supports));
      }
      const count = (sql: string) => select(service, client.repoId, sql)[0]?.many ?? 0;
      const talks = countedIn(live, all).conversations;
      expect(count("SELECT count(*) AS many FROM membership WHERE label = 'context_of'")).toBe(all.length);
      expect(count("SELECT count(*) AS many FROM hyperedges WHERE label = 'context_of'")).toBe(talks);
    }),
    { seed: 20_260_101, numRuns: 60 },
  );
});
