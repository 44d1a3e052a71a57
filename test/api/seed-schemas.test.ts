import AjvCompiler from '@fastify/ajv-compiler';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import '../../src/contracts/update.js';
import '../../src/contracts/write.js';
import '../../src/contracts/pack.js';
import { COMPONENTS } from '../../src/contracts/schema.js';
import { schemaController } from '../../src/plugins/validation.js';
import { memoryBody, readBody, updateBody, writeBody } from '../support/requests.js';
import { SEED_READ, SEED_UPDATE, SEED_WRITE } from '../support/seed-schemas.js';
import { type Service, startService } from '../support/service.js';
import { type Path, pathsIn, valueAt, withValue } from './bad-input-paths.js';

/**
 * The documents that the seed's schemas accept are the documents that our contracts accept, for the fields that the seed names.
 * The one stated difference is that a field which the seed does not name is refused here and passed over there.
 */

type Accepts = (document: unknown) => boolean;
/** Fastify's own compiler takes a route where its type says schema. */
type Compiler = (route: { schema: object; httpPart: string }) => Accepts;

const compileSeed = AjvCompiler()(
  {},
  {
    customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, strict: false },
  },
) as unknown as Compiler;
const compileOurs = schemaController.compilersFactory.buildValidator(
  Object.fromEntries(COMPONENTS.map((schema) => [(schema as unknown as { $id: string }).$id, schema])),
) as unknown as Compiler;

const contract = (path: string, seed: object, component: string, documents: object[]) => {
  const ours = compileOurs({ schema: { $ref: `${component}#` }, httpPart: 'body' });
  return {
    path,
    documents,
    seedAccepts: compileSeed({ schema: seed, httpPart: 'body' }),
    // The validator fills defaults in, so that it gets a copy.
    weAccept: ((document) => ours(structuredClone(document))) as Accepts,
  };
};

const ID = '00000000-0000-4000-8000-000000000001';
const vote = { type: 'utility_vote', problem_id: ID, vote: 1 };
const link = { type: 'fact_update_link', old_fact_id: ID, new_fact_id: ID };
const REASONED = { rationale: 'why', evidence_refs: ['commit:1', 'commit:2'] };

/** Documents that are right, small ones and full ones. */
const CONTRACTS = [
  contract('/memory/read', SEED_READ, 'ReadRequest', [
    readBody('Redis'),
    readBody('Redis', { mode: 'ambient', include_global: false, kinds: [], limit: 1, expand: {} }),
    readBody('Redis', {
      kinds: ['problem', 'fact', 'preference'],
      limit: 100,
      expand: { semantic_hops: 3, include_problem_links: false, include_fact_update_links: false },
    }),
  ]),
  contract('/memory/write', SEED_WRITE, 'WriteRequest', [
    { op: 'write', repo_id: 'r', memory: { text: 't', scope: 'global', kind: 'preference', confidence: 0 } },
    writeBody({ rationale: '', links: {}, evidence_refs: [] }),
    {
      ...writeBody(),
      memory: { ...memoryBody(), links: { problem_id: ID, related_memory_ids: [ID, 'x'] }, ...REASONED },
    },
  ]),
  contract('/memory/update', SEED_UPDATE, 'UpdateRequest', [
    updateBody(ID, { type: 'archive_state', archived: false }),
    updateBody(ID, { type: 'archive_state', archived: true, rationale: 'why' }, 'dry_run'),
    updateBody(ID, vote),
    updateBody(ID, { ...vote, ...REASONED }, 'dry_run'),
    updateBody(ID, link),
    updateBody(ID, { ...link, ...REASONED }, 'dry_run'),
  ]),
];

const LONG = 'word '.repeat(30_000);
/** What may stand in any place of a document: every type, every edge of a range, every word of the contracts. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  ...[-1.01, -1, -0.5, 0, 0.5, 1, 1.01, 2, 3, 4, 20, 99.5, 100, 101, 1e308],
  ...['', ' ', 'x', '0', 'true', 'null', 'read', 'write', 'update', 'ambient', 'targeted', 'dry_run', 'commit'],
  ...['repo', 'global', 'problem', 'solution', 'failed_tactic', 'fact', 'preference', 'change', 'Fact', 'facts'],
  ...['archive_state', 'utility_vote', 'fact_update_link', 'association_link', ID, '\u{1f600}', LONG],
  ...[
    [],
    [[]],
    [null],
    [1],
    [''],
    ['x'],
    ['x', 'y'],
    ['x', 'x'],
    ['fact'],
    ['fact', 'change'],
    ['fact', 'fact'],
    ['fact', 'x'],
  ],
  {},
];

/** Every document that differs from the given one in one place: another value there, or nothing at all. */
const mutations = (document: object): unknown[] =>
  pathsIn(document).flatMap((path) => [
    ...VALUES.map((value) => withValue(document, path, value)),
    ...(path.length > 0 ? [without(document, path)] : []),
  ]);

