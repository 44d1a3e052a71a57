import SqliteDatabase from 'better-sqlite3';
import { GLOBAL_SPACE, type SpaceName } from '../../domain/spaces.js';
import { StoreUnavailable } from '../port.js';

/** What an answer calls a space's file: the path is nobody's business but the operator's. */
export const nameOf = (space: SpaceName): string =>
  space === GLOBAL_SPACE ? 'the main file' : `the file of repo ${space}`;

type Refusal = (space: SpaceName) => StoreUnavailable;

const full: Refusal = () => new StoreUnavailable('full', 'the disk that holds the store is full');
const busy: Refusal = () => new StoreUnavailable('busy', 'another program holds the store; try again');
const damaged: Refusal = (space) =>
  new StoreUnavailable('unusable', `${nameOf(space)} is damaged; restore it from a backup`);
const outOfReach: Refusal = (space) =>
  new StoreUnavailable(
    'unusable',
    `${nameOf(space)} cannot be read or written; look at the disk and at the rights to the file`,
  );

/** By the engine's primary code; what is not here is a mistake in the service, and stays as it is. */
const ENGINE_FAILURES: Readonly<Record<string, Refusal>> = {
  FULL: full,
  BUSY: busy,
  LOCKED: busy,
  CORRUPT: damaged,
  NOTADB: damaged,
  IOERR: outOfReach,
  CANTOPEN: outOfReach,
  READONLY: outOfReach,
};

const NO_ROOM: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT'];

/** What the disk or the file is to blame for, as the port's error; the engine's own words go with it into the log. */
export function toUnavailable(error: unknown, space: SpaceName): unknown {
  const refusal = refusalOf(error);
  if (!refusal) return error;
  const unavailable = refusal(space);
  unavailable.cause = error;
  return unavailable;
}

function refusalOf(error: unknown): Refusal | undefined {
  if (isEngineError(error)) return ENGINE_FAILURES[error.code.split('_')[1] as string];
  const { syscall, code } = (error ?? {}) as NodeJS.ErrnoException;
  if (syscall === undefined) return undefined;
  return NO_ROOM.includes(code) ? full : outOfReach;
}

/**
 * Whether a file cannot be read, now or later: it is out of reach, damaged, of a newer version, or holds other tables than it
 * should. A store that is closed or busy says nothing about its files.
 */
export function isBeyondReading(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return error.reason === 'unusable' || error.reason === 'newer';
  return isEngineError(error);
}

const isEngineError = (error: unknown): error is InstanceType<typeof SqliteDatabase.SqliteError> =>
  error instanceof SqliteDatabase.SqliteError;
