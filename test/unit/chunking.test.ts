import { describe, expect, test } from 'vitest';
import { CHUNK_TOKENS_MAX, CHUNK_TOKENS_MIN, type CountTokens, cutText } from '../../src/domain/chunking.js';

/** Every word, every line's end and every ideograph is a token: lengths are easy to see. */
const countWords: CountTokens = (text, max) =>
  Math.min(text.match(/\p{Script=Han}|[^\s\p{Script=Han}]+|\n/gu)?.length ?? 0, max + 1);

const cut = (text: string, count: CountTokens = countWords): string[] =>
  [...cutText(text, count)].filter((piece) => piece !== null);

const words = (count: number, word = 'word'): string => Array.from({ length: count }, () => word).join(' ');
const sentence = (length: number): string => `Sentence ${words(length - 2)} end.`;
const sentences = (count: number, length: number): string =>
  Array.from({ length: count }, () => sentence(length)).join(' ');
const linesOf = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

const sizes = (pieces: readonly string[]): number[] => pieces.map((piece) => countWords(piece, 10_000));
const withoutBlanks = (text: string): string => text.replace(/\s/g, '');

test('the bounds are those of the seed', () => {
  expect([CHUNK_TOKENS_MIN, CHUNK_TOKENS_MAX]).toEqual([100, 800]);
});

test.each(['', ' ', '\n\n\n', ' \t\r\n \u00a0\u2003\ufeff', '\n'.repeat(200_000)])(
  'blank text gives nothing',
  (text) => {
    expect(cut(text)).toEqual([]);
  },
);

test('a short text is one piece, as it is', () => {
  expect(cut('User prefers Python over JavaScript')).toEqual(['User prefers Python over JavaScript']);
});

describe('paragraphs', () => {
  test('are parted at blank lines, whatever these are made of', () => {
    for (const gap of ['\n\n', '\n \t\n', '\r\n\r\n', '\n\n\n\n'])
      expect(cut(`${words(120)}${gap}${words(130)}`)).toEqual([words(120), words(130)]);
  });

  test('keep their lines and lose the blanks that say nothing', () => {
    expect(cut('   one   two\t\tthree\n  four  \n\n')).toEqual(['one two three\n  four']);
  });

  test('of exactly as many tokens as are allowed are one piece, and of one more are not', () => {
    expect(sizes(cut(words(800)))).toEqual([800]);
    expect(cut(words(801)).length).toBe(2);
  });

  test('that are too long are cut at the ends of sentences, as many to a piece as fit', () => {
    const pieces = cut(sentences(200, 10));
    expect(sizes(pieces)).toEqual([800, 800, 400]);
    for (const piece of pieces) expect(piece).toMatch(/^Sentence .* end\.$/s);
  });

  test.each([
    ['? ', 'Why'],
    ['! ', '"Yes"'],
    ['. ', '(Aside)'],
    ['.\n', 'Next'],
    ['." ', '“Then”'],
    ['؟ ', 'متى'],
    ['।  ', 'फिर'],
  ])('are cut after %j before %j', (end, beginning) => {
    const pieces = cut(`${words(500)}${end}${beginning} ${words(500)}`);
    expect(pieces).toEqual([`${words(500)}${end.trim()}`, `${beginning} ${words(500)}`]);
  });

  test.each([
    ['。', '猫'],
    ['！', '「猫'],
    ['？」', '猫'],
  ])('without blanks are cut after %j', (end, beginning) => {
    const pieces = cut(`${'犬'.repeat(500)}${end}${beginning}${'犬'.repeat(500)}`);
    expect(pieces).toEqual([`${'犬'.repeat(500)}${end}`, `${beginning}${'犬'.repeat(500)}`]);
  });

  test('are not cut between a full stop and its mark', () => {
    const pieces = cut(`${'犬'.repeat(500)}。\ufe00${'犬'.repeat(500)}`);
    for (const piece of pieces) expect(piece).not.toMatch(/^\ufe00|。$/);
  });

  test('have the blank after a sentence counted with the next', () => {
    const countEnds: CountTokens = (text, max) =>
      Math.min(countWords(text, max) + (text.endsWith(' ') ? 1 : 0), max + 1);
    expect(sizes(cut(sentences(200, 10), countEnds))).toEqual([800, 800, 400]);
  });

  test.each(['e.g. this', 'v1.2.3 Next', '... and', '3.14 and'])('are not cut within %j', (middle) => {
    const text = `${words(500)} ${middle} ${words(298)}. Sentence ${words(300)}`;
    expect(cut(text)[1]).toBe(`Sentence ${words(300)}`);
  });
});

