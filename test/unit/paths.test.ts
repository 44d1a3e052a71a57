import { describe, expect, test } from 'vitest';
import {
  checkFileName,
  globBeginning,
  globMatcher,
  isGlob,
  namesSameFile,
  normalizePath,
  pathEnds,
  reversedPath,
} from '../../src/domain/paths.js';

test.each([
  ['src/a.ts', 'src/a.ts'],
  ['./src/a.ts', 'src/a.ts'],
  ['src//a.ts/', 'src/a.ts'],
  ['src\\lib\\a.ts', 'src/lib/a.ts'],
  ['  src/a.ts\n', 'src/a.ts'],
  ['/src/./a.ts', '/src/a.ts'],
  ['C:\\app\\a.ts', 'C:/app/a.ts'],
  ['', ''],
  ['/', ''],
  ['./', ''],
  ['a b/c d.ts', 'a b/c d.ts'],
  ['..a/.b', '..a/.b'],
])('the path %j is %j', (given, path) => {
  expect(normalizePath(given)).toBe(path);
});

test('a path from its end', () => {
  expect(reversedPath('/src/auth/a.ts')).toBe('a.ts/auth/src');
  expect(reversedPath('')).toBe('');
});

test('the ends of a path are those that say more than a bare name', () => {
  expect(pathEnds('/app/src/a.ts')).toEqual(['/app/src/a.ts', 'app/src/a.ts', 'src/a.ts']);
  expect(pathEnds('src/a.ts')).toEqual(['src/a.ts']);
  expect(pathEnds('a.ts')).toEqual(['a.ts']);
});

test.each([
  ['src/a.ts', 'src/a.ts', true],
  ['a.ts', 'src/a.ts', true],
  ['/home/ada/src/a.ts', 'src/a.ts', true],
  ['src\\a.ts', './src/a.ts', true],
  ['a.ts', 'src/aa.ts', false],
  ['src/a.ts', 'lib/a.ts', false],
  ['src', 'src/a.ts', false],
])('%j and %j name the same file: %j', (a, b, isSame) => {
  expect([namesSameFile(a, b), namesSameFile(b, a)]).toEqual([isSame, isSame]);
});

describe('a glob', () => {
  test('is what has a star or a question mark, and begins with what comes before them', () => {
    expect(['a*', 'a?', '**/a'].map(isGlob)).toEqual([true, true, true]);
    expect(['a.ts', '[a]', '{a,b}', '%'].map(isGlob)).toEqual([false, false, false, false]);
    expect(['src/*.ts', 'a?b', '**'].map(globBeginning)).toEqual(['src/', 'a', '']);
  });

  test.each([
    ['*.ts', ['a.ts', '.ts'], ['a.js', 'x/a.ts', 'a.ts/']],
    ['src/*', ['src/a', 'src/'], ['src', 'src/a/b']],
    ['src/**', ['src/a', 'src/a/b', 'src/'], ['src', 'lib/a']],
    ['**/a.ts', ['a.ts', 'x/a.ts', 'x/y/a.ts', '/a.ts'], ['ba.ts', 'x/ba.ts', 'a.tsx']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['ab', 'a/xb', 'a/b/c']],
    ['a?c', ['abc', 'a🧠c'], ['ac', 'a/c', 'abbc']],
    ['a.c', ['a.c'], ['abc']],
    ['[ab]', ['[ab]'], ['a']],
    ['a***', ['a', 'ab', 'a/b'], ['b']],
    ['', [''], ['a']],
  ])('%j fits %j and not %j', (glob, fitting, others) => {
    expect(fitting.filter((path) => !globMatcher(glob)(path))).toEqual([]);
    expect(others.filter(globMatcher(glob))).toEqual([]);
  });

  test('has at most 16 wildcards, runs of stars counted as one, and 500 characters', () => {
    expect(checkFileName('file', '*a'.repeat(16))).toEqual([]);
    expect(checkFileName('file', `${'*'.repeat(900)}a`)).toEqual([]);
    expect(checkFileName('file', '?a'.repeat(17))).toEqual([
      { field: 'file', code: 'semantic_error', message: expect.stringContaining('17 wildcards') },
    ]);
    expect(checkFileName('file', `*${'a'.repeat(499)}`)).toEqual([]);
    expect(checkFileName('file', `*${'a'.repeat(500)}`)).toMatchObject([{ message: expect.stringContaining('501') }]);
    expect(checkFileName('file', 'a'.repeat(4_000))).toEqual([]);
    expect(checkFileName('file', null)).toEqual([]);
  });
});
