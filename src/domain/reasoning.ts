import type { ChunkType } from './chunk-types.js';
import { CHUNK_TYPES } from './chunk-types.js';
import type { CitedLine } from './citations.js';
import { normalizeText } from './node.js';
import { holdersOf } from './sketches.js';
import { indexTerms } from './terms.js';

/** What several chunks say together. Every word of it is theirs or a label, and every insight names those it was taken from. */

export interface Evidence {
  readonly id: string;
  readonly content: string;
  readonly confidence: number;
  readonly createdAtMs: number;
  readonly tags: readonly string[];
  readonly type: ChunkType;
  /** Whether it has a neighbour of its conversation or of its tags. */
  readonly isLinked: boolean;
}

interface Contradiction {
  readonly kind: 'explicit' | 'potential_preference_conflict' | 'negation_conflict';
  /** The surer one first. */
  readonly ids: readonly [string, string];
  /** What both are about, where that is how the contradiction was found. */
  readonly tag: string | null;
}

export interface Reasoned {
  readonly synthesis: string;
  readonly insights: readonly CitedLine[];
  readonly contradictions: readonly Contradiction[];
  readonly confidence: number;
}

export const ANALYSES = ['synthesis', 'comparison', 'pattern', 'gap'] as const;
export type Analysis = (typeof ANALYSES)[number];

const LINES_MAX = 7;
const INSIGHTS_MAX = 5;
const LINE_CHARACTERS_MAX = 400;

/**
 * The confidence of all four analyses is mean × told × agreement, so it is never above the mean confidence of the evidence and 0
 * without any. `told` is the share of the evidence that the analysis rests on: what is listed, is compared, or recurs; a gap
 * rests on all. `agreement` is 1 where nothing is contradicted, and ½ where everything is.
 */
export function reason(
  analysis: Analysis,
  evidence: readonly Evidence[],
  explicit: readonly (readonly [string, string])[],
): Reasoned {
  const ranked = evidence.toSorted(surestFirst);
  const contradictions = contradictionsIn(ranked, explicit);
  const finding = FINDERS[analysis](ranked, contradictions);
  return {
    synthesis: ranked.length === 0 ? 'No evidence.' : finding.lines.join('\n'),
    insights: finding.insights.slice(0, INSIGHTS_MAX),
    contradictions,
    confidence: meanConfidence(ranked) * share(finding.told, ranked) * agreement(ranked, contradictions),
  };
}

/** Those alike in both go by id, so that the order in which they were found does not matter. */
const surestFirst = (a: Evidence, b: Evidence): number =>
  b.confidence - a.confidence || b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1);

const share = (part: number, { length }: readonly unknown[]): number => (length === 0 ? 0 : part / length);

const meanConfidence = (evidence: readonly Evidence[]): number =>
  share(
    evidence.reduce((sum, { confidence }) => sum + confidence, 0),
    evidence,
  );

const agreement = (evidence: readonly Evidence[], contradictions: readonly Contradiction[]): number =>
  1 - share(contradictedIn(contradictions).size, evidence) / 2;

const contradictedIn = (contradictions: readonly Contradiction[]): Set<string> =>
  new Set(contradictions.flatMap(({ ids }) => ids));

// The four analyses

/** What an analysis finds; `told` is how much of the evidence it rests on. */
interface Finding {
  readonly lines: readonly string[];
  readonly insights: readonly CitedLine[];
  readonly told: number;
}

type Finder = (ranked: readonly Evidence[], contradictions: readonly Contradiction[]) => Finding;

const FINDERS: Record<Analysis, Finder> = {
  synthesis: synthesize,
  comparison: compare,
  pattern: findPatterns,
  gap: findGaps,
};

/** What one or several say in the same words; the surest of them comes first and gives its wording. */
interface Statement extends CitedLine {
  readonly id: string;
  readonly tags: readonly string[];
  readonly types: readonly ChunkType[];
  readonly words: readonly string[];
}