describe('a sentence that is too long', () => {
  test('is cut between words, near the limit', () => {
    const pieces = cut(words(2_000));
    expect(pieces.join(' ')).toBe(words(2_000));
    expect(
      sizes(pieces)
        .slice(0, -1)
        .every((size) => size > 780),
    ).toBe(true);
  });

  test('is cut at the ends of its lines where it has any', () => {
    const pieces = cut(linesOf(200, (index) => `column${index} | ${words(6)}`));
    expect(pieces.length).toBe(3);
    for (const piece of pieces) expect(piece).toMatch(/^column/);
  });

  test('is cut after punctuation where there are no blanks', () => {
    const path = 'some/long/path-to.file/';
    const pieces = cut(path.repeat(1_000), (text, max) => Math.min(text.length, max + 1));
    expect(pieces.join('')).toBe(path.repeat(1_000));
    for (const piece of pieces) expect(piece).toMatch(/[/.-]$/);
  });

  const countCharacters: CountTokens = (text, max) => Math.min(text.length, max + 1);

  test.each([
    ['a character outside the basic plane', '🙂'],
    ['a letter and its marks', 'e\u0301\u0323'],
    ['a dash and its mark', '-\u0301'],
    ['a family', '👩‍👩‍👧‍👦'],
    ['a flag', '🇳🇴'],
    ['a tone of skin', '👍🏽'],
    ['a syllable', '각'.normalize('NFD')],
  ])('is not cut within %s', (_, character) => {
    for (const before of ['', 'x', 'xy', 'xyz']) {
      const text = before + character.repeat(600);
      const pieces = cut(text, countCharacters);
      expect(pieces.length).toBeGreaterThan(1);
      expect(pieces.join('')).toBe(text);
      for (const piece of pieces) expect(piece.replace(before, '').replaceAll(character, '')).toBe('');
    }
  });

  test('of one letter with marks without end is cut all the same', () => {
    const text = `e${'\u0301'.repeat(5_000)}${'\u{e0100}'.repeat(5_000)}`;
    const pieces = cut(text, countCharacters);
    expect(pieces.join('')).toBe(text);
    for (const piece of pieces) {
      expect(piece.length).toBeLessThanOrEqual(800);
      expect(piece.isWellFormed()).toBe(true);
    }
  });
});

