import type { ChunkType } from './chunk-types.js';
import { detectType } from './chunk-types.js';

/**
 * Cuts a text into pieces small enough to be remembered. What belongs together stays together as far as it fits: a paragraph, a
 * list, a table, code, and a heading with what it heads. Of a text nothing is lost and to it nothing is added but white space.
 */

/** Counts the tokens of a text, but no further than to `max` + 1. */
export type CountTokens = (text: string, max: number) => number;

/** Pieces with fewer are joined with what comes next where both are of one sort; else they stay. */
export const CHUNK_TOKENS_MIN = 100;
/** No piece has more. */
export const CHUNK_TOKENS_MAX = 800;

/**
 * Nothing longer than this is counted, so that no step takes long. A piece of ordinary text has a tenth of it; only one that is
 * mostly white space would have more and is cut sooner.
 */
const PIECE_CHARACTERS_MAX = 32_000;

/** The pieces in order, and between them `null` where it is time to give others their turn. */
export function* cutText(text: string, countTokens: CountTokens): Generator<string | null> {
  let before: Part | null = null;
  let growing: Part | null = null;
  for (const part of partsOf(text, countTokens)) {
    if (part === null) {
      yield null;
      continue;
    }
    const grown: Part | null = growing && growWith(growing, part, countTokens);
    if (grown === null && before !== null) yield before.text;
    if (grown === null) before = growing;
    growing = grown ?? part;
  }
  // The last has nothing after it that it could be joined with, only what is before it.
  const joined = before && growing && isSmall(growing) ? join(before, growing, countTokens) : null;
  const rest = joined ? [joined] : [before, growing];
  for (const part of rest) if (part !== null) yield part.text;
}

// Pieces that are too small

/** A block that fits, or as much as fits of one that does not. */
interface Part {
  readonly text: string;
  readonly tokens: number;
  readonly type: ChunkType;
  /** Whether it is a heading and nothing else. */
  readonly isHeading: boolean;
}

const isSmall = ({ tokens }: Part): boolean => tokens < CHUNK_TOKENS_MIN;

const growWith = (small: Part, next: Part, countTokens: CountTokens): Part | null =>
  isSmall(small) ? join(small, next, countTokens) : null;

/** Both as one, or null where they are of different sorts or too long together. */
function join(a: Part, b: Part, countTokens: CountTokens): Part | null {
  if (a.type !== b.type && !a.isHeading && !b.isHeading) return null;
  const text = `${a.text}\n\n${b.text}`;
  const tokens = jointTokens(a.tokens + b.tokens + 1, text, countTokens);
  if (tokens > CHUNK_TOKENS_MAX) return null;
  const type = a.type === b.type ? a.type : detectType(text);
  return { text, tokens, type, isHeading: a.isHeading && b.isHeading };
}

/**
 * A sum that is still small is believed, as it is wrong by a few tokens at the most: to count the whole again with each of a
 * thousand tiny paragraphs would take long.
 */
const jointTokens = (sum: number, text: string, countTokens: CountTokens): number =>
  sum < CHUNK_TOKENS_MIN && text.length <= PIECE_CHARACTERS_MAX ? sum : count(text, countTokens);

/** Anything above what a piece may have is the same. */
const count = (text: string, countTokens: CountTokens): number =>
  text.length > PIECE_CHARACTERS_MAX ? CHUNK_TOKENS_MAX + 1 : countTokens(text, CHUNK_TOKENS_MAX);

// Blocks that are too large

function* partsOf(text: string, countTokens: CountTokens): Generator<Part | null> {
  for (const block of blocksOf(text)) {
    if (block === null) yield null;
    else {
      const isHeading = block.every(({ kind }) => kind === 'heading');
      for (const piece of piecesOf(text, block, countTokens))
        yield piece && { ...piece, type: detectType(piece.text), isHeading };
    }
  }
}

interface Piece {
  readonly text: string;
  readonly tokens: number;
}

function* piecesOf(text: string, block: Block, countTokens: CountTokens): Generator<Piece | null> {
  const contents = block.map((segment, index) => contentOf(text, segment, block[index + 1]));
  const whole = tidy(contents.map((content) => content.text).join(''));
  const tokens = count(whole, countTokens);
  if (tokens <= CHUNK_TOKENS_MAX) yield { text: whole, tokens };
  else yield* packed(unitsOf(contents, countTokens), countTokens);
}

/** What is not cut any further. */
interface Unit extends Piece {
  readonly isHeading: boolean;
}

/** As many units to a piece as fit. Each was counted by itself; their sum tells where to look, and then the piece is counted. */
function* packed(units: Iterable<Unit>, countTokens: CountTokens): Generator<Piece | null> {
  let held: Unit[] = [];
  let room = roomBeside(held);
  for (const unit of units) {
    while (held.length > 0 && (unit.tokens > room.tokens || unit.text.length > room.characters)) {
      const { piece, rest } = firstPiece(held, true, countTokens);
      yield piece;
      held = rest;
      room = roomBeside(held);
    }
    held.push(unit);
    room = { tokens: room.tokens - unit.tokens, characters: room.characters - unit.text.length };
  }
  while (held.length > 0) {
    const { piece, rest } = firstPiece(held, false, countTokens);
    yield piece;
    held = rest;
  }
}