/** In the order of their surest sources. */
function statementsOf(ranked: readonly Evidence[]): Statement[] {
  const sayers = holdersOf(ranked, ({ content }) => [normalizeText(content)]);
  return [...sayers.values()].map((sources) => ({
    id: sources[0]?.id ?? '',
    text: shorten(sources[0]?.content ?? ''),
    sourceIds: sources.map(({ id }) => id),
    tags: distinct(sources.flatMap(({ tags }) => tags)).sort(),
    types: distinct(sources.map(({ type }) => type)),
    words: tellingWords(sources[0]?.content ?? ''),
  }));
}

const distinct = <Item>(items: readonly Item[]): Item[] => [...new Set(items)];

/** One line, cut at a blank where it is long. */
function shorten(content: string): string {
  const line = content.trim().replace(/\s+/gu, ' ');
  if (line.length <= LINE_CHARACTERS_MAX) return line;
  const blank = line.lastIndexOf(' ', LINE_CHARACTERS_MAX);
  return `${line.slice(0, blank > LINE_CHARACTERS_MAX / 2 ? blank : LINE_CHARACTERS_MAX).toWellFormed()}…`;
}

const idsOf = (lines: readonly CitedLine[]): string[] => distinct(lines.flatMap(({ sourceIds }) => sourceIds));

const othersLine = (statements: readonly Statement[]): string[] =>
  statements.length > LINES_MAX ? [`… ${statements.length - LINES_MAX} other`] : [];

const mostCitedFirst = (lines: readonly CitedLine[]): CitedLine[] =>
  lines.map(({ text, sourceIds }) => ({ text, sourceIds })).sort((a, b) => b.sourceIds.length - a.sourceIds.length);

/** What several say is the surest, and after it what the surest say. */
function synthesize(ranked: readonly Evidence[]): Finding {
  const statements = statementsOf(ranked);
  const listed = statements.slice(0, LINES_MAX);
  return {
    lines: [...listed.map(({ text }) => `- ${text}`), ...othersLine(statements)],
    insights: mostCitedFirst(statements),
    told: idsOf(listed).length,
  };
}

/** Side by side, with what all have and what only one of them has. */
function compare(ranked: readonly Evidence[]): Finding {
  const statements = statementsOf(ranked);
  const compared = statements.slice(0, LINES_MAX);
  const sides = compared.map(({ id, text }) => `[${id}] ${text}`);
  if (compared.length < 2)
    return { lines: ['A comparison needs two sources that differ.', ...sides], insights: [], told: 0 };
  const common = comparisonOf('In all', traitsHeldBy(compared.length, compared), idsOf(compared));
  const own = traitsHeldBy(1, compared);
  const differences = compared.map(({ id, tags, words, sourceIds }) => {
    const only = { tags: tags.filter((tag) => own.tags.has(tag)), words: words.filter((word) => own.words.has(word)) };
    return comparisonOf(`Only in [${id}]`, only, sourceIds);
  });
  return {
    lines: [...sides, common.text, ...differences.map(({ text }) => text), ...othersLine(statements)],
    insights: [common, ...differences]
      .filter(({ isTelling }) => isTelling)
      .map(({ text, sourceIds }) => ({ text, sourceIds })),
    told: common.sourceIds.length,
  };
}

interface Traits {
  readonly tags: Iterable<string>;
  readonly words: Iterable<string>;
}

/** What so many of the statements have, no more and no fewer. */
function traitsHeldBy(many: number, statements: readonly Statement[]): { tags: Set<string>; words: Set<string> } {
  const held = (traitsOf: (statement: Statement) => readonly string[]): Set<string> =>
    new Set([...holdersOf(statements, traitsOf)].filter(([, { length }]) => length === many).map(([trait]) => trait));
  return { tags: held(({ tags }) => tags), words: held(({ words }) => words) };
}

