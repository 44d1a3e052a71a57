/**
 * A space is the unit of storage and isolation: one for each repo and one for everything of global scope.
 * The global space's name cannot be a repo id, because a repo id is never empty.
 */
export const GLOBAL_SPACE = '';

export type SpaceName = string;

/** What one request may see. Every read of the store takes a view, so there is no way to ask past it. */
export interface View {
  readonly spaces: readonly SpaceName[];
  readonly includeArchived: boolean;
  /** The past moment to look from; null is now. */
  readonly asOfMs: number | null;
  /** The only kinds to show; null shows all. */
  readonly kinds: readonly string[] | null;
  /** Of the tiers task and session only what belongs to this session; null shows what any session noted. */
  readonly sessionId: string | null;
}

export function viewOf(
  repoId: string,
  options: {
    includeGlobal?: boolean;
    includeArchived?: boolean;
    asOfMs?: number | null;
    kinds?: readonly string[] | null;
    sessionId?: string | null;
  } = {},
): View {
  return {
    spaces: options.includeGlobal === false ? [repoId] : [repoId, GLOBAL_SPACE],
    includeArchived: options.includeArchived ?? false,
    asOfMs: options.asOfMs ?? null,
    kinds: options.kinds ?? null,
    sessionId: options.sessionId ?? null,
  };
}

/** A relation lives in the global space only when everything it joins is global; a repo's relation may reach out to global nodes. */
export const spaceOfRelation = (repoId: string, scopes: readonly string[]): SpaceName =>
  scopes.every((scope) => scope === 'global') ? GLOBAL_SPACE : repoId;
