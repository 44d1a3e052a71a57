import type { Test } from 'supertest';
import type { EntryReport } from '../../src/contracts/journal.js';
import type { Change } from '../../src/domain/changes.js';
import type { EntryDetail } from '../../src/domain/entries.js';
import { typeOf } from '../../src/domain/forms.js';
import { newNode } from '../../src/domain/node.js';
import { indexTerms } from '../../src/domain/terms.js';
import type { EntryFilter } from '../../src/storage/port.js';
import { REPO, START_MS } from './plans.js';
import type { Service } from './service.js';

export type { EntryReport } from '../../src/contracts/journal.js';

/** The journal as its callers use it. */

export const UNKNOWN_ENTRY_ID = 'ffffffff-ffff-4fff-8fff-ffffffffffff';
export const DAY_MS = 86_400_000;

export const ANY_ENTRY: EntryFilter = {
  type: null,
  tags: [],
  search: null,
  importance: null,
  category: null,
  status: null,
  includeArchived: false,
  activeSinceMs: null,
  completedSinceMs: null,
};

/** The present moment as the journal prints it. */
export const momentNow = ({ clock }: Service): string => clock.iso().replace('.000Z', 'Z');

type Query = Record<string, string | number | boolean>;

export interface EntryPage {
  readonly memories: EntryReport[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface StatsReport {
  readonly version: string;
  readonly last_updated: string | null;
  readonly statistics: Record<string, unknown> & {
    readonly by_type: Record<string, number>;
    readonly total_storage_bytes: number;
  };
  readonly tags_index: Record<string, string[]>;
  readonly category_index: Record<string, string[]>;
  readonly importance_index: Record<string, string[]>;
}

/** Sends requests for one repo. What is a verb is sent as it stands, so that a test says what it expects of it. */
export class JournalClient {
  constructor(
    private readonly service: Service,
    readonly repoId = REPO,
  ) {}

  /** A learning, unless it is said otherwise. */
  postEntry = (fields: object = {}): Test =>
    this.#http('post', '/journal').send({ type: 'learning', content: 'Found out', ...fields });
  getEntry = (id: string): Test => this.#http('get', entryPath(id));
  getEntries = (query: Query = {}): Test => this.#http('get', '/journal').query(query);
  patchEntry = (id: string, fields: object): Test => this.#http('patch', entryPath(id)).send(fields);
  deleteEntry = (id: string, query: Query = {}): Test => this.#http('delete', entryPath(id)).query(query);
  getView = (view: string): Test => this.#http('get', `/journal/views/${view}`);
  getStats = (): Test => this.#http('get', '/journal/stats');

  /** A new entry. */
  async entry(content: string, fields: object = {}): Promise<EntryReport> {
    return (await this.postEntry({ content, ...fields }).expect(201)).body.memory;
  }

  async task(content: string, task_metadata?: object): Promise<EntryReport> {
    return this.entry(content, { type: 'task', ...(task_metadata && { task_metadata }) });
  }

  async read(id: string): Promise<EntryReport> {
    return (await this.getEntry(id).expect(200)).body;
  }

  async page(query: Query = {}): Promise<EntryPage> {
    return (await this.getEntries(query).expect(200)).body;
  }

  /** The first page of a list. */
  async listed(query: Query = {}): Promise<EntryReport[]> {
    return (await this.page({ limit: 100, ...query })).memories;
  }

  /** All pages of the list, one after the other; no more of them than there can be. */
  async allEntries(query: Query = {}, pagesMax = 200): Promise<EntryReport[]> {
    const rows: EntryReport[] = [];
    let page = await this.page(query);
    for (let count = 1; ; count++) {
      rows.push(...page.memories);
      if (page.next_cursor === null) return rows;
      if (count === pagesMax) throw new Error('the list has no end');
      page = await this.page({ ...query, cursor: page.next_cursor });
    }
  }

  async patch(
    id: string,
    fields: object,
  ): Promise<{ memory: EntryReport; updated_fields: string[]; archived_ids: string[] }> {
    return (await this.patchEntry(id, fields).expect(200)).body;
  }

  async remove(id: string, query: Query = {}): Promise<void> {
    await this.deleteEntry(id, query).expect(200);
  }

  async view(
    name: string,
  ): Promise<{ memories: EntryReport[]; count: number; total: number } & Record<string, unknown>> {
    return (await this.getView(name).expect(200)).body;
  }

  async stats(): Promise<StatsReport> {
    return (await this.getStats().expect(200)).body;
  }

  /** Which of the entries are not in the archive, told by the stats, so that nobody is looked at. */
  async liveIds(): Promise<string[]> {
    return Object.values((await this.stats()).importance_index)
      .flat()
      .sort();
  }

  #http(method: 'get' | 'post' | 'patch' | 'delete', path: string): Test {
    return this.service.http[method](path).query({ repo_id: this.repoId });
  }
}

const entryPath = (id: string): string => `/journal/${encodeURIComponent(id)}`;

export const contentsOf = (entries: readonly { content: string }[]): string[] => entries.map(({ content }) => content);

interface EntryChange extends Partial<Omit<EntryDetail, 'form'>> {
  readonly content?: string;
  readonly createdAtMs?: number;
}

/** An entry as a change. */
export function entry(id: string, fields: EntryChange = {}): Change {
  const { content = `entry ${id}`, createdAtMs = START_MS, ...rest } = fields;
  const detail = entryDetail(rest);
  const { type, tags } = detail;
  const about = { repoId: REPO, content, tags, createdAtMs, detail };
  const node = newNode({ id, form: 'entry', kind: type, type: typeOf('entry', type), ...about });
  return { change: 'insert_node', node, terms: indexTerms(content) };
}

export const entryDetail = (fields: Partial<Omit<EntryDetail, 'form'>> = {}): EntryDetail => ({
  form: 'entry',
  type: 'learning',
  category: null,
  importance: 'medium',
  task: null,
  tags: [],
  bytes: 100,
  ...fields,
});
