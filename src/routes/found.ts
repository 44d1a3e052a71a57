import { Problem } from '../errors.js';

/** What was asked for by its id, or the problem that it is not there. */
export function found<Value>(value: Value | null, what: string, field: string, id: string, repoId: string): Value {
  if (value !== null) return value;
  const name = JSON.stringify(id.slice(0, 80));
  const message = `no ${what} ${name} is visible from repo ${JSON.stringify(repoId)}; ?repo_id= names another`;
  throw new Problem('not_found', message, [{ field, code: 'not_found', message }]);
}