const TRAITS_MAX = 8;

interface Comparison extends CitedLine {
  readonly isTelling: boolean;
}

function comparisonOf(label: string, { tags, words }: Traits, sourceIds: readonly string[]): Comparison {
  const list = (name: string, traits: Iterable<string>): string => {
    const shown = [...traits].slice(0, TRAITS_MAX).join(', ');
    return shown && `${name} ${shown}`;
  };
  const lists = [list('tags', tags), list('words', words)].filter(Boolean).join('; ');
  return { text: `${label}: ${lists || 'nothing'}`, sourceIds, isTelling: lists !== '' };
}

/** A text that was remembered twice is one voice: what recurs is in statements that differ. */
function findPatterns(ranked: readonly Evidence[]): Finding {
  const statements = statementsOf(ranked);
  const recurring = [
    ...recurrences('tag', statements, ({ tags }) => tags),
    ...recurrences('type', statements, ({ types }) => types),
  ].sort((a, b) => b.sourceIds.length - a.sourceIds.length);
  const cited = recurring.map(({ text, sourceIds }) => ({
    text: `${text}: ${sourceIds.length} of ${ranked.length} sources`,
    sourceIds,
  }));
  return {
    lines: cited.length === 0 ? ['Nothing recurs.'] : cited.map(({ text }) => `- ${text}`),
    insights: cited,
    told: idsOf(recurring).length,
  };
}

const recurrences = (
  label: string,
  statements: readonly Statement[],
  traitsOf: (statement: Statement) => readonly string[],
): CitedLine[] =>
  [...holdersOf(statements, traitsOf)]
    .filter(([, holders]) => holders.length > 1)
    .map(([trait, holders]) => ({ text: `${label} ${trait}`, sourceIds: idsOf(holders) }));

/** Below this nobody is sure. */
const CONFIDENCE_LOW = 0.6;

function findGaps(ranked: readonly Evidence[], contradictions: readonly Contradiction[]): Finding {
  const contradicted = contradictedIn(contradictions);
  const gaps = [
    gap(`confidence below ${CONFIDENCE_LOW}`, ranked, ({ confidence }) => confidence < CONFIDENCE_LOW),
    gap('linked to nothing', ranked, ({ isLinked }) => !isLinked),
    gap('contradicted', ranked, ({ id }) => contradicted.has(id)),
    gap('without a tag', ranked, ({ tags }) => tags.length === 0),
  ];
  const missing = CHUNK_TYPES.filter((type) => ranked.every((one) => one.type !== type));
  return {
    lines: [...gaps.map(({ text }) => `- ${text}`), `- types that no source has: ${missing.join(', ') || 'none'}`],
    insights: gaps.filter(({ sourceIds }) => sourceIds.length > 0),
    told: ranked.length,
  };
}

function gap(label: string, ranked: readonly Evidence[], isLacking: (source: Evidence) => boolean): CitedLine {
  const lacking = ranked.filter(isLacking);
  return { text: `${label}: ${lacking.length} of ${ranked.length} sources`, sourceIds: lacking.map(({ id }) => id) };
}

// Contradictions

/** Each pair once: those that somebody linked, then those that the words show. */
function contradictionsIn(
  ranked: readonly Evidence[],
  explicit: readonly (readonly [string, string])[],
): Contradiction[] {
  const places = new Map(ranked.map(({ id }, place) => [id, place]));
  const found = new Map<string, Contradiction>();
  for (const ids of linkedPairs(explicit, places)) found.set(ids.join('\n'), { kind: 'explicit', ids, tag: null });
  const readings = ranked.map(read);
  for (const { earlier, later, tag } of pairsWithTag(ranked)) {
    const [a, b] = [readings[earlier], readings[later]];
    const kind = a && b && conflictBetween(a, b);
    const ids = a && b && ([a.id, b.id] as const);
    if (kind && ids && !found.has(ids.join('\n'))) found.set(ids.join('\n'), { kind, ids, tag });
  }
  return [...found.values()];
}

