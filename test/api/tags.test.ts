import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChunkClient } from '../support/chunks.js';
import { EpisodeClient } from '../support/episodes.js';
import { NarrativeClient } from '../support/narratives.js';
import { expectRefused, REPO } from '../support/nodes.js';
import { type Service, startService } from '../support/service.js';

/** Every list that can be asked for tags takes them in the same ways. */

const TAGS = ['plain', 'with, comma', ' padded '];
const LISTS = [
  ['/episodes', 'memories'],
  ['/chapters', 'chapters'],
  ['/wisdom', 'wisdom'],
  ['/chunks', 'chunks'],
] as const;

let service: Service;
beforeAll(async () => {
  service = await startService();
  const episodes = new EpisodeClient(service);
  const narratives = new NarrativeClient(service);
  const { agent } = await episodes.register();
  const tagged = await episodes.store(agent.id, { tags: TAGS });
  const plain = await episodes.store(agent.id, { tags: ['plain', 'comma'] });
  const chapters = [await narratives.chapter([tagged]), await narratives.chapter([tagged])];
  const others = [await narratives.chapter([plain]), await narratives.chapter([plain])];
  for (const made of [chapters, others]) await narratives.wisdom({ chapter_ids: made.map(({ id }) => id) });
  const chunks = new ChunkClient(service, REPO);
  await chunks.chunk('The tagged one', { tags: TAGS });
  await chunks.chunk('The plain one', { tags: ['plain', 'comma'] });
});
afterAll(() => service.stop());

const get = (path: string, query: string) => service.http.get(`${path}?repo_id=${encodeURIComponent(REPO)}&${query}`);

describe.each(LISTS)('%s', (path, key) => {
  const count = async (query: string): Promise<number> => (await get(path, query).expect(200)).body[key].length;
  /** Of chapters there are two of each. */
  const one = path === '/chapters' ? 2 : 1;

  test('takes tags that are said several times as they stand', async () => {
    expect(await count('tags=plain&tags=with%2C%20comma')).toBe(one);
    expect(await count('tags=with%2C%20comma&tags=with%2C%20comma')).toBe(one);
    expect(await count('tags=%20padded%20&tags=plain')).toBe(one);
    expect(await count('tags=padded&tags=plain')).toBe(0);
  });

  test('takes apart at its commas what is said once', async () => {
    expect(await count('tags=%20plain%20,comma,')).toBe(one);
    expect(await count('tags=with%2C%20comma')).toBe(0);
  });

  test.each(['%2C', '%20', '%20%2C%20%2C', ''])('refuses tags=%s, which names none', async (tags) => {
    const { code, fields } = await expectRefused(service, get(path, `tags=${tags}`), 400);
    expect([code, fields[0]]).toEqual(['schema_error', 'tags']);
  });
});
