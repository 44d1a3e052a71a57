/** What exists inside a snippet, as the prompt tells it. */
const FUNCTIONS = [
  ['memory_query', '(query, limit = 10, tier?)', 'nodes that hold words of the query, best first'],
  ['memory_add_fact', "(content, confidence = 0.5, tier = 'task')", 'adds a fact, gives its id'],
  ['memory_add_experience', "(content, outcome, success, tier = 'session')", 'adds an experience, gives its id'],
  ['memory_get_context', '(limit = 10, tier?)', 'the surest nodes'],
  ['memory_relate', '(label, subject_id, object_id)', 'relates two nodes, gives the id of the edge'],
  ['memory_read', '(query, limit = 10)', 'memories that bear on a question, with why'],
  ['print', '(...values)', 'prints a line'],
] as const;

export const FUNCTION_NAMES: readonly string[] = FUNCTIONS.map(([name]) => name);

const COMMANDS = ['.help', '.exit'];

export const HELP = `${FUNCTIONS.map(([name, signature, what]) => `${name}${signature}\n    ${what}`).join('\n')}
Tiers are task, session, longterm and archive. What one entry writes is stored together, or not at all.
Each entry starts anew: no variable outlives it. Ctrl-C clears the entry, Ctrl-D or .exit ends.
`;

/** What the end of the line may become, and that end: what readline asks of a completer. */
export function completionsOf(line: string): [string[], string] {
  if (line.startsWith('.')) return [COMMANDS.filter((command) => command.startsWith(line)), line];
  const [, before = '', word = ''] = /(^|[^\w$])([\w$]*)$/.exec(line) ?? [];
  // A property of something is none of these.
  if (before === '.') return [[], word];
  return [FUNCTION_NAMES.filter((name) => name.startsWith(word)), word];
}
