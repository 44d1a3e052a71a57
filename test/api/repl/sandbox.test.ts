import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failing, lasting, postSnippet, REPO, resultOf, run } from '../../support/repl.js';
import { type Service, startService } from '../../support/service.js';

/** What a snippet cannot reach, and what it may not use up. */

let service: Service;
beforeAll(async () => {
  service = await startService();
  await run(service, 'memory_add_fact("There is something to lose")');
});
afterAll(() => service.stop());

describe('SPEC-02.32 in a snippet exist the memory functions, print and plain JavaScript', () => {
  test('and nothing of the host', async () => {
    const names = [
      ...['process', 'require', 'module', 'exports', 'global', 'Buffer', 'console', '__dirname', '__filename'],
      ...['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'URL', 'Worker', 'WebAssembly', 'navigator'],
      ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'structuredClone', 'performance'],
      ...['std', 'os', 'bjson', 'scriptArgs', 'load', 'Deno', 'Bun', 'sqlite', 'database', 'store'],
    ];
    const found = await resultOf(service, `${JSON.stringify(names)}.filter((name) => name in globalThis)`);
    expect(found).toEqual([]);
  });

  test('by their names', async () => {
    const named =
      'Object.getOwnPropertyNames(globalThis).filter((name) => /memory|print|host|call/i.test(name)).sort()';
    expect(await resultOf(service, named)).toEqual([
      'memory_add_experience',
      'memory_add_fact',
      'memory_get_context',
      'memory_query',
      'memory_read',
      'memory_relate',
      'print',
    ]);
  });

  test.each([
    'require("fs")',
    'process.exit(1)',
    'fetch("http://127.0.0.1")',
    'setTimeout(() => {}, 1)',
    'await import("node:fs")',
    'import("os")',
    'import fs from "node:fs"',
    'memory_query.constructor("return process")().exit(1)',
    '(() => {}).constructor.constructor("return require")()("fs")',
  ])('so %s fails, and the service lives on', async (code) => {
    expect(await failing(service, code)).toMatch(/^(Reference|Syntax|Type)Error: /);
    await service.http.get('/health/ready').expect(200);
  });

  test('and a function’s constructor sees no more than the snippet', async () => {
    expect(await resultOf(service, 'memory_query.constructor("return typeof process + typeof require")()')).toBe(
      'undefinedundefined',
    );
  });
});

describe('SPEC-02.33 no snippet reaches SQL', () => {
  test.each([
    `'; DROP TABLE nodes; --`,
    `" OR 1=1 --`,
    `x') UNION SELECT name FROM sqlite_master --`,
    `content:* NEAR("a" "b")`,
    `*`,
  ])('the words %j are words, wherever they stand', async (words) => {
    const before = lasting(service);
    const text = JSON.stringify(words);
    const code = `const found = [memory_query(${text}), memory_read(${text} + " absent")];
      for (const call of [() => memory_query("x", ${text}), () => memory_query("x", 5, ${text}),
        () => memory_get_context(5, ${text}), () => memory_add_fact("x", 0.5, ${text}),
        () => memory_relate(${text}, ${text}, ${text})]) {
        try { call(); print("taken") } catch (error) { print("refused") }
      }`;
    const { printed } = await run(service, code);
    expect(printed).toEqual(Array(5).fill('refused'));
    expect(lasting(service)).toEqual(before);
  });
});

