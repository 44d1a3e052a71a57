import type { Config } from '../config.js';
import type { Store } from './port.js';
import { SqliteStore } from './sqlite/store.js';

/** The store that the configuration asks for. Throws `StoreUnavailable` when it cannot be had. */
export const openStore = (config: Config, now: () => number): Store =>
  new SqliteStore({ file: config.databaseFile, openSpacesMax: config.openReposMax, now });
