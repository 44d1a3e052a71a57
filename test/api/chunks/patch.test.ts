import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHUNK_TYPES } from '../../../src/domain/chunk-types.js';
import { typeOf } from '../../../src/domain/forms.js';
import { ChunkClient, type ChunkReport, textOf } from '../../support/chunks.js';
import { expectRefused, GraphClient, idsOf, REPO, sendAtOnce } from '../../support/nodes.js';
import { select } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: ChunkClient;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  client = new ChunkClient(service);
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

const patch = async (id: string, fields: object): Promise<ChunkReport> =>
  (await client.patchChunk(id, fields).expect(200)).body;
const revisionOf = (id: string) => select(service, REPO, 'SELECT revision FROM nodes WHERE id = ?', id)[0]?.revision;

describe('1e.4 a change of', () => {
  test('the content counts its tokens anew, and keeps all else', async () => {
    const made = await client.chunk('The pelican', { tags: ['b', 'a'], confidence: 0.4, conversation_id: 'one' });
    service.clock.advance(1_000);
    const changed = await patch(made.id, { content: textOf(33) });
    expect(changed).toEqual({ ...made, content: textOf(33), tokens: 33 });
    expect(await client.listed({ conversation_id: 'one' })).toEqual([changed]);
  });

  test('the content changes what it is found by', async () => {
    const { id } = await client.chunk('The pelican dives', { tags: ['bird'] });
    await patch(id, { content: 'The cormorant dives' });
    expect(await client.recalled('pelican')).toEqual([]);
    expect(await client.recalled('cormorant')).toEqual(['The cormorant dives']);
    expect(await client.recalled('bird')).toEqual(['The cormorant dives']);
  });

  test('the content leaves the type as it was', async () => {
    const { id } = await client.chunk('Nothing much');
    expect((await patch(id, { content: 'We decided to go' })).type).toBe('note');
  });

  test('the tags puts the new ones in place of the old, in every list and search', async () => {
    const made = await client.chunk('Tagged thing', { tags: ['old', 'both'], conversation_id: 'two' });
    const changed = await patch(made.id, { tags: ['heron', 'both'] });
    expect(changed).toEqual({ ...made, tags: ['heron', 'both'] });
    const listed = async (tags: string) => idsOf(await client.listed({ tags }));
    expect([await listed('old'), await listed('heron'), await listed('both')]).toEqual([[], [made.id], [made.id]]);
    expect(await client.recalled('heron')).toEqual(['Tagged thing']);
    expect(await client.recalled('thing', { tags: ['old'] })).toEqual([]);
    expect((await patch(made.id, { tags: [] })).tags).toEqual([]);
    expect(await client.recalled('heron')).toEqual([]);
    expect(await client.recalled('thing')).toEqual(['Tagged thing']);
  });

  test('the tags makes and ends what it is related to', async () => {
    const one = await client.chunk('One', { tags: ['shared'], conversation_id: 'three' });
    const other = await client.chunk('Other', { conversation_id: 'four' });
    expect((await client.read(one.id)).links.related_to).toEqual([]);
    expect((await patch(other.id, { tags: ['shared'] })).links.related_to).toEqual([one.id]);
    expect((await client.read(one.id)).links.related_to).toEqual([other.id]);
    await patch(one.id, { tags: ['own'] });
    expect((await client.read(other.id)).links.related_to).toEqual([]);
  });

  test('the confidence is kept with the one before, and is in the filters', async () => {
    const made = await client.chunk('How sure', { confidence: 0.95, conversation_id: 'five' });
    expect(await patch(made.id, { confidence: 0.2 })).toEqual({
      ...made,
      metadata: { ...made.metadata, confidence: 0.2 },
    });
    expect(await client.listed({ conversation_id: 'five', min_confidence: 0.3 })).toEqual([]);
    const { body } = await service.http.get(`/nodes/${made.id}/confidence`).query({ repo_id: REPO });
    expect(JSON.stringify(body)).toMatch(/0\.95.*0\.2|0\.2.*0\.95/);
  });

  test('the type is in every list, of nodes too', async () => {
    const made = await client.chunk('What sort', { conversation_id: 'six' });
    for (const type of CHUNK_TYPES) {
      expect(await patch(made.id, { type })).toMatchObject({ id: made.id, content: 'What sort', type });
      expect(idsOf(await client.listed({ conversation_id: 'six', type }))).toEqual([made.id]);
      const { body } = await graph.getNode(made.id).expect(200);
      expect([body.subtype, body.type]).toEqual([type, typeOf('chunk', type)]);
      expect(idsOf(await graph.listed({ form: 'chunk', type: typeOf('chunk', type), limit: 500 }))).toContain(made.id);
    }
  });

  test('everything at once is one change', async () => {
    const made = await client.chunk('Before', { tags: ['x'] });
    const fields = { content: 'After that', type: 'fact', tags: ['y'], confidence: 0 };
    const { headers, body } = await client.patchChunk(made.id, fields).expect(200);
    expect(body).toMatchObject({ content: 'After that', type: 'fact', tags: ['y'], metadata: { confidence: 0 } });
    expect([headers.etag, revisionOf(made.id)]).toEqual(['"2"', 2]);
  });

  test('nothing but what it was is a change all the same, and counts as no look', async () => {
    const made = await client.chunk('As before', { conversation_id: 'seven' });
    expect(await patch(made.id, { content: 'As before' })).toEqual(made);
  });
});

