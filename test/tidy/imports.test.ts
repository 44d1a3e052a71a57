import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

/** The import directions that the architecture promises, read from the code itself. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const filesUnder = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file))
    .sort();

interface Import {
  readonly file: string;
  /** The imported file's path from the root, or the package's name. */
  readonly target: string;
  readonly isPackage: boolean;
  readonly isTypeOnly: boolean;
}

const parse = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true);

/** The node and every node below it. */
function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node;
  for (const child of node.getChildren()) yield* nodesOf(child);
}

function importsOf(file: string): Import[] {
  const imports: Import[] = [];
  const add = (specifier: ts.Node | undefined, isTypeOnly: boolean): void => {
    if (!specifier || !ts.isStringLiteral(specifier)) return;
    const isPackage = !specifier.text.startsWith('.');
    const target = isPackage
      ? specifier.text
      : relative(ROOT, join(ROOT, dirname(file), specifier.text)).replace(/\.js$/, '.ts');
    imports.push({ file, target, isPackage, isTypeOnly });
  };
  for (const node of nodesOf(parse(file))) {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeImport(node.importClause));
    if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false);
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
  }
  return imports;
}

/** `import type { … }`, or `import { type …, type … }` with nothing else among them. */
function isTypeImport(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false;
  if (clause.isTypeOnly) return true;
  const { name, namedBindings } = clause;
  if (name || !namedBindings || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly);
}

const FILES = filesUnder('src');
const IMPORTS = FILES.flatMap(importsOf);

/** Per layer: what its files may import as values, what as types only, and which packages. */
interface Layer {
  readonly files: RegExp;
  readonly values: RegExp;
  readonly types: RegExp;
  readonly packages: RegExp;
}

const NOTHING = /(?!)/;
const ANY = /^/;
const LAYERS: Readonly<Record<string, Layer>> = {
  domain: {
    files: /^src\/domain\//,
    values: /^src\/domain\//,
    types: NOTHING,
    packages: /^(stemmer|fastest-levenshtein)$/,
  },
  contracts: {
    files: /^src\/contracts\//,
    values: /^src\/(domain\/|contracts\/|errors\.ts)/,
    types: /^src\/services\//,
    packages: /^typebox$/,
  },
  services: {
    files: /^src\/services\//,
    values: /^src\/(domain\/|services\/|sandbox\/|storage\/port\.ts|summarizer\/port\.ts)/,
    types: NOTHING,
    packages: /^(?!fastify|@fastify|typebox|drizzle-orm|better-sqlite3)/,
  },
  sandbox: {
    files: /^src\/sandbox\//,
    values: /^src\/sandbox\//,
    types: NOTHING,
    packages: /^(node:|quickjs-emscripten-core$|@jitl\/quickjs-wasmfile-release-sync$)/,
  },
  summarizer: {
    files: /^src\/summarizer\//,
    values: /^src\/summarizer\//,
    types: NOTHING,
    packages: NOTHING,
  },
  tree: {
    files: /^src\/tree\//,
    values: /^src\/(domain\/|contracts\/|services\/|tree\/)/,
    types: NOTHING,
    packages: /^(node:|typebox|tar-stream$)/,
  },
  routes: {
    files: /^src\/routes\//,
    values: /^src\/(contracts\/|services\/|routes\/|tree\/|errors\.ts)/,
    types: /^src\/domain\//,
    packages: /^(fastify$|@fastify\/)/,
  },
  plugins: {
    files: /^src\/plugins\//,
    values: /^src\/(contracts\/|services\/|domain\/|plugins\/|storage\/port\.ts|errors\.ts|version\.ts)/,
    types: NOTHING,
    packages: /^(fastify|@fastify\/|node:)/,
  },
  'storage/port': {
    files: /^src\/storage\/(port|records|chunks|entries)\.ts$/,
    values: /^src\/domain\//,
    types: /^src\/storage\/(records|chunks|entries)\.ts$/,
    packages: NOTHING,
  },
  'storage/sqlite': {
    files: /^src\/storage\/sqlite\//,
    values: /^src\/(domain\/|storage\/port\.ts|storage\/sqlite\/)/,
    types: NOTHING,
    packages: /^(better-sqlite3$|drizzle-orm|node:)/,
  },
  'storage/open': {
    files: /^src\/storage\/open\.ts$/,
    values: /^src\/storage\//,
    types: /^src\/config\.ts$/,
    packages: NOTHING,
  },
  errors: { files: /^src\/errors\.ts$/, values: NOTHING, types: NOTHING, packages: NOTHING },
  top: {
    files: /^src\/((server|app|config|logging|version|prompt|tree)\.ts$|prompt\/)/,
    values: ANY,
    types: ANY,
    packages: ANY,
  },
};

const allowed = (layer: Layer, { target, isPackage, isTypeOnly }: Import): boolean =>
  isPackage ? layer.packages.test(target) : layer.values.test(target) || (isTypeOnly && layer.types.test(target));

describe.each(Object.entries(LAYERS))('%s', (_name, layer) => {
  test('imports only what its layer may', () => {
    const own = IMPORTS.filter(({ file }) => layer.files.test(file));
    const wrong = own.filter((one) => !allowed(layer, one));
    expect(wrong.map(({ file, target, isTypeOnly }) => `${file} → ${target}${isTypeOnly ? ' (type)' : ''}`)).toEqual(
      [],
    );
  });
});

test('every file belongs to exactly one layer', () => {
  const layers = Object.values(LAYERS);
  expect(FILES.filter((file) => layers.filter((layer) => layer.files.test(file)).length !== 1)).toEqual([]);
});

test('the parser of imports sees them all', () => {
  // Guards the tests above against passing because nothing was found.
  expect(IMPORTS.length).toBeGreaterThan(100);
  expect(IMPORTS).toContainEqual(expect.objectContaining({ target: 'gpt-tokenizer', isPackage: true }));
  expect(IMPORTS).toContainEqual(
    expect.objectContaining({ file: 'src/contracts/detail.ts', target: 'src/services/memory.ts', isTypeOnly: true }),
  );
});

test('no two files import each other, directly or around a corner', () => {
  const next = new Map(FILES.map((file) => [file, new Set<string>()]));
  for (const { file, target, isPackage, isTypeOnly } of IMPORTS)
    if (!isPackage && !isTypeOnly) next.get(file)?.add(target);
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' → '));
    if (way.includes(file) || done.has(file)) return;
    for (const target of next.get(file) ?? []) walk(target, [...way, file]);
    done.add(file);
  };
  for (const file of FILES) walk(file, []);
  expect(circles).toEqual([]);
});

const SQL =
  /\b(select\s[^;]+\sfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|create\s+(table|index|trigger|virtual)\b|pragma\s|begin\s+(immediate|exclusive)|savepoint\s)/i;

function sqlIn(file: string): string[] {
  return [...nodesOf(parse(file))]
    .filter((node) => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node))
    .map((node) => node.getText())
    .filter((text) => SQL.test(text));
}

test('SQL is written only below storage', () => {
  const isStorage = (file: string): boolean => file.startsWith('src/storage/');
  expect(FILES.filter(isStorage).flatMap(sqlIn).length).toBeGreaterThan(10);
  expect(
    FILES.filter((file) => !isStorage(file)).flatMap((file) => sqlIn(file).map((text) => `${file}: ${text}`)),
  ).toEqual([]);
});

test('no folder is a drawer for whatever has no place', () => {
  const folders = ['src', 'test', 'bench'].flatMap((top) =>
    readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name),
  );
  expect(folders.filter((name) => /^(utils?|helpers?|common|lib|misc|shared)$/i.test(name))).toEqual([]);
});
