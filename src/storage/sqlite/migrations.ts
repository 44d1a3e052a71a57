import { fileURLToPath } from 'node:url';
import type { Database } from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { StoreUnavailable } from '../port.js';

const FOLDER = fileURLToPath(new URL('../../../drizzle/sqlite', import.meta.url));

/** Read once for the whole process: a store opens many files. */
const MIGRATIONS = readMigrationFiles({ migrationsFolder: FOLDER });

/**
 * Brings one file to the current schema, in one transaction, and notes it where Drizzle's own tools look for it. Foreign keys are
 * off meanwhile, because a table that a migration rebuilds must not take the rows that refer to it along; the check follows.
 */
export function migrate(db: Database, name: string): void {
  const applied = appliedMigrations(db);
  const newest = MIGRATIONS.at(-1)?.folderMillis ?? 0;
  if (applied > newest) {
    throw new StoreUnavailable(
      'newer',
      `${name} was written by a newer version of Loci; start that version, or restore a backup`,
    );
  }
  if (applied === newest) return;
  db.pragma('foreign_keys = OFF');
  db.transaction(() => {
    db.exec(
      'CREATE TABLE IF NOT EXISTS __drizzle_migrations (id INTEGER PRIMARY KEY, hash text NOT NULL, created_at numeric)',
    );
    const note = db.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)');
    for (const migration of MIGRATIONS) {
      if (migration.folderMillis <= applied) continue;
      for (const statement of migration.sql) db.exec(statement);
      note.run(migration.hash, migration.folderMillis);
    }
    const broken = db.pragma('foreign_key_check') as unknown[];
    if (broken.length > 0)
      throw new StoreUnavailable(
        'unusable',
        `${name} cannot be brought to the present version, because ${broken.length} references in it would lead nowhere; ` +
          'nothing was changed, restore it from a backup',
      );
  }).immediate();
}

function appliedMigrations(db: Database): number {
  const known = db.prepare("SELECT 1 FROM sqlite_master WHERE name = '__drizzle_migrations'").get();
  if (!known) return 0;
  const row = db.prepare('SELECT max(created_at) AS at FROM __drizzle_migrations').get() as { at: number | null };
  return row.at ?? 0;
}
