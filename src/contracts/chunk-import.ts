import Type, { type Static } from 'typebox';
import type { ChunkImport } from '../services/chunk-transfer.js';
import { named, withDefaults } from './schema.js';

/** `/chunks/import` and `/chunks/export`: a whole tree of chunks as one archive. */

export const TAR = 'application/x-tar';

export const ARCHIVE = { content: { [TAR]: { schema: Type.Unsafe<unknown>({ description: 'A tar archive' }) } } };

export const ChunkImportQuery = withDefaults({
  repo_id: Type.String({ minLength: 1, default: 'default', description: 'The repo to bring them into' }),
  dry_run: Type.Boolean({ default: false, description: 'Read everything and say what would be done' }),
});

export const ChunkImportReport = named(
  'ChunkImportReport',
  Type.Object({
    dry_run: Type.Boolean(),
    imported: Type.Integer({ description: 'Chunks that are new, archived ones among them', examples: [120] }),
    archived: Type.Integer({ description: 'How many of these went to the archive' }),
    unchanged: Type.Integer({ description: 'Chunks that were there already and say the same' }),
    links_drawn: Type.Integer({ description: 'Links that do not come about by themselves' }),
    links_dropped: Type.Integer({ description: 'Links that lead nowhere, or that chunks cannot have' }),
    skipped_count: Type.Integer(),
    skipped: Type.Array(Type.Object({ path: Type.String(), reason: Type.String() }), {
      description: 'Files that brought nothing, and why: the first 1,000',
    }),
    complete: Type.Boolean({ description: 'False when the archive ended in the middle or could not be read on' }),
  }),
);

export const presentImport = (report: ChunkImport, dryRun: boolean): Static<typeof ChunkImportReport> => ({
  dry_run: dryRun,
  imported: report.imported,
  archived: report.archived,
  unchanged: report.unchanged,
  links_drawn: report.linksDrawn,
  links_dropped: report.linksDropped,
  skipped_count: report.skippedCount,
  skipped: [...report.skipped],
  complete: report.isComplete,
});
