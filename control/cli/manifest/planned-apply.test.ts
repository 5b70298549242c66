/** Proves what a pipeline needs of manifests: exit codes, a plan for programs, and its lock. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

let waf: TestControl;
let folder: string;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  folder = mkdtempSync(join(tmpdir(), 'waf-plan-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await waf.control.close();
});
afterEach(() => vi.restoreAllMocks());

async function run(...line: string[]): Promise<{ code: number; out: string; err: string }> {
  const printed = keepPrinted();
  const commands = await loadCommands(line);
  const code = await runCommandLine(commands, [...line, '--admin-socket', waf.socket]);
  return { code, out: printed.out, err: printed.err };
}

function manifest(port: number): string {
  const path = join(folder, 'pool.yaml');
  const spec = `spec: { endpoints: [{ url: 'http://127.0.0.1:${port}' }] }`;
  writeFileSync(path, `apiVersion: waf.io/v1\nkind: Upstream\nmetadata: { name: pool }\n${spec}\n`);
  return path;
}

test('a pipeline looks at a plan, carries out that one, and sees drift by the exit code', async () => {
  const file = manifest(9000);
  const seen = await run('diff', '-f', file, '--output', 'json');
  expect(seen.code).toBe(2);
  const plan = JSON.parse(seen.out) as { id: string; changes: { action: string }[] };
  expect(plan.changes.map(({ action }) => action)).toEqual(['create']);
  const wrong = await run('apply', '-f', file, '--plan', '0'.repeat(64));
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('the plan is another one')]);
  expect((await run('apply', '-f', file, '--plan', plan.id)).code).toBe(0);
  expect((await run('diff', '-f', file)).code).toBe(0);
  const drifted = await run('diff', '-f', manifest(9001));
  expect([drifted.code, drifted.err]).toEqual([2, expect.stringMatching(/^plan [0-9a-f]{64}$/m)]);
  expect((await run('diff', '-f', join(folder, 'none.yaml'))).code).toBe(1);
});
