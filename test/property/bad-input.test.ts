import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathsIn, withValue } from '../api/bad-input-paths.js';
import { digestOf, expectRefusal } from '../api/bad-input-replies.js';
import { FULL_BODIES, startSeeded } from '../api/bad-input-requests.js';
import type { Service } from '../support/service.js';

/** Whatever JSON is sent to whatever route takes a body: never a failure of the service, and a refusal changes nothing. */

let service: Service;
beforeAll(async () => {
  service = await startSeeded();
});
afterAll(() => service.stop());

/** The same bodies on every run; change it to look elsewhere. */
const SEED = 20_260_131;

/** Any text that JSON can carry, halves of surrogate pairs and control characters among it. */
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 0x22, 0x27, 0x2a, 0xd800, 0xdfff)), {
    maxLength: 20,
  })
  .map((codes) => String.fromCharCode(...codes));
const anyNumber = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-0, 1e308),
);
const { anyJson } = fc.letrec((tie) => ({
  anyJson: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    anyNumber,
    anyText,
    fc.array(tie('anyJson'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(anyText, fc.constantFrom('op', 'memory', '__proto__', 'constructor', 'length')),
      tie('anyJson'),
      {
        maxKeys: 4,
      },
    ),
  ),
}));

/** A right body with up to three of its parts replaced: it comes further into the service than noise does. */
const almostRight = (body: object) =>
  fc
    .array(fc.tuple(fc.constantFrom(...pathsIn(body).slice(1)), anyJson), { minLength: 1, maxLength: 3 })
    .map((changes) =>
      changes.reduce<unknown>((changed, [path, value]) => {
        try {
          return withValue(changed, path, value);
        } catch {
          // An earlier change took away what this one would have replaced.
          return changed;
        }
      }, body),
    );

async function neverFails(path: string, body: unknown, method?: 'PATCH'): Promise<void> {
  const before = digestOf(service);
  const text = JSON.stringify(body);
  const request = method === 'PATCH' ? service.http.patch(path) : service.http.post(path);
  const answer = await request.set('content-type', 'application/json').send(text);
  if (answer.status < 300) return;
  expectRefusal(answer);
  expect(digestOf(service)).toEqual(before);
}

describe.each([...new Map(FULL_BODIES.map((each) => [each.path, each])).values()])('$path', ({ path, method }) => {
  test('answers any JSON value with a problem or with success', async () => {
    await fc.assert(
      fc.asyncProperty(anyJson, (body) => neverFails(path, body, method)),
      { numRuns: 60, seed: SEED },
    );
  });
});

describe.each(FULL_BODIES)('$name', ({ path, body, method }) => {
  test('answers any body that is nearly right with a problem or with success', async () => {
    await fc.assert(
      fc.asyncProperty(almostRight(body), (changed) => neverFails(path, changed, method)),
      { numRuns: 80, seed: SEED },
    );
  });
});

test('any text at all is a query, a repo id and an id that never fails', async () => {
  await fc.assert(
    fc.asyncProperty(anyText, anyText, async (query, repoId) => {
      await neverFails('/memory/read', { op: 'read', repo_id: repoId, mode: 'targeted', query });
      const place = { repo_id: repoId.toWellFormed() };
      for (const answer of [
        await service.http.get('/stats').query(place),
        await service.http.get(`/memory/${encodeURIComponent(query.toWellFormed())}`).query(place),
      ]) {
        if (answer.status !== 200) expectRefusal(answer);
      }
    }),
    { numRuns: 60, seed: SEED },
  );
});
