import { afterEach, beforeEach, describe } from 'vitest';
import { atomicity } from './conformance/atomicity.js';
import { chunks } from './conformance/chunks.js';
import { concurrency } from './conformance/concurrency.js';
import { edges } from './conformance/edges.js';
import { entries } from './conformance/entries.js';
import { episodes } from './conformance/episodes.js';
import { evidence } from './conformance/evidence.js';
import { lifetime } from './conformance/lifetime.js';
import { links } from './conformance/links.js';
import { memories } from './conformance/memories.js';
import { model } from './conformance/model.js';
import { narratives } from './conformance/narratives.js';
import { nodeSearch } from './conformance/node-search.js';
import { nodes } from './conformance/nodes.js';
import { replacements } from './conformance/replacements.js';
import { replies } from './conformance/replies.js';
import { repos } from './conformance/repos.js';
import { search } from './conformance/search.js';
import { type OpenStore, Subject } from './conformance/subject.js';
import { votes } from './conformance/votes.js';

const PARTS = {
  atomicity,
  concurrency,
  memories,
  search,
  nodeSearch,
  links,
  nodes,
  edges,
  entries,
  episodes,
  chunks,
  narratives,
  replacements,
  votes,
  evidence,
  replies,
  repos,
  lifetime,
  model,
} satisfies Record<string, (subject: Subject) => void>;

/**
 * The contract of `Store`, as tests that know no engine: every store has to pass them. `open` gives a new, empty store each time.
 */
export function storeConformance(name: string, open: OpenStore): void {
  const subject = new Subject(open);
  describe(`${name} keeps the contract of a store`, () => {
    beforeEach(() => subject.setUp());
    afterEach(() => subject.tearDown());
    for (const [part, tests] of Object.entries(PARTS)) describe(part, () => tests(subject));
  });
}
