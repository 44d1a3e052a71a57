import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { NarrativeDeleted, NarrativeDeletion, toNarrativeFilter, toNarrativePlace } from '../contracts/chapters.js';
import { InProject, toRepoId } from '../contracts/projects.js';
import { ref } from '../contracts/schema.js';
import { InRepo, problems, STORE_PROBLEMS } from '../contracts/shared.js';
import {
  ByWisdom,
  presentRecalledWisdom,
  presentSynthesized,
  presentWisdom,
  presentWisdoms,
  SynthesizeAnswer,
  SynthesizeInput,
  toSynthesis,
  toWisdomFilter,
  WisdomQuery,
  WisdomRecallAnswer,
  WisdomRecallInput,
  WisdomReport,
  WisdomsAnswer,
} from '../contracts/wisdom.js';
import { listNarratives } from '../services/chapters.js';
import type { Context } from '../services/context.js';
import { removeOfForm } from '../services/nodes.js';
import { readWisdom, recallWisdom, synthesize } from '../services/wisdom.js';
import { found } from './found.js';

const LOOKUP = ['not_found', 'semantic_error', ...STORE_PROBLEMS] as const;
const CHANGE = [...LOOKUP, 'conflict', 'storage_full'] as const;

export const wisdomRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    const foundWisdom = <Value>(value: Value | null, id: string, repoId: string): Value =>
      found(value, 'wisdom', 'wisdom_id', id, repoId);

    app.post(
      '/wisdom/synthesize',
      {
        schema: {
          operationId: 'synthesizeWisdom',
          tags: ['wisdom'],
          summary: 'Distill many chapters into one wisdom, or bring the one that there is up to date',
          querystring: InProject,
          body: ref(SynthesizeInput),
          response: { 200: ref(SynthesizeAnswer), 201: ref(SynthesizeAnswer), ...problems(CHANGE, { body: true }) },
        },
      },
      async ({ query, body }, reply) => {
        const dryRun = body.dry_run ?? false;
        const synthesized = await synthesize(context, toRepoId(query, body), toSynthesis(body), dryRun);
        const isNew = synthesized.action === 'created' && !dryRun;
        return reply.code(isNew ? 201 : 200).send(presentSynthesized(synthesized, dryRun));
      },
    );

    app.post(
      '/wisdom/recall',
      {
        schema: {
          operationId: 'recallWisdom',
          tags: ['wisdom'],
          summary: 'Find wisdom by its words; each look is counted',
          querystring: InProject,
          body: ref(WisdomRecallInput),
          response: {
            200: ref(WisdomRecallAnswer),
            ...problems(['semantic_error', ...STORE_PROBLEMS], { body: true }),
          },
        },
      },
      async ({ query, body }) =>
        presentRecalledWisdom(
          await recallWisdom(context, toRepoId(query, body), body.query, toWisdomFilter(body), body.limit ?? 5),
        ),
    );

    app.get(
      '/wisdom',
      {
        schema: {
          operationId: 'listWisdom',
          tags: ['wisdom'],
          summary: 'Wisdom, newest first',
          querystring: WisdomQuery,
          response: { 200: ref(WisdomsAnswer), ...problems(['invalid_cursor', 'semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ query }) => {
        const place = toNarrativePlace(query.cursor, 'recent');
        const filter = toNarrativeFilter('wisdom', query);
        return presentWisdoms(await listNarratives(context, query.repo_id, filter, 'recent', place, query.limit));
      },
    );

    app.get(
      '/wisdom/:wisdom_id',
      {
        schema: {
          operationId: 'getWisdom',
          tags: ['wisdom'],
          summary: 'One wisdom; the look is counted',
          params: ByWisdom,
          querystring: InRepo,
          response: { 200: ref(WisdomReport), ...problems(LOOKUP) },
        },
      },
      async ({ params, query }) => {
        const wisdom = await readWisdom(context, query.repo_id, params.wisdom_id);
        return presentWisdom(foundWisdom(wisdom, params.wisdom_id, query.repo_id));
      },
    );

    app.delete(
      '/wisdom/:wisdom_id',
      {
        schema: {
          operationId: 'deleteWisdom',
          tags: ['wisdom'],
          summary: 'Archive a wisdom, or remove it for good; its chapters stay',
          params: ByWisdom,
          querystring: NarrativeDeletion,
          response: { 200: ref(NarrativeDeleted), ...problems(CHANGE) },
        },
      },
      async ({ params, query }) =>
        foundWisdom(
          await removeOfForm(context, 'wisdom', query.repo_id, params.wisdom_id, query.permanent),
          params.wisdom_id,
          query.repo_id,
        ),
    );
  };