const roomBeside = (units: readonly Unit[]): { readonly tokens: number; readonly characters: number } => ({
  tokens: units.reduce((room, { tokens }) => room - tokens, CHUNK_TOKENS_MAX),
  characters: units.reduce((room, { text }) => room - text.length, PIECE_CHARACTERS_MAX),
});

interface Taken {
  /** Null where there is nothing to read in it. */
  readonly piece: Piece | null;
  readonly rest: Unit[];
}

/** The units as one piece; where they are too long together, a sixteenth of them is left out until they are not. */
function firstPiece(held: readonly Unit[], hasMore: boolean, countTokens: CountTokens): Taken {
  let taken = hasMore ? withoutHeading(held) : held;
  for (;;) {
    const text = tidy(taken.map((unit) => unit.text).join(''));
    const tokens = count(text, countTokens);
    if (tokens <= CHUNK_TOKENS_MAX || taken.length === 1)
      return { piece: text === '' ? null : { text, tokens }, rest: held.slice(taken.length) };
    taken = withoutHeading(taken.slice(0, -Math.ceil(taken.length / 16)));
  }
}

/** A heading goes with what comes after it. Only one: headings without end would leave no piece anything. */
function withoutHeading(units: readonly Unit[]): readonly Unit[] {
  const [last, before] = [units.at(-1), units.at(-2)];
  return last?.isHeading && before && !before.isHeading ? units.slice(0, -1) : units;
}

/** Without blank lines before it and white space after it; the indentation of the first line belongs to the text. */
function tidy(text: string): string {
  const first = text.search(/\S/);
  return first < 0 ? '' : text.slice(text.lastIndexOf('\n', first) + 1).trimEnd();
}

// Where a text may be cut

/** Cuts a text into parts that make up the text again. */
type Cut = (text: string) => Iterable<string>;

/** The first cuts are those that harm the least. */
function* unitsOf(contents: readonly Content[], countTokens: CountTokens): Generator<Unit> {
  for (const { text, kind } of contents) {
    const cuts = kind === 'prose' || kind === 'heading' ? [uncut, sentences, lines, shreds] : [uncut, lines, shreds];
    for (const unit of fitting(text, cuts, countTokens)) yield { ...unit, isHeading: kind === 'heading' };
  }
}

function* fitting(text: string, [cut, ...finer]: readonly Cut[], countTokens: CountTokens): Generator<Piece> {
  if (cut === undefined) return;
  for (const part of cut(text)) {
    // A blank at the end is counted with the word after it.
    const tokens = count(part.endsWith(' ') ? part.slice(0, -1) : part, countTokens);
    if (tokens <= CHUNK_TOKENS_MAX || finer.length === 0) yield { text: part, tokens };
    else yield* fitting(part, finer, countTokens);
  }
}

const uncut: Cut = (text) => [text];

/** Where there are no capitals any letter may begin a sentence; where there are no blanks a full stop ends one. */
const SENTENCE_END = /[.!?؟।]["'”’»)\]]*\s+(?=["'“‘«„(¿¡]|\p{Lu}|\p{Lt}|\p{Lo})|[。！？]["'”’」』）]*\s*(?!\p{M})/gu;

function* sentences(text: string): Generator<string> {
  let start = 0;
  for (const { 0: found, index } of text.matchAll(SENTENCE_END)) {
    yield text.slice(start, index + found.length);
    start = index + found.length;
  }
  if (start < text.length) yield text.slice(start);
}

function* lines(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline + 1;
    yield text.slice(start, end);
    start = end;
  }
}

const SHRED_CHARACTERS_MAX = 64;
const SHRED = new RegExp(
  ['\\s', '\\p{P}'].map((end) => `.{0,${SHRED_CHARACTERS_MAX - 1}}${end}(?![\\p{M}\\u200d])`).join('|'),
  'suy',
);

/** Short parts that end after a blank, or else after punctuation, or else anywhere between two characters. */
function* shreds(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const end = shredEnd(text, start);
    yield text.slice(start, end);
    start = end;
  }
}

function shredEnd(text: string, start: number): number {
  const end = start + SHRED_CHARACTERS_MAX;
  if (end >= text.length) return text.length;
  SHRED.lastIndex = start;
  if (SHRED.test(text)) return SHRED.lastIndex;
  return characterStart(text.slice(start, end + SHRED_CHARACTERS_MAX)) + start;
}

// A language is named, so that the cut does not depend on the machine's.
const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Where the character begins that a shred would cut through; of one that is longer than a shred the marks are parted. */
function characterStart(text: string): number {
  const { index } = CHARACTERS.segment(text).containing(SHRED_CHARACTERS_MAX) ?? { index: 0 };
  if (index > 0) return index;
  const isPair = (text.codePointAt(SHRED_CHARACTERS_MAX - 1) ?? 0) > 0xffff;
  return isPair ? SHRED_CHARACTERS_MAX - 1 : SHRED_CHARACTERS_MAX;
}

// How a text is made up

