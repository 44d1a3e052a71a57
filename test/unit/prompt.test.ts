import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readOptions, UsageError } from '../../src/prompt/arguments.js';
import { formatAnswer, formatRefusal, type RunSnippet, tell } from '../../src/prompt/client.js';
import { Conversation } from '../../src/prompt/conversation.js';
import { isComplete } from '../../src/prompt/entry.js';
import { History } from '../../src/prompt/history.js';
import { completionsOf, FUNCTION_NAMES, HELP } from '../../src/prompt/words.js';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'loci-prompt-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('an entry', () => {
  test.each([
    '',
    '1 + 1',
    'memory_query("redis", 5)',
    'print("(")',
    "print('it\\'s [')",
    `const one = \`a \${[1, \`b \${2}\`].length} {\``,
    'x = { a: [1, 2] }',
    '// (',
    '/* ( */ 1',
    '"abc".match(/[(/"]\\(/g)',
    '6 / 2 + (4 / 2)',
    'const of = (a) => a / 2; of(1) / 2',
    '`\\``',
    '`$`',
    '`$${1}`',
  ])('is complete: %s', (code) => expect(isComplete(code)).toBe(true));

  test.each([
    'memory_query(',
    'for (const one of [1, 2]) {',
    '[1, 2',
    'print("abc',
    "print('it\\'",
    '`abc',
    '`abc ${',
    '`abc ${1',
    `\`abc \${1} (`,
    '`${`',
    '/* not yet',
    '[/[)]/',
    '(6 / 2',
    'return /[(]/.test(',
  ])('goes on in the next line: %s', (code) => expect(isComplete(code)).toBe(false));

  test.each([')', '(1]', '`${1]`'])('that no further line would mend is complete: %s', (code) => {
    expect(isComplete(code)).toBe(true);
  });
});

describe('Tab', () => {
  test.each([
    ['memory_add', ['memory_add_fact', 'memory_add_experience'], 'memory_add'],
    ['const id = memory_rel', ['memory_relate'], 'memory_rel'],
    ['print(memory_q', ['memory_query'], 'memory_q'],
    ['pr', ['print'], 'pr'],
    ['', [...FUNCTION_NAMES], ''],
    ['my_memory_q', [], 'my_memory_q'],
    ['things.pr', [], 'pr'],
    ['.h', ['.help'], '.h'],
    ['.', ['.help', '.exit'], '.'],
  ])('completes %j', (line, hits, end) => expect(completionsOf(line)).toEqual([hits, end]));
});

test('.help names every function with its signature', () => {
  for (const name of FUNCTION_NAMES) expect(HELP).toMatch(new RegExp(`^${name}\\(.*\\)$`, 'm'));
});

describe('the options', () => {
  test('have defaults', () => {
    expect(readOptions([], {})).toEqual({
      url: 'http://127.0.0.1:8787',
      repoId: 'default',
      historyFile: join(homedir(), '.loci_history'),
      wantsHelp: false,
    });
  });

  test('come from the environment, and an argument counts more', () => {
    const environment = { LOCI_URL: 'http://one:1/', LOCI_HISTORY: '/tmp/lines' };
    expect(readOptions([], environment)).toMatchObject({ url: 'http://one:1', historyFile: '/tmp/lines' });
    expect(readOptions(['--url', 'https://two/loci/', '--repo=acme/shop'], environment)).toMatchObject({
      url: 'https://two/loci',
      repoId: 'acme/shop',
    });
  });

  test('keep no history when its file is called nothing', () => {
    expect(readOptions([], { LOCI_HISTORY: '' }).historyFile).toBeNull();
  });

  test('ask for help', () => expect(readOptions(['--help'], {}).wantsHelp).toBe(true));

  test.each([
    [['--nope'], {}, '--nope'],
    [['word'], {}, 'word'],
    [['--repo'], {}, '--repo'],
    [['--url', 'ftp://x'], {}, 'ftp://x'],
    [[], { LOCI_URL: 'localhost' }, 'localhost'],
  ])('%j with %j are refused with what is wrong', (given, environment, named) => {
    expect(() => readOptions(given, environment)).toThrow(UsageError);
    expect(() => readOptions(given, environment)).toThrow(named);
  });
});

