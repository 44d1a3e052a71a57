import fc from 'fast-check';
import type { Change, Plan } from '../../../src/domain/changes.js';
import type { Label } from '../../../src/domain/links.js';
import { GLOBAL_SPACE } from '../../../src/domain/spaces.js';
import { attach, idOf, insert, keep, link, move, OTHER_REPO, REPO, vote } from '../../support/plans.js';
import type { PlainStore } from './plain-store.js';
import { LABELS } from './subject.js';

/** Few words, so that plans meet each other: the same texts, keys and memories again and again. */
export const SPACES = [REPO, OTHER_REPO, GLOBAL_SPACE];
export const KINDS = ['fact', 'problem', 'change'];
export const TEXTS = ['redis port', 'Redis  port', 'cart', 'cart redis', 'till'];
export const KEYS = ['key-1', 'key-2'];

/** Nobody's id: some plans have to fail. */
const NOBODY = idOf(999);

/** What to do, with numbers in place of ids: which memory a number means is known only when the plan is made. */
type Intent =
  | { do: 'insert'; kind: string; content: string; refuse: boolean }
  | { do: 'archive' | 'restore'; target: number }
  | { do: 'link'; label: Label; targets: number[] }
  | { do: 'vote'; targets: number[]; vote: number }
  | { do: 'attach'; target: number; refs: string[] }
  | { do: 'keep'; key: string; forget: boolean };

const number = fc.nat(30);
const numbers = fc.array(number, { minLength: 3, maxLength: 3 });
const anyInsert = fc.record({
  do: fc.constant('insert' as const),
  kind: fc.constantFrom(...KINDS),
  content: fc.constantFrom(...TEXTS),
  refuse: fc.boolean(),
});
const anyIntent: fc.Arbitrary<Intent> = fc.oneof(
  { weight: 4, arbitrary: anyInsert },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('archive', 'restore'), target: number }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('link' as const),
      label: fc.constantFrom(...(LABELS as Label[])),
      targets: numbers,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('vote' as const), targets: numbers, vote: fc.constantFrom(-1, 0, 0.5, 1) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('attach' as const),
      target: number,
      refs: fc.subarray(['a', 'b', 'c'], { minLength: 1 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('keep' as const), key: fc.constantFrom(...KEYS), forget: fc.boolean() }),
  },
);
export const anySteps = fc.array(
  fc.record({ space: fc.constantFrom(...SPACES), intents: fc.array(anyIntent, { minLength: 1, maxLength: 4 }) }),
  { maxLength: 25 },
);

/** A plan over what the model knows; an intent that makes no sense there is left out. */
export function planOf(
  model: PlainStore,
  space: string,
  intents: readonly Intent[],
  atMs: number,
  nextId: () => string,
): Plan {
  const own = model.idsIn(space);
  const known = [...new Set([...own, ...model.idsIn(GLOBAL_SPACE)]), NOBODY];
  const changes: Change[] = [];
  for (const intent of intents) {
    if (intent.do === 'insert') known.unshift(nextId());
    const change = changeOf(intent, space, own, known, atMs);
    if (change) changes.push(change);
  }
  return { space, changes };
}

const ARCHIVE = { from: 'longterm', to: 'archive' } as const;
const RESTORE = { from: 'archive', to: 'longterm' } as const;

function changeOf(
  intent: Intent,
  space: string,
  own: readonly string[],
  known: readonly string[],
  atMs: number,
): Change | null {
  const at = { atMs, repoId: space === GLOBAL_SPACE ? REPO : space };
  const pick = (index: number): string => known[index % known.length] as string;
  switch (intent.do) {
    case 'insert': {
      const { kind, content, refuse } = intent;
      const scope = space === GLOBAL_SPACE ? 'global' : 'repo';
      return insert(pick(0), { kind, content, scope, repoId: at.repoId, createdAtMs: atMs }, refuse);
    }
    case 'archive':
    case 'restore': {
      const nodeId = own[intent.target % own.length];
      const way = intent.do === 'archive' ? ARCHIVE : RESTORE;
      return nodeId === undefined ? null : move(nodeId, { ...way, ...at, reason: 'because' });
    }
    case 'link': {
      const ids = intent.targets.slice(0, intent.label === 'fact_update' ? 3 : 2).map(pick);
      return new Set(ids).size < ids.length ? null : link(intent.label, ids, at);
    }
    case 'vote': {
      const [memoryId, problemId] = intent.targets.map(pick) as [string, string];
      return memoryId === problemId ? null : vote(memoryId, problemId, { vote: intent.vote, ...at });
    }
    case 'attach':
      return attach({ of: 'node', id: pick(intent.target) }, intent.refs, at);
    case 'keep':
      return keep(intent.key, { ...at, forgetBeforeMs: intent.forget ? atMs : 0 });
  }
}
