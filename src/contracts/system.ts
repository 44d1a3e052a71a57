import Type from 'typebox';
import { PROBLEMS } from '../errors.js';
import { named, words } from './schema.js';

/** Health and the descriptions of problems. */

export const Health = named('Health', Type.Object({ status: Type.Literal('ok') }, { examples: [{ status: 'ok' }] }));

export const ByCode = Type.Object({ code: words(Object.keys(PROBLEMS)) });

export const ProblemDescription = named(
  'ProblemDescription',
  Type.Object(
    { code: Type.String(), status: Type.Integer(), title: Type.String(), hint: Type.String() },
    { examples: [{ code: 'conflict', ...PROBLEMS.conflict }] },
  ),
);