function without(document: object, path: Path): unknown {
  const copy = structuredClone(document);
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string, unknown> | unknown[];
  const key = path.at(-1) as string;
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
  return copy;
}

/** An update whose type was exchanged holds fields of another type: the stated difference, and nothing to compare here. */
const isComparable = (document: unknown): boolean => {
  const update = (document as { update?: Record<string, unknown> } | null)?.update;
  if (typeof update !== 'object' || update === null || Array.isArray(update)) return true;
  const fields: Record<string, string[]> = {
    archive_state: ['archived', 'rationale'],
    utility_vote: ['problem_id', 'vote', 'rationale', 'evidence_refs'],
    fact_update_link: ['old_fact_id', 'new_fact_id', 'rationale', 'evidence_refs'],
  };
  const known = fields[String(update.type)];
  return known === undefined || Object.keys(update).every((key) => key === 'type' || known.includes(key));
};

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe.each(CONTRACTS)('$path', ({ path, documents, seedAccepts, weAccept }) => {
  test('accepts the documents that are right by both', () => {
    for (const document of documents) {
      expect({ document, seed: seedAccepts(document), ours: weAccept(document) }).toEqual({
        document,
        seed: true,
        ours: true,
      });
    }
  });

  test('agrees with the seed on every document that differs from a right one in one place', () => {
    const all = documents.flatMap(mutations).filter(isComparable);
    const disagreements = all.filter((document) => seedAccepts(document) !== weAccept(document));
    expect(disagreements).toEqual([]);
    // Both answers occur often, so that agreement means something.
    const accepted = all.filter(seedAccepts).length;
    expect(accepted).toBeGreaterThan(50);
    expect(all.length - accepted).toBeGreaterThan(500);
  });

  test('agrees with the seed on documents that differ from a right one in several places', () => {
    const anyDocument = fc
      .tuple(
        fc.constantFrom(...documents),
        fc.array(fc.tuple(fc.nat(), fc.constantFrom(...VALUES)), { minLength: 2, maxLength: 4 }),
      )
      .map(([document, changes]) =>
        changes.reduce<unknown>((changed, [place, value]) => {
          const paths = pathsIn(changed);
          return withValue(changed, paths[place % paths.length] as Path, value);
        }, document),
      );
    fc.assert(
      fc.property(anyDocument, (document) => {
        fc.pre(isComparable(document));
        expect(weAccept(document)).toBe(seedAccepts(document));
      }),
      { numRuns: 2_000, seed: 20_260_131 },
    );
  });

  test('answers schema_error over HTTP exactly when the seed refuses', async () => {
    // One value in seven: all of them passed the same validator above.
    const sample = documents
      .flatMap(mutations)
      .filter(isComparable)
      .filter((_, index) => index % 7 === 0);
    for (const document of [...documents, ...sample]) {
      const answer = await service.http
        .post(path)
        .set('content-type', 'application/json')
        .send(JSON.stringify(document));
      const isRefused = answer.status === 400;
      expect({ document, isRefused }).toEqual({ document, isRefused: !seedAccepts(document) });
      if (isRefused) expect(answer.body.code).toBe('schema_error');
    }
  });

  test('refuses a field that the seed does not name, where the seed passes it over', () => {
    for (const document of documents) {
      for (const at of pathsIn(document)) {
        const place = valueAt(document, at);
        if (typeof place !== 'object' || place === null || Array.isArray(place)) continue;
        const changed = withValue(document, at, { ...place, weights: { lexical: 1 } });
        expect({ at, seed: seedAccepts(changed), ours: weAccept(changed) }).toEqual({ at, seed: true, ours: false });
      }
    }
  });
});
