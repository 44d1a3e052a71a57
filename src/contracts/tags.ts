import Type from 'typebox';
import { Problem } from '../errors.js';

/** The tags that a list is asked for. */

export const TagsQuery = Type.Optional(
  Type.Array(Type.String({ minLength: 1 }), {
    minItems: 1,
    maxItems: 50,
    description:
      'Only what has all of these: separated by commas, or said several times and then each taken as it stands, commas and blanks included',
    examples: [['payment,retry'], ['payment', 'late, very late']],
  }),
);

/** White space around a comma is nobody's tag; a tag that has some, or a comma, is told by saying tags more than once. */
export function toTags(said: readonly string[] | undefined): string[] {
  if (said === undefined) return [];
  const tags = said.length > 1 ? said : said.flatMap((list) => list.split(',').flatMap((tag) => tag.trim() || []));
  if (tags.length > 0) return [...new Set(tags)];
  const message = 'names no tag; leave it out to ask for all, or say it twice for a tag of commas and blanks';
  throw new Problem('schema_error', `tags ${message}`, [{ field: 'tags', code: 'schema_error', message }]);
}
