import { StoreUnavailable } from '../storage/port.js';
import type { Context } from './context.js';

/** Resolves when the store can be read and written. Whatever is wrong with it otherwise, it is unavailable to the caller. */
export async function checkReadiness({ store }: Context): Promise<void> {
  try {
    await store.check();
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw Object.assign(new StoreUnavailable('unusable', 'the store cannot be read and written'), { cause: error });
  }
}
