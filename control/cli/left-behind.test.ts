/** Changes that would take exclusions away ask first, or want a flag where nobody can be asked. */

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { loadCommands } from './commands.ts';
import { runCommandLine } from './program.ts';

const commands = await loadCommands([]);
const url = 'http://127.0.0.1:9000';
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(() => waf.control.close());
afterEach(() => vi.restoreAllMocks());

/** Exit code, standard output and standard error of a command. */
async function run(line: string): Promise<[code: number, out: string, err: string]> {
  const printed = keepPrinted();
  const args = [...line.split(' '), '--admin-socket', waf.socket, '--output', 'json'];
  const code = await runCommandLine(commands, args);
  return [code, printed.out, printed.err];
}

async function done(line: string): Promise<Record<string, unknown>> {
  const [code, out, err] = await run(line);
  expect([code, code === 0 ? '' : err]).toEqual([0, '']);
  return JSON.parse(out) as Record<string, unknown>;
}

/** A site at a policy of its own, with an exclusion there; its policy's name is `name`. */
async function tuned(name: string): Promise<void> {
  await done(`policy create --name ${name}`);
  await done(`site create --name ${name} --host ${name}.test --upstream ${url} --policy ${name}`);
  await done(`rule override ${name} 942999 disable --site ${name}`);
}

async function policyOf(name: string): Promise<unknown> {
  const { site } = (await done(`site get ${name}`)) as { site: { waf: { policyId: string } } };
  return site.waf.policyId;
}

test('a site leaves its exclusions only with a flag', async () => {
  await tuned('one');
  await done('policy create --name next');
  const before = await policyOf('one');
  const [code, , err] = await run('site update one --policy next');
  expect(code).not.toBe(0);
  expect(err).toMatch(/1 exclusions.*rule 942999.*Add --leave-exclusions/s);
  expect(await policyOf('one')).toBe(before);
  // What changes nothing there is not asked.
  await done('site update one --name uno');
  await done('site update uno --policy one');
  await done('site update uno --policy next --leave-exclusions');
  expect(await policyOf('uno')).not.toBe(before);
});

test('a site of the default policy leaves its exclusions there only with a flag', async () => {
  await done(`site create --name plain --host plain.test --upstream ${url}`);
  await done('rule override Light 942999 disable --site plain');
  await done('policy create --name other');
  const [code, , err] = await run('site update plain --policy other');
  expect(code).not.toBe(0);
  expect(err).toMatch(/1 exclusions.*rule 942999.*Add --leave-exclusions/s);
  // To name the policy that it has anyway changes nothing.
  await done('site update plain --policy Light');
});

test('a policy goes with its exclusions only with a flag', async () => {
  await done('policy create --name bare');
  await done('policy delete bare');
  await done('policy create --name full');
  await done('rule override full 942999 disable');
  const [code, , err] = await run('policy delete full');
  expect(code).not.toBe(0);
  expect(err).toMatch(/rule 942999/);
  await done('policy get full');
  await done('policy delete full --leave-exclusions');
  expect((await run('policy get full'))[0]).not.toBe(0);
});
