/** Whether what was typed can be sent, or goes on in the next line. The service judges everything else about it. */

const BLANK = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const TEXT = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|'[^'\\]*(?:\\[\s\S][^'\\]*)*'/y;
const PATTERN = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const WORD = /[\w$\u0080-\uffff]+/y;
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;

/** After these words a slash begins a pattern; after any other it divides. */
const WORDS_BEFORE_VALUES = new Set(['return', 'typeof', 'case', 'of', 'in', 'do', 'else', 'void', 'delete', 'await']);

const CLOSERS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** False while a bracket, a quote, a template or a comment is open. */
export function isComplete(code: string): boolean {
  const open: string[] = [];
  let isAfterValue = false;
  let at = 0;
  const take = (token: RegExp): string | null => {
    token.lastIndex = at;
    const found = token.exec(code)?.[0] ?? null;
    if (found !== null) at += found.length;
    return found;
  };
  while (at < code.length) {
    if (open.at(-1) === '`') {
      take(TEMPLATE_TEXT);
      if (at >= code.length) return false;
      isAfterValue = code[at] === '`';
      if (isAfterValue) open.pop();
      else open.push('${');
      at += isAfterValue ? 1 : 2;
      continue;
    }
    if (take(BLANK) !== null) continue;
    if (code.startsWith('/*', at)) return false;
    if (take(TEXT) !== null || (!isAfterValue && take(PATTERN) !== null)) {
      isAfterValue = true;
      continue;
    }
    const word = take(WORD);
    if (word !== null) {
      isAfterValue = !WORDS_BEFORE_VALUES.has(word);
      continue;
    }
    const sign = code[at++] as string;
    if (sign === '"' || sign === "'") return false;
    if (sign === '`' || sign in CLOSERS) open.push(sign);
    // A bracket that closes nothing is an error, and no further line would mend it.
    if (/[)\]}]/.test(sign) && closerOf(open.pop()) !== sign) return true;
    isAfterValue = /[)\]}]/.test(sign);
  }
  return open.length === 0;
}

const closerOf = (opener: string | undefined): string | undefined => (opener === '${' ? '}' : CLOSERS[opener ?? '']);
