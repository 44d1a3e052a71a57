import Type from 'typebox';
import { checkRepoId } from '../domain/rules.js';
import { passGate } from '../domain/violations.js';
import { Problem } from '../errors.js';
import { withDefaults } from './schema.js';

/** The contracts of agents at work call a repo a project, and name it in the body; `repo_id` in the URL means the same. */

const REPO_DEFAULT = 'default';

export const ProjectId = Type.String({
  minLength: 1,
  description: 'The project, which other routes call repo_id; "default" if left out. Nothing of another is ever seen.',
  examples: ['acme/shop'],
});

export const InProject = withDefaults({
  repo_id: Type.Optional(Type.String({ minLength: 1, description: 'The same as project_id in the body' })),
});

/** The repo that is meant, in a form that can be one. */
export function toRepoId(query: { repo_id?: string }, body: { project_id?: string }): string {
  if (query.repo_id !== undefined && body.project_id !== undefined && query.repo_id !== body.project_id) {
    const message = 'is not the repo_id of the URL; name the project once';
    throw new Problem('schema_error', `project_id ${message}`, [
      { field: 'project_id', code: 'schema_error', message },
    ]);
  }
  const repoId = body.project_id ?? query.repo_id ?? REPO_DEFAULT;
  passGate('semantic', checkRepoId(body.project_id === undefined ? 'repo_id' : 'project_id', repoId));
  return repoId;
}
