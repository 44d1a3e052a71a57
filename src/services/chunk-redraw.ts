import { setImmediate } from 'node:timers/promises';
import type { Change } from '../domain/changes.js';
import { type ChunkLinkWord, DRAWN_STRENGTH_DEFAULT, FOLLOW_MS } from '../domain/chunks.js';
import { isIdOf } from '../domain/forms.js';
import { edgeKey, LINKS, membersOf } from '../domain/links.js';
import { viewOf } from '../domain/spaces.js';
import type { StoredChunk } from '../storage/port.js';
import type { Context } from './context.js';

/** A link that a file tells of. */
export interface WantedLink {
  readonly id: string;
  readonly word: ChunkLinkWord;
  readonly targetId: string;
}

/** The strengths of links that were drawn, by `id word targetId`. */
export type LinkStrengths = ReadonlyMap<string, number>;

const BATCH_LINKS = 100;

/** Draws those of the links that do not come about by themselves and lead somewhere. */
export async function redrawLinks(
  context: Context,
  repoId: string,
  wanted: readonly WantedLink[],
  strengths: LinkStrengths,
): Promise<{ readonly drawn: number; readonly dropped: number }> {
  let [drawn, dropped] = [0, 0];
  for (let start = 0; start < wanted.length; start += BATCH_LINKS) {
    const batch = wanted.slice(start, start + BATCH_LINKS);
    const ids = [...new Set(batch.flatMap(({ id, targetId }) => [id, targetId]))].filter((id) => isIdOf('chunk', id));
    const chunks = new Map((await context.store.chunks.getChunks(repoId, ids, true)).map((chunk) => [chunk.id, chunk]));
    const open = batch.filter((link) => !comesByItself(link, chunks));
    const drawable = open.filter((link) => isDrawable(link, chunks));
    dropped += open.length - drawable.length;
    drawn += await drawAll(context, repoId, drawable, strengths);
    await setImmediate();
  }
  return { drawn, dropped };
}

function comesByItself({ id, word, targetId }: WantedLink, chunks: ReadonlyMap<string, StoredChunk>): boolean {
  const [one, other] = [chunks.get(id), chunks.get(targetId)];
  if (!one || !other) return false;
  const isSameTalk = one.conversationId === other.conversationId;
  switch (word) {
    case 'context_of':
      return isSameTalk;
    case 'follows': {
      const betweenMs = one.createdAtMs - other.createdAtMs;
      return isSameTalk && betweenMs >= 0 && betweenMs <= FOLLOW_MS;
    }
    case 'related_to':
      return !isSameTalk && one.tags.some((tag) => other.tags.includes(tag));
    default:
      return false;
  }
}

const isDrawable = ({ id, word, targetId }: WantedLink, chunks: ReadonlyMap<string, StoredChunk>): boolean =>
  word !== 'context_of' && id !== targetId && chunks.has(id) && chunks.has(targetId);

async function drawAll(
  context: Context,
  repoId: string,
  links: readonly WantedLink[],
  strengths: LinkStrengths,
): Promise<number> {
  const byKey = new Map(
    links.map((link) => {
      const members = membersOf(link.word, [link.id, link.targetId]);
      return [edgeKey(link.word, members), { ...link, members }];
    }),
  );
  const standing = await context.store.findEdgesByKey(viewOf(repoId, { includeGlobal: false }), [...byKey.keys()]);
  const changes = [...byKey].flatMap(([key, { id, word, targetId, members }]): Change[] =>
    standing.has(key)
      ? []
      : [
          {
            change: 'insert_edge',
            id: context.newId(),
            repoId,
            type: LINKS[word].type,
            label: word,
            weight: strengths.get(`${id} ${word} ${targetId}`) ?? DRAWN_STRENGTH_DEFAULT,
            origin: 'manual',
            rationale: null,
            members,
            atMs: context.now(),
          },
        ],
  );
  if (changes.length > 0) await context.store.apply({ space: repoId, changes });
  return changes.length;
}
