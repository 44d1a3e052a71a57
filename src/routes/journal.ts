import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import {
  ByEntry,
  EntriesAnswer,
  EntriesQuery,
  EntryDeleted,
  EntryDeletion,
  EntryInput,
  EntryPatchInput,
  EntryReport,
  EntryStored,
  EntryUpdated,
  presentEntries,
  presentEntry,
  presentStored,
  presentUpdated,
  toEntryDraft,
  toEntryFilter,
  toEntryPatch,
  toEntrySort,
  toOffset,
  toRewrite,
} from '../contracts/journal.js';
import { ByView, JournalStats, presentStats, presentView, ViewAnswer } from '../contracts/journal-views.js';
import { ref } from '../contracts/schema.js';
import { InRepo, OnceHeaders, problems, STORE_PROBLEMS } from '../contracts/shared.js';
import { toTags } from '../contracts/tags.js';
import type { Context } from '../services/context.js';
import { createEntry, listEntries, patchEntry, readEntry, removeEntry } from '../services/journal.js';
import { countJournal, readView } from '../services/journal-views.js';
import { found } from './found.js';
import { onceOf } from './once.js';

const LOOKUP = ['not_found', 'semantic_error', ...STORE_PROBLEMS] as const;
const CHANGE = [...LOOKUP, 'conflict', 'storage_full', 'limit_reached'] as const;

export const journalRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    const foundEntry = <Value>(value: Value | null, id: string, repoId: string): Value =>
      found(value, 'entry', 'entry_id', id, repoId);

    app.post(
      '/journal',
      {
        schema: {
          operationId: 'storeEntry',
          tags: ['journal'],
          summary: 'Write an entry, or with its id write it anew',
          description:
            'Where learnings or tasks are full, the idle ones make room and are named; where core is full, nothing is written.',
          querystring: InRepo,
          headers: OnceHeaders,
          body: ref(EntryInput),
          response: {
            200: ref(EntryStored),
            201: ref(EntryStored),
            ...problems([...CHANGE, 'idempotency_key_reused'], { body: true }),
          },
        },
      },
      async (request, reply) => {
        const { body } = request;
        const { repo_id: repoId } = request.query;
        if (body.id !== undefined) {
          const kept = await patchEntry(context, repoId, body.id, toRewrite(body), body.type);
          return presentStored(found(kept, 'entry', 'id', body.id, repoId), false);
        }
        const kept = await createEntry(context, repoId, toEntryDraft(body), onceOf(request));
        reply.code(201).header('location', `/journal/${kept.entry.id}?repo_id=${encodeURIComponent(repoId)}`);
        return presentStored(kept, true);
      },
    );

    app.get(
      '/journal',
      {
        schema: {
          operationId: 'listEntries',
          tags: ['journal'],
          summary: 'Entries; each that is shown counts as looked at',
          querystring: EntriesQuery,
          response: { 200: ref(EntriesAnswer), ...problems(['invalid_cursor', 'semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ query }) => {
        const { repo_id: repoId, limit } = query;
        const page = { offset: toOffset(query), limit };
        const filter = toEntryFilter(query, toTags(query.tags));
        return presentEntries(await listEntries(context, repoId, filter, toEntrySort(query), page), limit);
      },
    );

    app.get(
      '/journal/stats',
      {
        schema: {
          operationId: 'countJournal',
          tags: ['journal'],
          summary: 'What the journal holds, with its indexes by tag, category and importance',
          querystring: InRepo,
          response: { 200: ref(JournalStats), ...problems(['semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ query }) => presentStats(await countJournal(context, query.repo_id)),
    );

    app.get(
      '/journal/views/:view',
      {
        schema: {
          operationId: 'readView',
          tags: ['journal'],
          summary: 'A part of the journal; nobody counts as looked at',
          description:
            'recent: the 20 looked at last; core: by importance; learnings: made or looked at in the last 30 days; tasks-active: all tasks that were not put away; tasks-completed: done in the last 30 days.',
          params: ByView,
          querystring: InRepo,
          response: { 200: ref(ViewAnswer), ...problems(['semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ params, query }) => presentView(await readView(context, query.repo_id, params.view)),
    );

    app.get(
      '/journal/:entry_id',
      {
        schema: {
          operationId: 'getEntry',
          tags: ['journal'],
          summary: 'One entry; the look is counted',
          params: ByEntry,
          querystring: InRepo,
          response: { 200: ref(EntryReport), ...problems(LOOKUP) },
        },
      },
      async ({ params, query }) => {
        const entry = await readEntry(context, query.repo_id, params.entry_id);
        return presentEntry(foundEntry(entry, params.entry_id, query.repo_id));
      },
    );

    app.patch(
      '/journal/:entry_id',
      {
        schema: {
          operationId: 'patchEntry',
          tags: ['journal'],
          summary: 'Change some fields of an entry; the answer names those that changed',
          params: ByEntry,
          querystring: InRepo,
          body: ref(EntryPatchInput),
          response: { 200: ref(EntryUpdated), ...problems(CHANGE, { body: true }) },
        },
      },
      async ({ params, query, body }) => {
        const patched = await patchEntry(context, query.repo_id, params.entry_id, toEntryPatch(body));
        return presentUpdated(foundEntry(patched, params.entry_id, query.repo_id));
      },
    );

    app.delete(
      '/journal/:entry_id',
      {
        schema: {
          operationId: 'deleteEntry',
          tags: ['journal'],
          summary: 'Put an entry away, or remove it for good',
          params: ByEntry,
          querystring: EntryDeletion,
          response: { 200: ref(EntryDeleted), ...problems([...LOOKUP, 'conflict', 'storage_full']) },
        },
      },
      async ({ params, query }) => {
        const { repo_id: repoId, permanent } = query;
        const action = await removeEntry(context, repoId, params.entry_id, permanent);
        return { id: params.entry_id, action: foundEntry(action, params.entry_id, repoId) };
      },
    );
  };
