import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allItems, type Pack } from '../support/requests.js';
import { type Service, startService } from '../support/service.js';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const shim = fileURLToPath(new URL('../support/curl.mjs', import.meta.url));

let service: Service;
let commands: string;
beforeAll(async () => {
  service = await startService();
  commands = mkdtempSync(join(tmpdir(), 'loci-commands-'));
});
afterAll(async () => {
  await service.stop();
  rmSync(commands, { recursive: true, force: true });
});

function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('the five calls of the README do what it says, as a shell runs them', async () => {
  const [, story] = readme.match(/<!-- story[^>]*-->\s*```sh\n([\s\S]*?)```/) ?? [];
  if (!hasCurl()) {
    const curl = join(commands, 'curl');
    writeFileSync(curl, `#!/bin/sh\nexec "${process.execPath}" "${shim}" "$@"\n`);
    chmodSync(curl, 0o755);
  }
  const address = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', story as string], {
    env: { ...process.env, LOCI: address, PATH: `${commands}:${process.env.PATH}` },
  });
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(answers).toHaveLength(3);
  const [failedTactic, pack, vote] = answers as [{ memory_id: string }, Pack, { applied: boolean }];
  expect(pack.direct[0]).toMatchObject({ kind: 'problem', why_included: 'direct_match' });
  const found = new Map(allItems(pack).map((item) => [item.kind, item]));
  expect([...found.keys()].sort()).toEqual(['failed_tactic', 'problem', 'solution']);
  expect(found.get('failed_tactic')?.memory_id).toBe(failedTactic.memory_id);
  expect(pack.meta.tokens?.used).toBeGreaterThan(0);
  expect(vote.applied).toBe(true);
});
