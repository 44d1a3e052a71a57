import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../../src/config.js';

/** The papers say what the code does. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const cellsOf = (line: string): string[] =>
  line
    .replace(/^\s*\||\|\s*$/g, '')
    .split('|')
    .map((cell) => cell.trim());

/** The rows of the table with these columns, each a record of its cells. */
function table(text: string, ...columns: string[]): Record<string, string>[] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => cellsOf(line).join('|').toLowerCase() === columns.join('|'));
  expect(start, `no table with the columns ${columns.join(', ')}`).toBeGreaterThanOrEqual(0);
  const rows: Record<string, string>[] = [];
  for (const line of lines.slice(start + 2)) {
    if (!line.trim().startsWith('|')) break;
    const cells = cellsOf(line);
    rows.push(Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])));
  }
  return rows;
}

const unquote = (cell: string | undefined): string => (cell ?? '').replace(/^`(.*)`$/, '$1');

describe('README.md', () => {
  test('lists every setting with its default and meaning, as the service reads them', () => {
    const rows = table(read('README.md'), 'variable', 'default', 'meaning');
    expect(
      rows.map(({ variable, default: fallback, meaning }) => [unquote(variable), unquote(fallback), meaning]),
    ).toEqual(Object.values(SETTINGS).map(({ variable, fallback, meaning }) => [variable, fallback, meaning]));
  });

  test('lists every endpoint that the description has, and no other', () => {
    const rows = table(read('README.md'), 'method', 'path', 'what');
    const { paths } = JSON.parse(read('openapi/openapi.json')) as { paths: Record<string, object> };
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} \`${path}\``),
    );
    expect(rows.map(({ method, path }) => `${unquote(method)} ${path}`).sort()).toEqual(described.sort());
    for (const { what } of rows) expect(what).toMatch(/\S/);
  });

  test.each(['npm ci && npm start', 'npm ci && npm test'])('has the line %s to copy', (line) => {
    expect(
      read('README.md')
        .split('\n')
        .filter((other) => other === line),
    ).toEqual([line]);
  });

  test('names scripts that the package has', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...read('README.md').matchAll(/npm (?:run )?(start|test|run [\w:]+)/g)].map(
      ([, name]) => name as string,
    );
    expect(named.map((name) => name.replace('run ', '')).filter((name) => !(name in scripts))).toEqual([]);
  });
});

const TEST_SOURCES = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts') && !file.startsWith('tidy'))
  .map((file) => read(join('test', file)));

const PAPERS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...papersUnder('docs')];

function papersUnder(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file))
    .sort();
}

describe.each(PAPERS)('%s', (paper) => {
  test('links only to what is there', () => {
    const links = [...read(paper).matchAll(/\]\(([^)\s]+)\)/g)].map(
      ([, link]) => (link as string).split('#')[0] as string,
    );
    const local = links.filter((link) => link !== '' && !/^[a-z]+:/.test(link));
    expect(local.filter((link) => !existsSync(join(ROOT, paper, '..', link)))).toEqual([]);
  });

  test('names only files that are there', () => {
    const named = [...read(paper).matchAll(/`((?:src|test|bench|drizzle|openapi|docs|\.ci)\/[\w./-]+\.\w+)`/g)];
    expect(named.map(([, file]) => file as string).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

describe('docs/requirements.md', () => {
  const rows = () =>
    read('docs/requirements.md')
      .split('\n')
      .filter((line) => line.startsWith('|') && !/^\|[\s|-]+$/.test(line))
      .map(cellsOf)
      .filter(([first]) => first !== 'requirement');

  test('says of every requirement which file and which test meet it, or that it is open', () => {
    expect(rows().length).toBeGreaterThan(20);
    const places = /`[\w./-]+\.\w+`|\bopen\b/;
    const wanting = rows().filter(([, file, proof]) => !places.test(file ?? '') || !places.test(proof ?? ''));
    expect(wanting).toEqual([]);
  });

  const SPEC_LINES = Array.from({ length: 38 }, (_, index) => `SPEC-02.${String(index + 1).padStart(2, '0')}`);

  test.each(SPEC_LINES)('%s has a row, and a test that is named after it', (line) => {
    expect(rows().filter(([first]) => first?.startsWith(`${line} `))).toHaveLength(1);
    expect(TEST_SOURCES.some((source) => source.includes(`${line} `) || source.includes(`${line}:`))).toBe(true);
  });

  test('names a test, not a source, as the proof', () => {
    const proofs = rows().flatMap(([, , proof]) =>
      [...(proof ?? '').matchAll(/`([^`]+)`/g)].map(([, file]) => file as string),
    );
    expect(proofs.length).toBeGreaterThan(20);
    expect(proofs.filter((file) => !/^(test|bench)\//.test(file))).toEqual([]);
  });
});

describe('docs/decisions', () => {
  const decisions = () => papersUnder('docs/decisions').filter((file) => /\/\d{4}-/.test(file));
  const numberOf = (file: string): number => Number(/\/(\d{4})-/.exec(file)?.[1]);

  test('are numbered from one without a gap, each once', () => {
    expect(decisions().map(numberOf)).toEqual(decisions().map((_, index) => index + 1));
    expect(decisions().length).toBeGreaterThan(0);
  });

  test('begin with their number and a title that no other has', () => {
    const titles = decisions().map((file) => read(file).split('\n')[0] as string);
    expect(titles.map((title) => Number(/^# (\d+)\. \S/.exec(title)?.[1]))).toEqual(decisions().map(numberOf));
    expect(new Set(titles.map((title) => title.replace(/^# \d+\. /, ''))).size).toBe(titles.length);
  });

  test('are listed nowhere twice', () => {
    const twice = PAPERS.flatMap((paper) => {
      const listed = read(paper)
        .split('\n')
        .filter((line) => /^\s*([-*|]|\d+\.)/.test(line))
        .flatMap((line) => [...line.matchAll(/\]\([^)]*?(\d{4}-[\w-]+\.md)/g)].map(([, file]) => file as string));
      return listed.filter((file, index) => listed.indexOf(file) < index).map((file) => `${paper}: ${file}`);
    });
    expect(twice).toEqual([]);
  });
});

test('CHANGELOG.md has an entry for the version of the package, at the top', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const entries = [...read('CHANGELOG.md').matchAll(/^## \[?([^\]\s]+)/gm)].map(([, entry]) => entry);
  expect(entries.filter((entry) => entry !== 'Unreleased')[0]).toBe(version);
});

test('the papers name no machine and no registry', () => {
  const told = PAPERS.filter((paper) =>
    /(^|[\s`(])\/(home|root|Users|tmp|work)\/|registry\.npmjs|\.tgz\b/m.test(read(paper)),
  );
  expect(told).toEqual([]);
});

test('the licence is MIT in the file as in the manifest', () => {
  expect(read('LICENSE')).toMatch(/^MIT License/);
  expect(JSON.parse(read('package.json')).license).toBe('MIT');
});
