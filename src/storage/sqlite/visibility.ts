import { REFERENCE_FORM } from '../../domain/forms.js';
import type { View } from '../../domain/spaces.js';

/** Whether a node is archived, seen from `@asOf`: its beginning and its last move into or out of the archive up to then are in the log. */
export const ARCHIVED = `(CASE WHEN @asOf IS NULL THEN n.tier = 'archive' ELSE (
    SELECT l.to_tier = 'archive' FROM evolution_nodes h CROSS JOIN evolution_log l ON l.seq = h.log_seq
    WHERE h.node_seq = n.seq AND l.at <= @asOf AND l.operation IN ('create', 'archive', 'restore')
    ORDER BY h.log_seq DESC LIMIT 1) IS TRUE END)`;

/**
 * Whether a node says what it said at `@asOf`. What it said before is kept nowhere, so one whose text was changed since
 * has nothing to show; a move or another confidence takes nothing from its text. A memory's never changes.
 */
const SAID_THEN = `(n.form = 'memory' OR n.updated_at <= @asOf OR NOT EXISTS (
    SELECT 1 FROM evolution_nodes h JOIN evolution_log l ON l.seq = h.log_seq
    WHERE h.node_seq = n.seq AND l.at > @asOf AND l.operation = 'update' AND l.reasoning LIKE 'changed content%'))`;

/**
 * The one predicate through which every read of nodes goes. Bound by name, so that no statement can forget a part of it:
 * `@kinds` is a JSON list of kinds of memory and wisdom or null, `@asOf` a time or null, `@archived` 1 to show archived nodes too,
 * `@session` a session whose notes alone are shown of the tiers that are not shared, or null.
 */
export const VISIBLE = `
  n.form <> '${REFERENCE_FORM}'
  AND (@kinds IS NULL OR (n.form IN ('memory', 'wisdom') AND n.kind IN (SELECT value FROM json_each(@kinds))))
  AND (@asOf IS NULL OR (n.created_at <= @asOf AND ${SAID_THEN}))
  AND (@session IS NULL OR n.session_id = @session OR n.tier NOT IN ('task', 'session'))
  AND (@archived = 1 OR NOT ${ARCHIVED})`;

export interface VisibilityParameters {
  readonly kinds: string | null;
  readonly asOf: number | null;
  readonly archived: 0 | 1;
  readonly session: string | null;
}

export const visibility = (view: View): VisibilityParameters => ({
  kinds: view.kinds === null ? null : JSON.stringify(view.kinds),
  asOf: view.asOfMs,
  archived: view.includeArchived ? 1 : 0,
  session: view.sessionId,
});
