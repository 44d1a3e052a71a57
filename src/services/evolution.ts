import { setImmediate } from 'node:timers/promises';
import { decayOf } from '../domain/decay.js';
import { type Drift, driftOf } from '../domain/drift.js';
import { viewOf } from '../domain/spaces.js';
import type { ConfidenceUpdate, NodePlace, NodeWear } from '../storage/port.js';
import type { Context } from './context.js';
import { EvolutionPlan } from './evolution-plan.js';
import { ANY, refuseRepo } from './evolving.js';
import { findNode } from './nodes.js';
import { retrying } from './retrying.js';

const PAGE_NODES = 500;

export interface DecaySettings {
  readonly factor: number;
  readonly minConfidence: number;
}

export interface Decayed {
  readonly examined: number;
  readonly decayed: number;
  readonly archived: number;
  readonly nodes: readonly {
    readonly id: string;
    readonly from: number;
    readonly to: number;
    readonly archived: boolean;
  }[];
}

/** How many of the nodes that decayed are named. */
const DECAYED_NAMED_MAX = 1_000;

/** What nobody asked for loses confidence with every day, and leaves sight when little is left. A plan for every page. */
export async function decayNodes(
  context: Context,
  repoId: string,
  settings: DecaySettings,
  dryRun: boolean,
): Promise<Decayed> {
  refuseRepo(repoId);
  const total = { examined: 0, decayed: 0, archived: 0, nodes: [] as Decayed['nodes'][number][] };
  const seen = new Set<string>();
  for (let after: NodePlace | null = null; ; ) {
    const { page, changes }: DecayedPage = await decayPage(context, repoId, after, seen, settings, dryRun);
    const last = page.at(-1);
    if (!last) return total;
    // A node that lost confidence moves down the list, and may come along again.
    total.examined += page.filter(({ id }) => !seen.has(id)).length;
    for (const { id } of page) seen.add(id);
    for (const change of changes) {
      total.decayed += change.archived ? 0 : 1;
      total.archived += change.archived ? 1 : 0;
      if (total.nodes.length < DECAYED_NAMED_MAX) total.nodes.push(change);
    }
    after = { confidence: last.confidence ?? 0, seq: last.seq };
    await setImmediate();
  }
}

interface DecayedPage {
  readonly page: readonly NodeWear[];
  readonly changes: readonly Decayed['nodes'][number][];
}

/** When somebody else was faster the page is read again, from the same place on. */
const decayPage = (
  context: Context,
  repoId: string,
  after: NodePlace | null,
  seen: ReadonlySet<string>,
  settings: DecaySettings,
  dryRun: boolean,
): Promise<DecayedPage> =>
  retrying(async () => {
    const page = await context.store.listWear(repoId, { ...ANY, tiers: ['longterm'] }, after, PAGE_NODES);
    const evolution = new EvolutionPlan(context, repoId, page);
    const changes = page.flatMap((node) => {
      if (seen.has(node.id)) return [];
      const from = node.confidence ?? 0;
      const decay = decayOf({ ...node, confidence: from }, { nowMs: context.now(), ...settings });
      if (!decay) return [];
      evolution.decay(node, decay);
      return { id: node.id, from, to: decay.confidence, archived: decay.archives };
    });
    if (!dryRun) await evolution.apply();
    return { page, changes };
  });

export interface ConfidenceHistory {
  readonly updates: readonly ConfidenceUpdate[];
  readonly drift: Drift;
}

const UPDATES_SHOWN_MAX = 500;

/** How sure a node was, change by change; null when there is no such node. */
export async function readConfidence(context: Context, repoId: string, id: string): Promise<ConfidenceHistory | null> {
  const node = await findNode(context, repoId, id);
  if (!node) return null;
  const { updates, initial, byTrigger } = await context.store.readConfidence(viewOf(repoId), id, UPDATES_SHOWN_MAX);
  return { updates, drift: driftOf(initial, updates[0]?.newConfidence ?? null, byTrigger) };
}
