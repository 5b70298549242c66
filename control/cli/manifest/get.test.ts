/** Proves that `waf get` shows what `waf apply` reads back, of one kind, all or one. */

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  for (const name of ['one', 'two']) {
    const upstreams = [{ inline: { url: 'http://127.0.0.1:1', weight: 1 } }];
    const site = { name, primaryHost: `${name}.example`, upstreams };
    const { status, text } = await waf.call('SiteService/CreateSite', { site });
    if (status !== 200) throw new Error(text);
  }
});
afterAll(() => waf.control.close());
afterEach(() => vi.restoreAllMocks());

async function run(...line: string[]): Promise<{ code: number; out: string; err: string }> {
  const printed = keepPrinted();
  const commands = await loadCommands(line);
  const code = await runCommandLine(commands, [...line, '--admin-socket', waf.socket]);
  return { code, out: printed.out, err: printed.err };
}

test.each(['site', 'sites', 'Site'])('%s are those of the deployment', async (kind) => {
  const { code, out } = await run('get', kind);
  expect(code).toBe(0);
  expect(out.match(/^kind: Site$/gm)).toHaveLength(2);
  expect(out).not.toContain('kind: Policy');
});

test('one is found by its name or id, and programs get JSON', async () => {
  const { out } = await run('get', 'site', 'two', '--output', 'json');
  const [document, ...more] = JSON.parse(out) as { metadata: { name: string; id: string } }[];
  expect([document?.metadata.name, more]).toEqual(['two', []]);
  expect((await run('get', 'site', document!.metadata.id)).out).toContain('two.example');
});

test('what is not there is said, with what is', async () => {
  const { code, err } = await run('get', 'site', 'three');
  expect(code).not.toBe(0);
  expect(err).toContain('no site has this name or id; there is: one, two');
  expect((await run('get', 'nonsense')).err).toContain('ip-list');
});

test('agents lists nodes', async () => {
  const { out } = await run('agents');
  expect(out).toContain('local');
});