type Kind = 'prose' | 'heading' | 'list' | 'table' | 'fenced' | 'indented';

interface Segment {
  kind: Kind;
  readonly isAfterBlank: boolean;
  readonly start: number;
  end: number;
  lines: number;
}

/** What stands between blank lines, except that a heading takes what it heads, and lists and code have blank lines within. */
type Block = readonly Segment[];

interface Content {
  readonly kind: Kind;
  readonly text: string;
}

/** The text of a segment and what parts it from the next. Prose loses the blanks that say nothing; all else stays as it is. */
function contentOf(text: string, { kind, start, end }: Segment, next: Segment | undefined): Content {
  const raw = text.slice(start, end);
  const isProse = kind === 'prose' || kind === 'heading';
  const kept = isProse ? raw.replace(/(?<=\S)(?:[ \t]{2,}|\t)/g, ' ').trim() : raw;
  const gap = next === undefined ? '' : next.isAfterBlank ? '\n\n' : '\n';
  return { kind, text: kept + gap };
}

interface Line {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function* linesIn(text: string): Generator<Line> {
  let start = 0;
  for (const line of lines(text)) {
    const shown = line.endsWith('\n') ? line.slice(0, -1) : line;
    yield { text: shown, start, end: start + shown.length };
    start += line.length;
  }
}

/** How far a text was read. */
interface Reading {
  block: Segment[];
  /** What opened the code that is being read. */
  fence: string | null;
  isAfterBlank: boolean;
}

/** Null, a pause, comes wherever much was read. */
function* blocksOf(text: string): Generator<Block | null> {
  const reading: Reading = { block: [], fence: null, isAfterBlank: false };
  let pausedAt = 0;
  for (const line of linesIn(text)) {
    const ended = read(reading, line);
    if (ended !== null) yield ended;
    if (line.start - pausedAt > PIECE_CHARACTERS_MAX) {
      yield null;
      pausedAt = line.start;
    }
  }
  if (reading.block.length > 0) yield reading.block;
}

/** The block before the line, if the line begins another. */
function read(reading: Reading, line: Line): Block | null {
  const last = reading.block.at(-1);
  if (last && reading.fence !== null) {
    extend(last, line);
    if (CLOSING_FENCE.exec(line.text)?.[1]?.startsWith(reading.fence)) reading.fence = null;
    return null;
  }
  const { isAfterBlank } = reading;
  reading.isAfterBlank = !/\S/.test(line.text);
  if (reading.isAfterBlank) return null;
  if (last && goesOn(last, line.text, isAfterBlank)) extend(last, line);
  else return begin(reading, line, isAfterBlank);
  if (last.kind !== 'indented') reading.fence = fenceOf(line.text);
  return null;
}

function begin(reading: Reading, { text, start, end }: Line, isAfterBlank: boolean): Block | null {
  const { block } = reading;
  const isLong = start - (block[0]?.start ?? start) > PIECE_CHARACTERS_MAX;
  const isEnded = block.length > 0 && (isLong || (isAfterBlank && block.at(-1)?.kind !== 'heading'));
  const segment = { kind: kindOf(text), isAfterBlank, start, end, lines: 1 };
  reading.fence = fenceOf(text);
  if (!isEnded) block.push(segment);
  else reading.block = [segment];
  return isEnded ? block : null;
}

function extend(segment: Segment, line: Line): void {
  if (segment.kind === 'prose' && segment.lines === 1 && UNDERLINE.test(line.text)) segment.kind = 'heading';
  segment.end = line.end;
  segment.lines += 1;
}

const FENCE = /^[ \t]*(`{3,}(?=[^`]*$)|~{3,})/;
const CLOSING_FENCE = /^[ \t]*(`{3,}|~{3,})\s*$/;
const UNDERLINE = /^ {0,3}(?:=+|-{2,})\s*$/;
const INDENTED = /^(?: {4}| {0,3}\t)/;
/** As far as the text of a list's item. */
const INDENTED_IN_LIST = /^(?: {2}| ?\t)/;

/** Whatever is none of these is prose. */
const KINDS: readonly (readonly [Kind, RegExp])[] = [
  ['fenced', FENCE],
  ['heading', /^ {0,3}#{1,6}(?:\s|$)/],
  ['list', /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:\s|$)/],
  ['table', /^[ \t]*\|/],
  ['indented', INDENTED],
];

const kindOf = (line: string): Kind => KINDS.find(([, pattern]) => pattern.test(line))?.[0] ?? 'prose';

const fenceOf = (line: string): string | null => FENCE.exec(line)?.[1] ?? null;

/** Whether the line belongs to what is being read. */
function goesOn({ kind }: Segment, line: string, isAfterBlank: boolean): boolean {
  if (kind === 'indented') return INDENTED.test(line);
  const next = kindOf(line);
  if (kind === 'list' && isAfterBlank) return next === 'list' || INDENTED_IN_LIST.test(line);
  if (kind === 'list') return (next !== 'heading' && next !== 'fenced') || INDENTED_IN_LIST.test(line);
  if (isAfterBlank) return false;
  return (kind === 'table' && next === 'table') || (kind === 'prose' && (next === 'prose' || next === 'indented'));
}
