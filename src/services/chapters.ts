import type { Change } from '../domain/changes.js';
import { isIdOf, typeOf } from '../domain/forms.js';
import type { ChapterDetail } from '../domain/narratives.js';
import { newNode } from '../domain/node.js';
import { checkRepoId } from '../domain/rules.js';
import { toSketch } from '../domain/sketches.js';
import { passGate, type Violation } from '../domain/violations.js';
import type {
  NarrativeFilter,
  NarrativeOrder,
  NarrativePlace,
  StoredEpisode,
  StoredNarrative,
} from '../storage/port.js';
import type { Context } from './context.js';
import { chapterWords, membership, type Narration, narrateChapter, patchOf } from './narration.js';
import { type Making, makeOnce, type Once } from './once.js';
import { retrying } from './retrying.js';
import { withPatience } from './wording.js';

export type { NarrativeFilter, NarrativeOrder, NarrativePlace, StoredNarrative } from '../storage/port.js';

export interface ChapterDraft {
  readonly title: string | null;
  readonly memoryIds: readonly string[];
  readonly tags: readonly string[];
  readonly topics: readonly string[];
}

/** A chapter and the ids of what it tells of, in their order. */
export interface Chapter {
  readonly narrative: StoredNarrative;
  readonly memberIds: readonly string[];
}

export async function createChapter(
  context: Context,
  repoId: string,
  { tags, topics, title, memoryIds }: ChapterDraft,
  once: Once | null,
): Promise<Chapter> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  const patient = withPatience(context);
  const plan = async (): Promise<Making> => {
    const sketches = (await episodesOf(context, repoId, memoryIds)).map(toSketch);
    const options = { key: null, title, isTitleGiven: true, given: { tags, topics } };
    const narration = await narrateChapter(patient, sketches, options);
    const id = `chapter_${context.newId()}`;
    return { ids: [id], changes: insertion(context, repoId, id, 'manual', narration) };
  };
  return makeOnce(context, repoId, once, plan, ([id]) => findChapter(context, repoId, id as string));
}

async function episodesOf(context: Context, repoId: string, ids: readonly string[]): Promise<StoredEpisode[]> {
  const wanted = ids.filter((id) => isIdOf('episode', id));
  const found = new Map((await context.store.getEpisodes(repoId, wanted, true)).map((one) => [one.id, one]));
  passGate(
    'integrity',
    ids.flatMap((id, place): Violation[] => {
      const message = `no episode ${JSON.stringify(id.slice(0, 80))} is known in this project`;
      return found.has(id) ? [] : [{ field: `memory_ids.${place}`, code: 'not_found', message }];
    }),
  );
  return [...found.values()];
}

export const insertion = (
  context: Context,
  repoId: string,
  id: string,
  origin: 'manual' | 'auto',
  { terms, memberIds, ...told }: Narration,
): Change[] => {
  const type = typeOf('chapter', origin);
  const node = newNode({ id, form: 'chapter', kind: origin, type, repoId, createdAtMs: context.now(), ...told });
  return [{ change: 'insert_node', node, terms }, membership(context, 'narrates', repoId, id, memberIds)];
};

/** A chapter by its id, archived or not. */
export async function findChapter({ store }: Context, repoId: string, id: string): Promise<Chapter | null> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  if (!isIdOf('chapter', id)) return null;
  const [narrative] = await store.getNarratives(repoId, [id], true);
  if (!narrative) return null;
  return { narrative, memberIds: (await store.findMembers(repoId, 'narrates', [id])).get(id) ?? [] };
}

/** The chapter with its episodes, in their order. Those in the archive are left out. */
export async function readChapter(
  context: Context,
  repoId: string,
  id: string,
): Promise<(Chapter & { readonly episodes: readonly StoredEpisode[] }) | null> {
  const chapter = await findChapter(context, repoId, id);
  if (!chapter) return null;
  const found = await context.store.getEpisodes(repoId, chapter.memberIds, false);
  const byId = new Map(found.map((episode) => [episode.id, episode]));
  context.store.noteAccess(repoId, [id], context.now());
  return { ...chapter, episodes: chapter.memberIds.flatMap((memberId) => byId.get(memberId) ?? []) };
}

export interface NarrativePage {
  readonly narratives: readonly { readonly narrative: StoredNarrative; readonly memberIds: readonly string[] }[];
  readonly next: NarrativePlace | null;
}

/** Chapters or wisdoms, newest first. */
export async function listNarratives(
  { store }: Context,
  repoId: string,
  filter: NarrativeFilter,
  order: NarrativeOrder,
  after: NarrativePlace | null,
  limit: number,
): Promise<NarrativePage> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  const found = await store.listNarratives(repoId, filter, order, after, limit + 1);
  const shown = found.slice(0, limit);
  const label = filter.form === 'chapter' ? 'narrates' : 'distills';
  const ids = shown.map(({ id }) => id);
  const members = await store.findMembers(repoId, label, ids);
  const last = shown.at(-1);
  return {
    narratives: shown.map((narrative) => ({ narrative, memberIds: members.get(narrative.id) ?? [] })),
    next: found.length > limit && last ? { value: placeOf(last, order), seq: last.seq } : null,
  };
}

const placeOf = ({ seq, detail }: StoredNarrative, order: NarrativeOrder): number =>
  order === 'recent' ? seq : detail.startMs;

/** Gives a chapter another title, or none; null when there is no such chapter. */
export function renameChapter(
  context: Context,
  repoId: string,
  id: string,
  title: string | null,
): Promise<Chapter | null> {
  return retrying(async () => {
    const chapter = await findChapter(context, repoId, id);
    if (!chapter) return null;
    const { narrative } = chapter;
    const detail = narrative.detail as ChapterDetail;
    if (detail.title === title && detail.text.isTitleGiven) return chapter;
    const { content, terms } = chapterWords(title, detail.text);
    const fields = { content, terms, detail: { ...detail, title, text: { ...detail.text, isTitleGiven: true } } };
    await context.store.apply({ space: repoId, changes: [patchOf(context, narrative, fields, 'renamed')] });
    return findChapter(context, repoId, id);
  });
}
