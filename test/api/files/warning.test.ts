import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient } from '../../support/episodes.js';
import { DAY_MS, MINUTE_MS, NarrativeClient, type Told, told } from '../../support/narratives.js';
import { type Service, startService } from '../../support/service.js';

const FILE = 'src/payment/charge.ts';
const OTHER_FILE = 'src/auth/session.ts';

let service: Service;
let repos = 0;
let episodes: EpisodeClient;
let narratives: NarrativeClient;
let agentId: string;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  const repoId = `warning/${++repos}`;
  episodes = new EpisodeClient(service, repoId);
  narratives = new NarrativeClient(service, repoId);
  agentId = (await episodes.register()).agent.id;
});

const tried = async (one: Told): Promise<string> => {
  const { id } = await episodes.store(agentId, told({ files: [FILE], ...one }));
  service.clock.advance(MINUTE_MS);
  return id;
};
const warningOn = async (action: string | undefined, fields: object = {}) =>
  (await narratives.check({ file_path: FILE, ...(action !== undefined && { action }), ...fields })).warning;

const LOCK: Told = {
  goal: 'Put a lock around the charge',
  failed: { reason: 'Two servers do not share it', category: 'race_condition' },
  summary: 'Charged twice',
};

describe('an action is warned of', () => {
  test('when its words are those of a failure', async () => {
    const id = await tried(LOCK);
    service.clock.advance(3 * DAY_MS);
    expect(await warningOn('Put a lock around the charge')).toEqual({
      message:
        'Something like this failed 3 days ago: Put a lock around the charge. Two servers do not share it (race_condition)',
      resemblance: 1,
      memory: expect.objectContaining({
        memory_id: id,
        failure_reason: 'Two servers do not share it',
        failure_category: 'race_condition',
        success: false,
      }),
    });
  });

  test.each(['put a LOCK around the charge!', 'Lock the charge', 'Put another lock around each charge'])(
    'when it shares many of its words: %s',
    async (action) => {
      const id = await tried(LOCK);
      const warning = await warningOn(action);
      expect(warning?.memory.memory_id).toBe(id);
      expect(warning?.resemblance).toBeGreaterThan(0.3);
      expect(warning?.resemblance).toBeLessThanOrEqual(1);
    },
  );

  test.each([
    ['Put a lock', 'is contained in it'],
    [
      `Put a lock around the charge, ${'then count all of the refunds of the month and send them off '.repeat(4)}`,
      'contains it',
    ],
  ])('when %j %s, though few of the words are shared', async (action) => {
    const goal =
      action.length > 20
        ? (LOCK.goal as string)
        : `${LOCK.goal} and ${'every other call of the whole shop '.repeat(4)}`;
    const id = await tried({ ...LOCK, goal });
    const warning = await warningOn(action);
    expect(warning?.memory.memory_id).toBe(id);
    expect(warning?.resemblance).toBeLessThan(0.3);
  });

  test('by a failure of any age, whatever else is too old to be told', async () => {
    const id = await tried(LOCK);
    service.clock.advance(3_000 * DAY_MS);
    expect((await warningOn('Lock the charge'))?.memory.memory_id).toBe(id);
  });

  test('when it is like how a failure went about it', async () => {
    const id = await tried({ ...LOCK, goal: 'Be correct', approach: 'Send an idempotency key' });
    expect((await warningOn('Send an idempotency key'))?.memory.memory_id).toBe(id);
  });

  test('with the summary where no reason is known', async () => {
    await tried({ goal: 'Add a lock', failed: {}, summary: 'Charged twice' });
    expect((await warningOn('Add a lock'))?.message).toBe(
      'Something like this failed just now: Add a lock. Charged twice',
    );
  });

  test('by the failure most like it, and of equals by the newest', async () => {
    await tried({ goal: 'Add a lock to the basement door', failed: {} });
    const [, newer] = [
      await tried({ goal: 'Add a lock', failed: {} }),
      await tried({ goal: 'Add a lock', failed: {} }),
    ];
    await tried({ goal: 'Add a lock to the roof window', failed: {} });
    expect((await warningOn('Add a lock'))?.memory.memory_id).toBe(newer);
  });
});

describe('an action is not warned of', () => {
  test('when a single word of it is all that a failure has', async () => {
    await tried({ ...LOCK, goal: `Lock ${'every call of the whole shop with another key '.repeat(4)}` });
    expect(await warningOn('Lock')).toBeNull();
  });

  test.each(['Rename the invoice columns', 'Write documentation', '🙂', '%', '"'])(
    'when it has nothing to do with it: %s',
    async (action) => {
      await tried(LOCK);
      expect(await warningOn(action)).toBeNull();
    },
  );

  test('when it shares too few of its words', async () => {
    await tried({ goal: 'Move invoices from the old ledger into the new archive tables', failed: {} });
    expect(await warningOn('Colour the archive button red and blue on every page')).toBeNull();
  });

  test('when none is named', async () => {
    await tried(LOCK);
    expect(await warningOn(undefined)).toBeNull();
  });

  test('when the same succeeded', async () => {
    await tried({ goal: 'Put a lock around the charge' });
    expect(await warningOn('Put a lock around the charge')).toBeNull();
  });

  test('when it failed on another file', async () => {
    await tried({ ...LOCK, files: [OTHER_FILE] });
    await tried({});
    expect(await warningOn('Put a lock around the charge')).toBeNull();
  });

  test('when the failure was put away', async () => {
    await episodes.remove(await tried(LOCK));
    expect(await warningOn('Put a lock around the charge')).toBeNull();
  });
});

describe('a warning is never held back', () => {
  const action = 'Put a lock around the charge';

  test('by the cooldown', async () => {
    await tried(LOCK);
    const ask = async () => (await narratives.postCheck({ file_path: FILE, action }).expect(200)).body;
    expect(await ask()).toMatchObject({ silent_because: null, warning: { resemblance: 1 } });
    expect(await ask()).toMatchObject({ silent_because: 'cooldown', memories: [], warning: { resemblance: 1 } });
  });

  test('by how many were told in this minute', async () => {
    await tried(LOCK);
    for (let number = 0; number < 5; number++) {
      await tried({ files: [`other-${number}.ts`] });
    }
    service.clock.advance(MINUTE_MS - (service.clock.now() % MINUTE_MS));
    for (let number = 0; number < 5; number++)
      await narratives.postCheck({ file_path: `other-${number}.ts` }).expect(200);
    const { body } = await narratives.postCheck({ file_path: FILE, action }).expect(200);
    expect(body).toMatchObject({ silent_because: 'rate_limit', warning: { resemblance: 1 } });
  });

  test('by min_memories, nor by leaving failures out', async () => {
    await tried(LOCK);
    expect(await warningOn(action, { min_memories: 5 })).not.toBeNull();
    expect(await warningOn(action, { include_failures: false })).not.toBeNull();
  });
});
