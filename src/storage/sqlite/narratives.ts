import { edgeKey, type Label } from '../../domain/links.js';
import type { ChapterDetail, WisdomDetail } from '../../domain/narratives.js';
import type { SpaceName } from '../../domain/spaces.js';
import type { Tier } from '../../domain/vocabulary.js';
import type { NarrativeFilter, NarrativeOrder, NarrativePlace, StoredNarrative } from '../port.js';
import type { Spaces } from './spaces.js';

const FORMS = ['chapter', 'wisdom'] as const;
type NarrativeForm = (typeof FORMS)[number];

const TABLES = {
  chapter: { name: 'chapters', title: 'c.title' },
  wisdom: { name: 'wisdom', title: 'NULL' },
} as const satisfies Record<NarrativeForm, { name: string; title: string }>;

const columnsOf = (
  form: NarrativeForm,
): string => `n.seq, n.id, n.form, n.kind, n.content, n.tier, n.archived_at, n.revision,
  n.created_at, c.updated_at, c.key, ${TABLES[form].title} AS title, c.start_at, c.end_at, c.text`;

export const getStatement = (form: NarrativeForm): string => `
  SELECT ${columnsOf(form)} FROM json_each(@ids) AS wanted CROSS JOIN nodes n ON n.id = wanted.value
  CROSS JOIN ${TABLES[form].name} c ON c.node_seq = n.seq WHERE @archived = 1 OR n.tier <> 'archive'`;

const ORDERS = { recent: 'c.node_seq', start: 'c.start_at' } as const satisfies Record<NarrativeOrder, string>;

export const listStatement = (form: NarrativeForm, order: NarrativeOrder): string => `
  SELECT ${columnsOf(form)} FROM ${TABLES[form].name} c CROSS JOIN nodes n ON n.seq = c.node_seq
  WHERE (${ORDERS[order]}, c.node_seq) < (@place, @placeSeq) AND (@archived = 1 OR n.tier <> 'archive')
  AND (@key IS NULL OR c.key = @key) AND (@kind IS NULL OR n.kind = @kind) AND (@since IS NULL OR c.start_at >= @since)
  AND (@before IS NULL OR c.end_at < @before)
  AND (@tags IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(@tags) AS w
    WHERE NOT EXISTS (SELECT 1 FROM node_tags t WHERE t.node_seq = n.seq AND t.tag = w.value)))
  ORDER BY ${ORDERS[order]} DESC, c.node_seq DESC LIMIT @limit`;

export const MEMBERS_OF_OWNERS = `
  SELECT wanted.key, m.id FROM json_each(?) AS wanted CROSS JOIN hyperedges e ON e.key = wanted.value
  CROSS JOIN membership s ON s.edge_seq = e.seq AND s.role = 'participant' CROSS JOIN nodes m ON m.seq = s.node_seq
  ORDER BY wanted.key, s.position`;

const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** Chapters and wisdom: what was made of what happened. */
export class Narratives {
  constructor(private readonly spaces: Spaces) {}

  getNarratives(space: SpaceName, ids: readonly string[], includeArchived: boolean): StoredNarrative[] {
    if (ids.length === 0) return [];
    const parameters = { ids: JSON.stringify([...new Set(ids)]), archived: includeArchived ? 1 : 0 };
    const rows = this.spaces.peek<NarrativeRow[]>(
      space,
      (connection) => FORMS.flatMap((form) => connection.all<NarrativeRow>(getStatement(form), parameters)),
      [],
    );
    return rows.map((row) => toNarrative(space, row));
  }

  listNarratives(
    space: SpaceName,
    filter: NarrativeFilter,
    order: NarrativeOrder,
    after: NarrativePlace | null,
    limit: number,
  ): StoredNarrative[] {
    const parameters = {
      place: after?.value ?? AFTER_ALL,
      placeSeq: after?.seq ?? AFTER_ALL,
      archived: filter.includeArchived ? 1 : 0,
      key: filter.key,
      kind: filter.kind,
      since: filter.sinceMs,
      before: filter.beforeMs,
      tags: filter.tags.length > 0 ? JSON.stringify(filter.tags) : null,
      limit,
    };
    const rows = this.spaces.peek<NarrativeRow[]>(
      space,
      (connection) => connection.all<NarrativeRow>(listStatement(filter.form, order), parameters),
      [],
    );
    return rows.map((row) => toNarrative(space, row));
  }

  findMembers(space: SpaceName, label: Label, ownerIds: readonly string[]): Map<string, string[]> {
    const members = new Map(ownerIds.map((id): [string, string[]] => [id, []]));
    const keys = ownerIds.map((nodeId) => edgeKey(label, [{ nodeId, role: 'subject' }]));
    const rows = this.spaces.peek<[number, string][]>(
      space,
      (connection) => connection.rows<[number, string]>(MEMBERS_OF_OWNERS, JSON.stringify(keys)),
      [],
    );
    for (const [place, id] of rows) members.get(ownerIds[place] as string)?.push(id);
    return members;
  }
}

interface NarrativeRow {
  seq: number;
  id: string;
  form: NarrativeForm;
  kind: string;
  content: string;
  tier: Tier;
  archived_at: number | null;
  revision: number;
  created_at: number;
  updated_at: number;
  key: string | null;
  title: string | null;
  start_at: number;
  end_at: number;
  text: string;
}

const toNarrative = (space: SpaceName, row: NarrativeRow): StoredNarrative => ({
  id: row.id,
  seq: row.seq,
  repoId: space,
  kind: row.kind,
  content: row.content,
  tier: row.tier,
  archivedAtMs: row.archived_at,
  revision: row.revision,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
  detail: toDetail(row),
});

function toDetail(row: NarrativeRow): ChapterDetail | WisdomDetail {
  const { form, key, start_at: startMs, end_at: endMs } = row;
  const text: unknown = JSON.parse(row.text);
  return form === 'chapter'
    ? { form, key, title: row.title, startMs, endMs, text: text as ChapterDetail['text'] }
    : { form, key, startMs, endMs, text: text as WisdomDetail['text'] };
}
