import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** What must not be found in the sources. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const filesUnder = (...folders: string[]): string[] =>
  folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    )
    .filter((file) => /\.(ts|mjs|js)$/.test(file))
    .sort();

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Every line that matches, as file:line: text. */
const linesWith = (files: readonly string[], pattern: RegExp): string[] =>
  files.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );

const SOURCES = filesUnder('src');
const TESTS = filesUnder('test');
const ALL = [...SOURCES, ...TESTS, ...filesUnder('bench', 'openapi')];

// Put together here, so that this file does not find itself.
const word = (...parts: string[]): string => parts.join('');
const UNFINISHED = new RegExp(
  `\\b(${word('TO', 'DO')}|${word('FIX', 'ME')}|${word('X', 'XX')}|${word('HA', 'CK')})\\b`,
);
const SKIPPED = new RegExp(
  `\\b(${word('x', 'it')}|${word('x', 'test')}|${word('x', 'describe')}|${word('f', 'it')}|${word('f', 'describe')})\\(|` +
    `\\b(test|it|describe|suite)(\\.\\w+)*\\.(${word('sk', 'ip')}|${word('on', 'ly')}|${word('to', 'do')}|${word('fai', 'ls')}|${word('skip', 'If')}|${word('run', 'If')})\\b|` +
    `\\bcontext\\.${word('sk', 'ip')}\\(`,
);

test('there is something to look at', () => {
  expect(SOURCES.length).toBeGreaterThan(40);
  expect(TESTS.length).toBeGreaterThan(10);
});

test('nothing is left unfinished', () => {
  expect(linesWith(ALL, UNFINISHED)).toEqual([]);
});

test('the service prints nothing past its log', () => {
  expect(linesWith(SOURCES, /\bconsole\s*\./)).toEqual([]);
});

test('no test is skipped, singled out or expected to fail', () => {
  expect(linesWith(TESTS, SKIPPED)).toEqual([]);
  // The pattern finds what it is there to find.
  expect(word('test.', 'skip("a", () => {})')).toMatch(SKIPPED);
  expect(word('describe.concurrent.', 'only("a", () => {})')).toMatch(SKIPPED);
});

const LINES_MAX = 400;

test(`no source file is longer than ${LINES_MAX} lines`, () => {
  const lengths = SOURCES.map((file) => ({ file, lines: read(file).trimEnd().split('\n').length }));
  expect(lengths.filter(({ lines }) => lines > LINES_MAX)).toEqual([]);
});

test('types and lint rules are not switched off in the sources', () => {
  expect(linesWith(SOURCES, /@ts-(ignore|nocheck|expect-error)|biome-ignore|eslint-disable/)).toEqual([]);
});

test('the lock file pins versions and says nothing of where they were fetched', () => {
  const lock = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { resolved?: string; version?: string }>;
  };
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  expect(packages.filter(([, { version }]) => version === undefined).map(([path]) => path)).toEqual([]);
  expect(read('package-lock.json')).not.toMatch(/https?:\/\/[^"]*\.tgz/);
});
