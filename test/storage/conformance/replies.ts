import { expect, test } from 'vitest';
import { idOf, insert, keep, OTHER_REPO, REPO, START_MS } from '../../support/plans.js';
import { expectConflict, type Subject } from './subject.js';

export function replies(subject: Subject): void {
  const found = (key: string, repoId = REPO, sinceMs = 0) => subject.store.findReply(repoId, key, sinceMs);

  test('an unknown key has no reply', async () => {
    expect(await found('key-1')).toBeNull();
    await subject.apply(keep('key-1'));
    expect(await found('key-2')).toBeNull();
    expect(await found('KEY-1')).toBeNull();
  });

  test('a reply comes back as it was kept', async () => {
    const reply = JSON.stringify({ text: `it's "quoted" 🙂\n` });
    await subject.apply(insert(idOf(1)), keep('key-1', { requestDigest: 'digest', reply }));
    expect(await found('key-1')).toEqual({ requestDigest: 'digest', reply });
  });

  test('a key is taken once, and the first reply stays', async () => {
    await subject.apply(keep('key-1', { reply: 'first' }));
    await expectConflict(subject.apply(insert(idOf(1)), keep('key-1', { reply: 'second' })), 'key_taken');
    expect((await found('key-1'))?.reply).toBe('first');
  });

  test('the same key in another repo is another key', async () => {
    await subject.apply(keep('key-1', { reply: 'shop' }));
    await subject.applyIn(OTHER_REPO, keep('key-1', { repoId: OTHER_REPO, reply: 'till' }));
    expect((await found('key-1'))?.reply).toBe('shop');
    expect((await found('key-1', OTHER_REPO))?.reply).toBe('till');
  });

  test('a reply to a write of global scope is found by the repo that asked, and by no other', async () => {
    await subject.applyGlobal(keep('key-1', { reply: 'shop' }));
    await subject.applyGlobal(keep('key-1', { repoId: OTHER_REPO, reply: 'till' }));
    expect((await found('key-1'))?.reply).toBe('shop');
    expect((await found('key-1', OTHER_REPO))?.reply).toBe('till');
    expect(await found('key-1', 'acme/third')).toBeNull();
  });

  test('a key that guards a write of global scope guards the repo too, and the other way round', async () => {
    await subject.applyGlobal(keep('key-1'));
    await expectConflict(subject.apply(insert(idOf(1)), keep('key-1')), 'key_taken');
    await subject.apply(keep('key-2'));
    await expectConflict(subject.applyGlobal(keep('key-2')), 'key_taken');
    await subject.applyIn(OTHER_REPO, keep('key-1', { repoId: OTHER_REPO }));
    await subject.applyGlobal(keep('key-3', { repoId: OTHER_REPO }));
  });

  test('a reply that is older than asked for is not found', async () => {
    await subject.apply(keep('key-1', { atMs: START_MS }));
    expect(await found('key-1', REPO, START_MS)).not.toBeNull();
    expect(await found('key-1', REPO, START_MS + 1)).toBeNull();
  });

  test('a reply in the other space that is too old to be kept bars no one', async () => {
    await subject.applyGlobal(keep('key-1', { reply: 'first' }));
    const later = { atMs: START_MS + 10, forgetBeforeMs: START_MS + 5 };
    await subject.apply(keep('key-1', { reply: 'second', ...later }));
    expect((await found('key-1', REPO, START_MS + 5))?.reply).toBe('second');
  });

  test('replies are forgotten once a later plan says from when on they are kept', async () => {
    await subject.apply(keep('old', { atMs: START_MS }));
    await subject.apply(keep('young', { atMs: START_MS + 1 }));
    await subject.apply(keep('new', { atMs: START_MS + 10, forgetBeforeMs: START_MS + 1 }));
    expect(await found('old')).toBeNull();
    expect(await found('young')).not.toBeNull();
    expect(await found('new')).not.toBeNull();
  });

  test('a forgotten key may be taken again, by the very plan that forgets it', async () => {
    await subject.apply(keep('key-1', { reply: 'first' }));
    await subject.apply(keep('key-1', { reply: 'second', atMs: START_MS + 10, forgetBeforeMs: START_MS + 10 }));
    expect((await found('key-1'))?.reply).toBe('second');
  });

  test('a plan that fails forgets nothing', async () => {
    await subject.apply(keep('old'), keep('taken', { atMs: START_MS + 10 }));
    const failing = keep('taken', { atMs: START_MS + 20, forgetBeforeMs: START_MS + 5 });
    await expectConflict(subject.apply(failing), 'key_taken');
    expect(await found('old')).not.toBeNull();
  });
}