/** The surest first; a link to something else than the evidence is not shown. */
const linkedPairs = (
  explicit: readonly (readonly [string, string])[],
  places: ReadonlyMap<string, number>,
): (readonly [string, string])[] => {
  const place = (id: string): number => places.get(id) ?? 0;
  return explicit
    .filter(([a, b]) => a !== b && places.has(a) && places.has(b))
    .map(([a, b]) => (place(a) < place(b) ? ([a, b] as const) : ([b, a] as const)))
    .sort((one, other) => place(one[0]) - place(other[0]) || place(one[1]) - place(other[1]));
};

/** All pairs of 77 sources. */
const PAIRS_MAX = 3_000;

interface Pair {
  readonly earlier: number;
  readonly later: number;
  readonly tag: string;
}

/**
 * Pairs of sources that share a tag, with the first of those tags. Each source in turn is paired with all surer ones, so that
 * where there are too many pairs the least sure sources are left out.
 */
function* pairsWithTag(ranked: readonly Evidence[]): Generator<Pair> {
  const holders = new Map<string, number[]>();
  let pairs = 0;
  for (const [later, { tags }] of ranked.entries()) {
    const shared = new Map<number, string>();
    for (const tag of distinct(tags).sort()) {
      const held = holders.get(tag) ?? [];
      for (const earlier of held) if (!shared.has(earlier)) shared.set(earlier, tag);
      holders.set(tag, [...held, later]);
    }
    for (const [earlier, tag] of [...shared].sort(([a], [b]) => a - b)) {
      if (++pairs > PAIRS_MAX) return;
      yield { earlier, later, tag };
    }
  }
}

/** A source as it is compared. */
interface Reading {
  readonly id: string;
  readonly isPreference: boolean;
  readonly isNegated: boolean;
  readonly terms: ReadonlySet<string>;
}

const PREFERENCE = /(?<![\p{L}\p{N}_])prefers?(?![\p{L}\p{N}_])/iu;
const NEGATION =
  /(?<![\p{L}\p{N}_])(?:not|cannot|\p{L}+n['’]t|dislik(?:es?|ed)|hat(?:es?|ed)|avoid(?:s|ed)?|stop(?:s|ped)?)(?![\p{L}\p{N}_])/iu;

/** More than a chunk has, so that no longer text takes long. */
const CHARACTERS_READ = 20_000;

function read({ id, content }: Evidence): Reading {
  const text = content.slice(0, CHARACTERS_READ);
  const terms = new Set(indexTerms(text));
  return { id, isPreference: PREFERENCE.test(text), isNegated: NEGATION.test(text), terms };
}

/** Two preferences differ where one of them has words in place of the other's. */
const TERMS_DIFFERING_MIN = 2;

function conflictBetween(a: Reading, b: Reading): Contradiction['kind'] | null {
  if (a.isPreference && b.isPreference && differingTerms(a, b) >= TERMS_DIFFERING_MIN)
    return 'potential_preference_conflict';
  return a.isNegated === b.isNegated ? null : 'negation_conflict';
}

const differingTerms = ({ terms: a }: Reading, { terms: b }: Reading): number =>
  [...a].filter((term) => !b.has(term)).length + [...b].filter((term) => !a.has(term)).length;

// Words

/** Words that say nothing about what differs. */
const EMPTY_WORDS = new Set(
  `a an and are as at be been by for from had has have he her his i in is it its my of on or our she that the their them they
  this to was we were with you your`.split(/\s+/),
);

const tellingWords = (content: string): string[] =>
  distinct(
    content
      .slice(0, CHARACTERS_READ)
      .toLowerCase()
      .match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’_-]*(?<!['’-])/gu) ?? [],
  ).filter((word) => !EMPTY_WORDS.has(word));