describe('a change is refused, and nothing is stored,', () => {
  test.each([
    ['content', null],
    ['content', 7],
    ['content', 'a\0b'],
    ['content', '\ud83d'],
    ['type', 'opinion'],
    ['type', null],
    ['tags', 'text'],
    ['tags', null],
    ['tags', ['a', 'a']],
    ['tags.0', [1]],
    ['confidence', 1.01],
    ['confidence', -0.01],
    ['confidence', '1'],
    ['confidence', null],
    ['conversation_id', 'other'],
    ['source', 'import'],
    ['tokens', 3],
    ['metadata', {}],
    ['links', {}],
    ['id', 'chunk-2026-01-01-a1b2c3d4'],
  ])('for the shape of %s: %j', async (field, value) => {
    const { id } = await client.chunk('Guarded');
    const request = client.patchChunk(id, { [field.split('.')[0] as string]: value });
    const { code, fields } = await expectRefused(service, request, 400);
    expect([code, fields[0]]).toEqual(['schema_error', field]);
  });

  test.each([
    ['content', ''],
    ['content', ' \n '],
    ['content', textOf(801)],
    ['content', 'b'.repeat(100_001)],
    ['tags', times(51, (index) => `tag ${index}`)],
    ['tags.1', ['a', ' ']],
    ['tags.0', ['b'.repeat(201)]],
  ])('for what %s says', async (field, value) => {
    const { id } = await client.chunk('Guarded');
    const request = client.patchChunk(id, { [field.split('.')[0] as string]: value });
    expect(await expectRefused(service, request, 422)).toEqual({ code: 'semantic_error', fields: [field] });
  });

  test('where it names no field', async () => {
    const { id } = await client.chunk('Guarded');
    await expectRefused(service, client.patchChunk(id, {}), 400);
  });

  test('where the chunk was put away', async () => {
    const { id } = await client.chunk('Put away');
    await client.remove(id);
    expect(await expectRefused(service, client.patchChunk(id, { confidence: 1 }), 404)).toEqual({
      code: 'not_found',
      fields: ['chunk_id'],
    });
  });

  test.each([
    ['content', { content: 'Other' }],
    ['tags', { tags: ['t'] }],
    ['confidence', { confidence: 1 }],
    ['subtype', { subtype: 'fact' }],
  ])('of %s as a node', async (field, fields) => {
    const { id } = await client.chunk('Kept by /chunks');
    const refusal = await expectRefused(service, graph.patchNode(id, fields), 409);
    expect(refusal.fields).toEqual([field]);
  });
});

describe('the ETag', () => {
  const ifMatch = (etag: string) => ['if-match', etag] as const;

  test('of the chunk as it is lets the change through', async () => {
    const { body, headers } = await client.postChunk({ content: 'Read', conversation_id: 'talk' }).expect(201);
    await client
      .patchChunk(body.id, { confidence: 0.1 })
      .set(...ifMatch(headers.etag as string))
      .expect(200);
    const shown = await client.getChunk(body.id).expect(200);
    expect(shown.headers.etag).toBe('"2"');
    await client
      .patchChunk(body.id, { confidence: 0.2 })
      .set(...ifMatch('"2"'))
      .expect(200);
    await client
      .patchChunk(body.id, { confidence: 0.3 })
      .set(...ifMatch('*'))
      .expect(200);
  });

  test('of the chunk as it was refuses the change', async () => {
    const { id } = await client.chunk('Read');
    await patch(id, { content: 'Changed by another' });
    for (const fields of [{ content: 'Too late' }, { tags: [] }, { content: 'Changed by another' }]) {
      const request = client.patchChunk(id, fields).set(...ifMatch('"1"'));
      expect(await expectRefused(service, request, 412)).toEqual({
        code: 'precondition_failed',
        fields: ['headers.if-match'],
      });
    }
  });

  test.each(['1', 'garbage', '"one"', '"1", "2"', '""'])('that is %j is refused', async (etag) => {
    const { id } = await client.chunk('Guarded');
    const request = client.patchChunk(id, { content: 'Changed' }).set(...ifMatch(etag));
    expect((await expectRefused(service, request, 400)).fields).toEqual(['headers.if-match']);
  });

  test('lets one of many through that come at the same time', async () => {
    const { id } = await client.chunk('Wanted');
    const answers = await sendAtOnce(service, () =>
      times(5, (index) => client.patchChunk(id, { content: `By ${index}` }).set(...ifMatch('"1"'))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412]);
    expect(revisionOf(id)).toBe(2);
  });
});

test('changes of several fields at the same time are all kept', async () => {
  const { id } = await client.chunk('Wanted by many', { tags: ['a'] });
  const answers = await sendAtOnce(service, () => [
    client.patchChunk(id, { content: 'Changed' }),
    client.patchChunk(id, { tags: ['b'] }),
    client.patchChunk(id, { confidence: 0.25 }),
    client.patchChunk(id, { type: 'fact' }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const shown = await client.read(id);
  expect(shown).toMatchObject({ content: 'Changed', tags: ['b'], type: 'fact', metadata: { confidence: 0.25 } });
  expect(revisionOf(id)).toBe(5);
});
