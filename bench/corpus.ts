import type { BatchItem } from '../src/contracts/batch.js';
import type { Random } from './random.js';
import type { Vocabulary } from './vocabulary.js';

type MemoryInput = Extract<BatchItem, { op: 'write' }>['memory'];
type Links = MemoryInput['links'];

/** Ids of one repo that later memories may refer to. */
export interface Known {
  readonly problems: string[];
  readonly facts: string[];
}

/** How many of a repo's ids are kept to refer to: enough that no memory becomes a hub. */
export const KNOWN_MAX = 200;

const EVIDENCE_POOL = 5_000;

/** Memories as agents leave them: problems with attempts, facts with what replaced them, and what is related. */
export class Corpus {
  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly random: Random,
  ) {}

  /** Ten memories that hang together, and what was said about them afterwards. */
  story(prefix: string): BatchItem[] {
    const write = (ref: string, kind: MemoryInput['kind'], links?: Links): BatchItem => ({
      op: 'write',
      ref: prefix + ref,
      memory: this.#memory(kind, links),
    });
    const at = (ref: string): string => `@${prefix}${ref}`;
    return [
      write('problem', 'problem'),
      write('failed', 'failed_tactic', { problem_id: at('problem') }),
      write('solution', 'solution', { problem_id: at('problem') }),
      write('old', 'fact'),
      write('new', 'fact'),
      write('change', 'change'),
      write('wish', 'preference', { related_memory_ids: [at('new')] }),
      write('fact1', 'fact'),
      write('fact2', 'fact', { related_memory_ids: [at('fact1'), at('solution')] }),
      write('fact3', 'fact'),
      {
        op: 'update',
        memory_id: at('change'),
        update: { type: 'fact_update_link', old_fact_id: at('old'), new_fact_id: at('new') },
      },
      {
        op: 'update',
        memory_id: at('solution'),
        update: { type: 'utility_vote', problem_id: at('problem'), vote: 1 },
      },
    ];
  }

  /** The body of one write of a new text: in turn every kind, in the shares that the stories have. */
  write(repoId: string, known: Known, turn: number): string {
    return JSON.stringify({ op: 'write', repo_id: repoId, memory: this.#turn(known, turn % 10) });
  }

  read(repoId: string): string {
    return JSON.stringify({
      op: 'read',
      repo_id: repoId,
      mode: 'targeted',
      query: this.vocabulary.query(this.random),
    });
  }

  #turn({ problems, facts }: Known, turn: number): MemoryInput {
    if (turn === 0) return this.#memory('problem');
    if (turn === 1) return this.#memory('failed_tactic', { problem_id: this.random.pick(problems) });
    if (turn === 2) return this.#memory('solution', { problem_id: this.random.pick(problems) });
    if (turn === 3) return this.#memory('change');
    if (turn === 4) return this.#memory('preference', { related_memory_ids: [this.random.pick(facts)] });
    if (turn === 5) {
      return this.#memory('fact', { related_memory_ids: [this.random.pick(facts), this.random.pick(problems)] });
    }
    return this.#memory('fact');
  }

  #memory(kind: MemoryInput['kind'], links?: Links): MemoryInput {
    return {
      text: this.vocabulary.text(this.random),
      scope: 'repo',
      kind,
      confidence: this.random.between(50, 100) / 100,
      evidence_refs: [
        `commit:${this.random
          .between(0, EVIDENCE_POOL - 1)
          .toString(16)
          .padStart(7, '0')}`,
      ],
      ...(links === undefined ? {} : { links }),
    };
  }
}