describe('an answer', () => {
  test('is told as the printed lines and then the result', () => {
    expect(formatAnswer({ printed: ['one', 'two'], result: { a: [1] } })).toBe(
      'one\ntwo\n{\n  "a": [\n    1\n  ]\n}\n',
    );
    expect(formatAnswer({ printed: [], result: null })).toBe('null\n');
  });

  test('cannot steer the terminal', () => {
    const steering = '\u001b[2J\u009b\u007f\r';
    expect(formatAnswer({ printed: [steering], result: steering })).not.toMatch(/(?!\n)\p{Cc}/u);
    expect(formatRefusal({ detail: steering })).toBe('\\u001b[2J\\u009b\\u007f\\u000d\n');
    expect(formatAnswer({ printed: ['a\tb\nc'], result: 1 })).toBe('a\tb\nc\n1\n');
  });

  test('that is a refusal is told as its detail, with the fields that are at fault', () => {
    const detail = 'Error: boom (line 3)';
    expect(formatRefusal({ detail, errors: [{ field: 'code', message: detail }] })).toBe(`${detail}\n`);
    expect(
      formatRefusal({ detail: '1 field needs correction', errors: [{ field: 'code', message: 'must be shorter' }] }),
    ).toBe('1 field needs correction\n  code must be shorter\n');
  });

  test.each([
    [200, '{"result":1,"printed":[]}', true, '1\n'],
    [422, '{"detail":"no"}', false, 'no\n'],
    [404, '<html>', false, 'What answers at http://x is no Loci that can run snippets (status 404).\n'],
    [200, 'null', false, 'What answers at http://x is no Loci that can run snippets (status 200).\n'],
  ])('of status %d and body %s', (status, body, isWell, text) => {
    expect(tell('http://x', status, body)).toEqual({ isWell, text });
  });
});

describe('the history', () => {
  test('comes back newest first, and is for its owner only', () => {
    const file = join(directory, 'owner');
    const history = new History(file);
    expect(history.load()).toEqual([]);
    for (const line of ['one', '  ', 'two']) history.add(line);
    expect(new History(file).load()).toEqual(['two', 'one']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('is closed to others even where it was open', () => {
    const file = join(directory, 'open');
    writeFileSync(file, 'one\n', { mode: 0o644 });
    new History(file).load();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('keeps the last thousand lines', () => {
    const file = join(directory, 'long');
    writeFileSync(file, Array.from({ length: 1_500 }, (_, index) => `line ${index}\n`).join(''));
    const lines = new History(file).load();
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([1_000, 'line 1499', 'line 500']);
    expect(readFileSync(file, 'utf8').split('\n').length).toBe(1_001);
  });

  test.each([
    ['that is switched off', () => null],
    ['that cannot be written', () => join(directory, 'no', 'such', 'directory')],
    ['that cannot be read', () => directory],
  ])('%s is empty and in nobody’s way', (_, file) => {
    const history = new History(file());
    expect(history.load()).toEqual([]);
    expect(() => history.add('one')).not.toThrow();
  });
});

/** Types the keys at a prompt, those of a part at once, and answers what was run and what was shown. */
async function typed(parts: string | string[], history = new History(null)): Promise<{ ran: string[]; shown: string }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ran: string[] = [];
  const run: RunSnippet = async (code) => {
    ran.push(code);
    return { isWell: true, text: `ran ${ran.length}\n` };
  };
  const held = new Conversation(input, output, run, history).hold();
  for (const part of [parts].flat()) {
    input.write(part);
    await setImmediate();
  }
  await held;
  return { ran, shown: String(output.read()) };
}

const [CTRL_C, CTRL_D, TAB, UP] = ['\u0003', '\u0004', '\t', '\u001b[A'];

describe('at the prompt', () => {
  test('each entry is run by itself and in turn, until .exit', async () => {
    const { ran, shown } = await typed('1 + 1\r\r2\r.exit\r3\r');
    expect(ran).toEqual(['1 + 1', '2']);
    expect(shown).toMatch(/ran 1[\s\S]*ran 2/);
  });

  test('an open entry goes on, and its lines are run together', async () => {
    const { ran, shown } = await typed('[1, 2]\r[1, 2\r.map((one) => one)\r]\r.exit\r');
    expect(ran).toEqual(['[1, 2]', '[1, 2\n.map((one) => one)\n]']);
    expect(shown).toContain('  ... ');
  });

  test('Tab completes a function', async () => {
    expect((await typed(['memory_q', TAB, '("a")\r.exit\r'])).ran).toEqual(['memory_query("a")']);
  });

  test('Ctrl-C clears what was typed', async () => {
    expect((await typed(`wrong${CTRL_C}right\r.exit\r`)).ran).toEqual(['right']);
  });

  test('Ctrl-D ends', async () => {
    expect((await typed(`1 +${CTRL_C}${CTRL_D}`)).ran).toEqual([]);
  });

  test('.help lists the functions', async () => {
    const { ran, shown } = await typed('.help\r.exit\r');
    expect(ran).toEqual([]);
    expect(shown).toContain('memory_relate(label, subject_id, object_id)');
  });

  test('an earlier line comes back, from the last time too', async () => {
    const file = join(directory, 'typed');
    await typed('first()\r.exit\r', new History(file));
    expect((await typed(`${UP}${UP}\r.exit\r`, new History(file))).ran).toEqual(['first()']);
  });
});
