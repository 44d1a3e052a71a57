/**
 * The part of the sandbox that runs inside it, evaluated before the snippet: it makes the host functions and `print`,
 * and turns values into text. Whatever it needs it takes hold of before the snippet starts, so that one that redefines
 * `JSON` or the prototypes spoils its own data at most. Texts are cut here: the host never copies more than it accepts.
 *
 * `callHost` takes a name and a JSON array of arguments and gives a `CallReply` as JSON text; `printHost` takes a line
 * as JSON text. Text is all that crosses, because the library ends a string at its first NUL.
 */
export const BRIDGE = `(callHost, printHost, namesText, lineMax, textMax, messageMax) => {
  const { parse, stringify } = JSON;
  const { defineProperty } = Object;
  const text = String;
  const { isFinite } = Number;
  const Failure = Error;
  const Dictionary = Map;
  const Collection = Set;
  const cut = Function.prototype.call.bind(String.prototype.slice);

  const describe = (error) => {
    const { name, message } = error;
    const kind = typeof name === 'string' ? name : 'Error';
    return typeof message === 'string' && message !== '' ? kind + ': ' + message : kind;
  };

  /** What JSON has no word for becomes text, and a collection the array of its entries. */
  const plain = (_key, value) => {
    switch (typeof value) {
      case 'bigint':
      case 'symbol':
        return text(value);
      case 'function':
        return '[function ' + (typeof value.name === 'string' && value.name !== '' ? value.name : 'anonymous') + ']';
      case 'object':
        if (value instanceof Failure) return describe(value);
        if (value instanceof Dictionary || value instanceof Collection) return [...value];
    }
    return value;
  };

  const dataOf = (value) => stringify(value, plain) ?? 'null';

  const show = (value) => {
    const simple = plain('', value);
    return typeof simple === 'object' ? text(stringify(simple, plain)) : text(simple);
  };

  /**
   * What the host refuses because a limit was met must not go on, whatever catches it. The engine asks whether it is over
   * in loops only, and a snippet that does little between two calls has none worth the name. No list is walked here: the snippet
   * may have changed how.
   */
  const reach = (host, first, second) => {
    try {
      return host(first, second);
    } catch (error) {
      if (cut(text(error.message), 0, 13) !== 'limit reached') throw error;
      for (;;);
    }
  };

  const functionNamed = (name) => ({
    [name]: (...values) => {
      let list = '[';
      for (let index = 0; index < values.length; index++) {
        const value = values[index];
        // JSON would make null of it, which means that the argument was left out.
        if (typeof value === 'number' && !isFinite(value)) {
          throw new Failure('argument ' + (index + 1) + ' is ' + value + '; give a number that is finite');
        }
        list += (index > 0 ? ',' : '') + dataOf(value);
      }
      const reply = parse(reach(callHost, name, cut(list + ']', 0, textMax)));
      if (reply[0] === 'failed') throw new Failure(reply[1]);
      return reply[1];
    },
  })[name];

  const print = (...values) => {
    let line = '';
    for (let index = 0; index < values.length; index++) line += (index > 0 ? ' ' : '') + show(values[index]);
    reach(printHost, stringify(cut(line, 0, lineMax)));
  };

  const define = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
  for (const name of parse(namesText)) define(name, functionNamed(name));
  define('print', print);

  return {
    /** The value that the engine wraps the completion of a script in. */
    completionOf: (script) => script.value,
    toText: (value) => cut(dataOf(value), 0, textMax),
    /** A JSON array of the message and the stack. */
    explain: (thrown) => {
      const stack = thrown instanceof Failure ? thrown.stack : '';
      const lines = typeof stack === 'string' ? cut(stack, 0, messageMax) : '';
      return '[' + stringify(cut(show(thrown), 0, messageMax)) + ',' + stringify(lines) + ']';
    },
  };
}`;
