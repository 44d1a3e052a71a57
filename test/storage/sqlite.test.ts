import { SqliteStore } from '../../src/storage/sqlite/store.js';
import { temporaryDirectory } from '../support/directories.js';
import { START_MS } from '../support/plans.js';
import { storeConformance } from './conformance.js';

storeConformance('the store on SQLite files', async () => {
  const directory = temporaryDirectory();
  const open = () => new SqliteStore({ file: directory.path('memory.db'), openSpacesMax: 10, now: () => START_MS });
  let store = open();
  return {
    store,
    reopen: async () => {
      await store.close();
      store = open();
      return store;
    },
    cleanUp: async () => {
      await store.close();
      directory.remove();
    },
  };
});
