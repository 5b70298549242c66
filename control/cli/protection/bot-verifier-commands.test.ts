/** Tests `waf bot verifier-…` against a control: what is not named stays, secrets stay inside. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../../test/support/printed.ts';
import { writeSmallRuleset } from '../../../test/support/small-ruleset.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

const commands = await loadCommands([]);
const folder = mkdtempSync(join(tmpdir(), 'waf-verifiers-'));
const secretFile = join(folder, 'secret.txt');
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null, rulesetFolder: writeSmallRuleset(folder) });
  writeFileSync(secretFile, 'hidden-secret\n');
});
afterAll(() => waf.control.close());
afterEach(() => vi.restoreAllMocks());

async function run(line: string): Promise<string> {
  const printed = keepPrinted();
  const args = ['bot', ...line.split(' '), '--admin-socket', waf.socket];
  const code = await runCommandLine(commands, args);
  return `${code} ${printed.err}${printed.out}`;
}

test('a verifier is set, changed and deleted', async () => {
  const made = await run(
    `verifier-set shop --kind turnstile --host a.test --site-key k1 --secret-file ${secretFile}`,
  );
  expect(made).toMatch(/^0 /);
  expect(made).toMatch(/shop\s+turnstile\s+a\.test\s+k1\s+configured\s+yes/);
  expect(await run('verifier-set shop --host b.test')).toMatch(/a\.test b\.test\s+k1/);
  expect(await run('verifier-set shop --host c.test --replace --fallback no')).toContain(
    '--host taken away: a.test',
  );
  const listed = await run('verifier-list');
  expect(listed).toMatch(/shop\s+turnstile\s+c\.test\s+k1\s+configured\s+no/);
  expect(listed).not.toContain('hidden-secret');
  expect(await run('verifier-set shop --verify-url https://evil.example/')).toContain(
    'must be given with a new address',
  );
  expect(await run('verifier-delete other')).toContain('no verifier has the name other');
  expect(await run('verifier-delete shop')).toMatch(/^0 /);
  expect(await run('verifier-list')).not.toContain('shop');
});

test.each([
  ['verifier-set shop', 'nothing to change'],
  ['verifier-set shop --min-score 2', 'from 0 to 1'],
  ['verifier-set shop --kind turnstile --host a.test --site-key k', 'secret'],
  ['verifier-set shop --fallback no --remove --replace --host a', 'exclude each other'],
])('%s is refused', async (line, message) => {
  const answer = await run(line);
  expect(answer).toMatch(/^[12] /);
  expect(answer).toContain(message);
});