describe('SPEC-02.32 each limit is named', () => {
  test.each([
    ['time', 'for (;;);', 'computed for more than 1000 ms'],
    ['time in promises', 'for (;;) await null', 'computed for more than'],
    ['time in a pattern', '/^(a+)+$/.test("a".repeat(40) + "b")', 'computed for more than'],
    ['time, whatever is caught', 'for (;;) { try { for (;;); } catch {} }', 'computed for more than'],
    ['output', 'for (;;) print("x".repeat(1000))', 'printed more than 100000 characters'],
    ['output in one line', 'print("x".repeat(100001))', 'printed more than 100000 characters'],
    ['calls', 'for (;;) memory_query("x", 1)', 'made more than 1000 calls'],
    ['calls that fail', 'for (;;) { try { memory_add_fact() } catch {} }', 'made more than 1000 calls'],
    ['memory', 'const all = []; for (;;) all.push(new Array(1000).fill(all.length))', 'bytes of memory'],
    ['memory in one text', '"x".repeat(100000000)', 'bytes of memory'],
    ['recursion', 'const deep = (n) => deep(n + 1) + 1; deep(0)', 'bytes of stack'],
    ['result', '"x".repeat(500001)', 'longer than 500000 characters'],
    ['arguments', 'memory_query("x".repeat(500001))', 'longer than 500000 characters'],
    [
      'arguments of all calls',
      'const long = "x".repeat(99000); for (;;) memory_add_fact(long)',
      'together are longer than 1000000 characters',
    ],
    [
      'arguments of calls that are refused',
      'const long = "x".repeat(490000); for (;;) { try { memory_query(long) } catch {} }',
      'together are longer than 1000000 characters',
    ],
    ['nesting', 'let deep = 1; for (let n = 0; n < 200; n++) deep = [deep]; deep', 'deeper than 100 levels'],
  ])('%s: %s', async (_, code, named) => {
    const detail = await failing(service, `memory_add_fact("before");\n${code}`, 'snippet_limit');
    expect(detail).toContain(named);
    expect(await resultOf(service, '1 + 1')).toBe(2);
  });

  test('and what keeps within it ends well', async () => {
    const { calls, printed } = await run(
      service,
      'for (let n = 0; n < 1000; n++) memory_query("x", 1); print("x".repeat(99999))',
    );
    expect([calls.length, printed[0]?.length]).toEqual([1_000, 99_999]);
  });

  test('a promise that nobody settles is said to be one', async () => {
    expect(await failing(service, 'await new Promise(() => {})')).toContain('promise');
  });
});

/** Sends all of it at once, and answers the names in the order of their answers. */
async function orderOf(requests: Record<string, () => PromiseLike<{ status: number }>>): Promise<string[]> {
  const order: string[] = [];
  await Promise.all(
    Object.entries(requests).map(async ([name, send]) => {
      const { status } = await send();
      order.push(`${name} ${status}`);
    }),
  );
  return order;
}

describe('SPEC-02.32 a hostile snippet holds up nobody else', () => {
  beforeAll(() => service.app.listen({ host: '127.0.0.1', port: 0 }));

  test('who asks for anything else', async () => {
    const endless = () => postSnippet(service, 'for (;;);');
    const order = await orderOf({
      endless,
      live: () => service.http.get('/health/live'),
      list: () => service.http.get('/nodes').query({ repo_id: REPO }),
      write: () => service.http.post('/nodes').query({ repo_id: REPO }).send({ type: 'fact', content: 'meanwhile' }),
    });
    expect(order.slice(0, 3).sort()).toEqual(['list 200', 'live 200', 'write 201']);
    expect(order[3]).toBe('endless 422');
  });

  test('who runs a snippet of their own', async () => {
    const order = await orderOf({
      endless: () => postSnippet(service, 'for (;;);'),
      short: () => postSnippet(service, '1'),
    });
    expect(order).toEqual(['short 200', 'endless 422']);
  });

  test('and when too many run already, one more is told to come again', async () => {
    const order = await orderOf(
      Object.fromEntries(
        Array.from({ length: 40 }, (_, n) => [`s${n}`, () => postSnippet(service, 'for (let n = 0; n < 1e5; n++); 1')]),
      ),
    );
    const statuses = order.map((line) => line.split(' ')[1]);
    expect(statuses.filter((status) => status !== '200' && status !== '503')).toEqual([]);
    expect(statuses.filter((status) => status === '200').length).toBeGreaterThanOrEqual(34);
    expect(await resultOf(service, '2')).toBe(2);
  });
});
