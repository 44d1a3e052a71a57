import { sql } from 'drizzle-orm';

/** The check that a column holds one of these words. */
export const oneOf = (column: string, words: readonly string[]) =>
  sql.raw(`"${column}" in (${words.map((word) => `'${word}'`).join(', ')})`);
