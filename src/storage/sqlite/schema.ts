/** The schema of every space file, as the generator of migrations reads it. */

export * from './schema-chunks.js';
export * from './schema-entries.js';
export * from './schema-episodes.js';
export * from './schema-graph.js';
