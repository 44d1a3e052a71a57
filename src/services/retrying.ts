import { ApplyConflict } from '../storage/port.js';

/** Plans are made again when somebody else was faster; a caller who keeps losing is told so. */
const ATTEMPTS_MAX = 32;

export async function retrying<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ApplyConflict) || count === ATTEMPTS_MAX) throw error;
    }
  }
}