describe('what has a structure', () => {
  const before = sentences(10, 50);
  const code = (fence: string, lines: number): string =>
    `${fence}ts\n${linesOf(lines, (index) => `    const  a${index} = 1;\n`)}\n${fence}`;

  test.each(['```', '~~~', '`````', '  ```'])(
    'is code between %s, with its blank lines and its indentation',
    (fence) => {
      expect(cut(`${before}\n\n${code(fence, 90)}\n\n${before}`)).toEqual([before, code(fence, 90), before]);
    },
  );

  test('is code that another fence inside does not end', () => {
    const nested = `\`\`\`\`md\n\`\`\`\nx\n\n~~~~\n\`\`\`js\n\n${words(150)}\n\`\`\`\``;
    expect(cut(`${before}\n\n${nested}\n\n${before}`)).toEqual([before, nested, before]);
  });

  test('is code up to the end where its fence is never closed', () => {
    const open = `~~~\n${words(120)}\n\n${words(120)}\n\`\`\`\n\n${words(100)}`;
    expect(cut(`${before}\n\n${open}`)).toEqual([before, open]);
  });

  test('is not what only begins with code', () => {
    expect(cut(`\`\`\`one\`\`\` ${words(100)}\n\n${words(100)}`)).toHaveLength(2);
  });

  test('is indented code with blank lines within', () => {
    const indented = linesOf(60, (index) => `    line  ${index}\n`).trimEnd();
    expect(cut(`${before}\n\n${indented}\n\n${before}`)).toEqual([before, indented, before]);
    expect(cut(`\n${indented}`)).toEqual([indented]);
  });

  test.each(['-', '*', '+', '1.', '12)'])(
    'is a list of %s, with blank lines between its items and paragraphs within',
    (mark) => {
      const list = linesOf(30, (index) => `${mark} item  ${index}\n\n  more of it`);
      expect(cut(`${before}\n\n${list}\n\n${before}`)).toEqual([before, list, before]);
    },
  );

  test('is a list whose items are long', () => {
    const list = Array.from({ length: 3 }, () => `- ${words(120)}`).join('\n\n');
    expect(cut(`${before}\n\n${list}\n\n${before}`)).toEqual([before, list, before]);
  });

  test('is a list with code in an item', () => {
    const list = `- run\n  \`\`\`\n  ${words(60)}\n\n${words(60)}\n  \`\`\`\n\n- then ${words(120)}`;
    expect(cut(`${before}\n\n${list}\n\n${before}`)).toEqual([before, list, before]);
  });

  test('is not a list and the code after it', () => {
    const [list, other] = [`- item ${words(120)}\n\`\`\`\n- code\n\`\`\``, `- other ${words(120)}`];
    expect(cut(`${list}\n\n${other}`)).toEqual([list, other]);
  });

  test('is indented code in which a fence is a line like any other', () => {
    const indented = `    ${words(120)}\n    \`\`\`\n    ${words(120)}`;
    expect(cut(`${before}\n\n${indented}\n\n${before}`)).toEqual([before, indented, before]);
  });

  test('is a table, which is not parted from what touches it as long as both fit', () => {
    const table = linesOf(40, (index) => `| cell  ${index} | b |`);
    expect(cut(`${before}\n${table}\n\n${before}`)).toEqual([`${before}\n${table}`, before]);
  });

  test('is kept whole where what touches it does not fit with it', () => {
    const table = linesOf(90, (index) => `| cell ${index} |`);
    expect(cut(`${before}\n${table}\n${before}`)).toEqual([before, table, before]);
    expect(cut(`${before}\n${code('```', 90)}\n${before}`)).toEqual([before, code('```', 90), before]);
  });

  test.each([
    ['code', code('```', 1_000)],
    ['a list', linesOf(1_000, (index) => `  - item. Item ${index}`)],
    ['a table', linesOf(1_000, (index) => `| cell. Cell | ${index} |`)],
    ['indented code', linesOf(1_000, (index) => `\tline. Line ${index}`)],
  ])('and is too long is cut between lines: %s', (_, text) => {
    const pieces = cut(text);
    expect(pieces.length).toBeGreaterThan(4);
    expect(sizes(pieces).every((size) => size <= 800)).toBe(true);
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    expect(pieces.flatMap((piece) => piece.split('\n').filter((line) => line.trim() !== ''))).toEqual(lines);
  });

  test('has its one endless line cut at blanks', () => {
    const pieces = cut(`\`\`\`\n${words(2_000)}\n\`\`\``);
    expect(sizes(pieces).every((size) => size <= 800)).toBe(true);
    expect(pieces.join(' ').split(/\s+/)).toEqual(['```', ...words(2_000).split(' '), '```']);
  });
});

describe('a heading', () => {
  test.each(['# We decided', '###### We decided', 'We decided\n=====', 'We decided\n---', '# We chose\n\n## Two'])(
    'stays with what it heads: %j',
    (heading) => {
      expect(cut(`${words(200)}\n\n${heading}\n\n${words(300)}`)).toEqual([words(200), `${heading}\n\n${words(300)}`]);
      expect(cut(`${words(200)}\n\n${heading}\n${words(300)}`)).toEqual([words(200), `${heading}\n${words(300)}`]);
    },
  );

  test('stays with the first piece of what is too long', () => {
    const pieces = cut(`# Title\n\n${sentences(100, 10)}`);
    expect(pieces[0]).toMatch(/^# Title\n\nSentence/);
    expect(sizes(pieces).every((size) => size <= 800)).toBe(true);
  });

  test('does not end a piece where something comes after it', () => {
    const section = `# Title\n${words(97)}\n`;
    const pieces = cut(section.repeat(30));
    expect(pieces.length).toBeGreaterThan(3);
    for (const piece of pieces) expect(piece).toMatch(/^# Title\nword/);
  });

  test('at the end goes with what is before it, of whatever sort', () => {
    expect(cut(`We decided ${words(200)}\n\n# Always`)).toEqual([`We decided ${words(200)}\n\n# Always`]);
  });

  test('is not a hash without a blank, nor code', () => {
    expect(cut(`#tag\n\n${words(200)}`)[0]).toBe(`#tag\n\n${words(200)}`);
    expect(cut(`#decided\n\n${words(200)}`)).toEqual(['#decided', words(200)]);
    expect(cut(`${words(200)}\n\n    # decided\n\n${words(200)}`)).toHaveLength(3);
  });
});

describe('a piece that is too small', () => {
  test('is joined with the next where both are of one sort, by a blank line', () => {
    expect(cut('One.\n\nTwo.\n\nThree.')).toEqual(['One.\n\nTwo.\n\nThree.']);
    expect(cut(`${words(50)}\n\n${words(60)}\n\n${words(120)}`)).toEqual([`${words(50)}\n\n${words(60)}`, words(120)]);
  });

  test('stays where the next is of another sort', () => {
    const pieces = ['We decided it.', 'I prefer tabs.', 'It is a test.', 'Just so.'];
    expect(cut(pieces.join('\n\n'))).toEqual(pieces);
  });

  test('is not joined with the next where that would be too much', () => {
    expect(sizes(cut(`${words(99)}\n\n${words(700)}`))).toEqual([99, 700]);
    expect(sizes(cut(`${words(98)}\n\n${words(700)}`))).toEqual([800]);
  });

  test('is joined with nothing when it has a hundred tokens', () => {
    expect(cut(`${words(100)}\n\n${words(100)}`)).toHaveLength(2);
    expect(cut(`${words(99)}\n\n${words(100)}`)).toHaveLength(1);
  });

  test('goes backwards when it is the last', () => {
    expect(cut(`${words(200)}\n\n${words(20)}`)).toEqual([`${words(200)}\n\n${words(20)}`]);
    expect(cut(`We decided ${words(200)}\n\n${words(20)}`)).toHaveLength(2);
    expect(cut(`${words(790)}\n\n${words(20)}`)).toHaveLength(2);
  });
});

/** Two texts together cost more than each by itself. */
const countDearly: CountTokens = (text, max) =>
  Math.min(
    countWords(text, 10_000) + 3 * (text.match(/[.] /g)?.length ?? 0) + 40 * (text.match(/\n\n/g)?.length ?? 0),
    max + 1,
  );

test('what counts is the piece as a whole, not the sum of its parts', () => {
  for (const text of [
    sentences(300, 10),
    linesOf(50, () => `${sentence(90)}\n`),
    linesOf(300, () => `- ${words(5)}\n`),
  ]) {
    const pieces = cut(text, countDearly);
    expect(pieces.map((piece) => countDearly(piece, 800)).filter((size) => size > 800)).toEqual([]);
    expect(withoutBlanks(pieces.join(''))).toBe(withoutBlanks(text));
  }
});

describe('the work', () => {
  const LENGTH = 300_000;
  const filled = (unit: string): string => unit.repeat(Math.ceil(LENGTH / unit.length));
  const HOSTILE: readonly (readonly [string, string])[] = [
    ['one word', filled('x')],
    ['newlines', filled('\n')],
    ['blanks between two letters', `a${filled(' ')}b`],
    ['blanks in code', `\`\`\`\n${filled(' ')}x`],
    ['blank lines in code', `\`\`\`\nx${filled('\n')}x`],
    ['fences', filled('```\n')],
    ['fences apart', filled('```\n\n')],
    ['a list', filled('- item\n')],
    ['items apart', filled('- item\n\n')],
    ['a table', filled('| a | b |\n')],
    ['headings', filled('# a\n')],
    ['headings apart', filled('# a\n\n')],
    ['headings with text', filled('# a\nb\n')],
    ['tiny paragraphs', filled('a\n\n')],
    ['sentences', filled('So it is. ')],
    ['sentences without blanks', filled('猫。')],
    ['full stops', filled('.')],
    ['quotes', filled('."')],
    ['accents', `e${filled('\u0301')}`],
    ['backticks', filled('`')],
    ['dashes', filled('-')],
    ['everything by turns', filled('a\n- b\n# c\n```\nd\n```\n| e |\n    f\n\n')],
  ];

  test.each(HOSTILE)(
    'on a text of nothing but %s is in proportion to its length and is done in small steps',
    (_, text) => {
      let characters = 0;
      let longest = 0;
      const counted: CountTokens = (part, max) => {
        characters += part.length;
        longest = Math.max(longest, part.length);
        return Math.min(Math.ceil(part.length / 4), max + 1);
      };
      let before = 0;
      let step = 0;
      const pieces: string[] = [];
      for (const piece of cutText(text, counted)) {
        step = Math.max(step, characters - before);
        before = characters;
        if (piece !== null) pieces.push(piece);
      }
      expect(withoutBlanks(pieces.join(''))).toBe(withoutBlanks(text));
      expect(characters).toBeLessThan(10 * text.length);
      expect(longest).toBeLessThanOrEqual(32_000);
      expect(step).toBeLessThan(4 * 32_000);
    },
  );

  test('pauses while it reads a block that does not end', () => {
    const first = (text: string): string | null | undefined => cutText(text, countWords).next().value as string | null;
    expect(first(filled('```\n- x\n'))).toBeNull();
    expect(first(filled('\n'))).toBeNull();
    expect([...cutText(filled('x\n'), countWords)].filter((piece) => piece === null).length).toBeGreaterThan(5);
  });

  test('gives the first piece of a block long before its end is read', () => {
    const found = [...cutText(filled('# a\nb\n'), countWords)];
    expect(found.findIndex((piece) => piece !== null)).toBeLessThanOrEqual(2);
  });

  test('is done in small steps on what is long and has hardly a token', () => {
    let characters = 0;
    const counted: CountTokens = (part, max) => {
      characters += part.length;
      return countWords(part, max);
    };
    for (const piece of cutText(`\`\`\`\n${`${' '.repeat(1_000)}x\n`.repeat(300)}`, counted)) {
      expect(characters).toBeLessThan(7 * 32_000);
      expect(piece?.length ?? 0).toBeLessThanOrEqual(32_000);
      characters = 0;
    }
  });

  test('does not begin with counting the whole', () => {
    let characters = 0;
    const counted: CountTokens = (part, max) => {
      characters += part.length;
      return countWords(part, max);
    };
    const pieces = cutText(sentences(10_000, 10), counted);
    while (pieces.next().value === null);
    expect(characters).toBeLessThan(40_000);
  });
});
