/** Proves that set-like commands keep what they do not name, and say what they replace. */

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepPrinted, type Printed } from '../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { loadCommands } from './commands.ts';
import { runCommandLine } from './program.ts';

const commands = await loadCommands([]);
const folder = mkdtempSync(join(tmpdir(), 'waf-set-'));
let waf: TestControl;
let printed: Printed;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(() => waf.control.close());
afterEach(() => vi.restoreAllMocks());

async function run(line: string): Promise<string> {
  printed = keepPrinted();
  const args = [...line.split(' '), '--admin-socket', waf.socket, '--output', 'json'];
  const code = await runCommandLine(commands, args);
  expect(`${code} ${printed.err}`).toMatch(/^0 /);
  return printed.out;
}

test('rate-limit set changes what it names alone', async () => {
  await run('policy create --name limited');
  await run(
    'rate-limit set --policy limited --path /login --requests 5 --window 60 --action ban --for 900 --key session --observe',
  );
  const kept = { action: 'ban', mitigationSeconds: 900, countingKey: 'session', windowSeconds: 60 };
  const changed = JSON.parse(
    await run('rate-limit set --policy limited --path /login --requests 9'),
  );
  expect(changed.items).toMatchObject([{ ...kept, requestCount: 9, enforcementMode: 'observe' }]);
  const enforced = JSON.parse(await run('rate-limit set --policy limited --path /login --enforce'));
  expect(enforced.items).toMatchObject([{ ...kept, requestCount: 9, enforcementMode: 'enforce' }]);
});

test('country set adds, and takes away only with its own flag', async () => {
  await run('policy create --name abroad');
  await run('country set --name far --kind deny --country KP --policy abroad --not-in --off');
  const added = JSON.parse(await run('country set --id far --country IR')).items[0];
  expect(added).toMatchObject({ name: 'far', kind: 'deny', countryCodes: ['IR', 'KP'].sort() });
  expect(added).toMatchObject({ matchMode: 'not_in_list', targets: [{}] });
  expect(added.enabled ?? false).toBe(false);
  const less = JSON.parse(await run('country set --id far --country KP --remove --in')).items[0];
  expect(less).toMatchObject({ countryCodes: ['IR'], matchMode: 'in_list' });
  expect(printed.err).toContain('taken away: KP');
});

test('ip-list add keeps notes and expiry, and bind keeps its order and match', async () => {
  await run('ip-list create --name office');
  const file = join(folder, 'one.csv');
  writeFileSync(file, 'value,note,expires_at\n192.0.2.7,scanner,2999-01-01\n');
  await run(`ip-list import office ${file}`);
  await run('ip-list add office 192.0.2.7/32 192.0.2.8');
  const listed = JSON.parse(await run('ip-list entries office'));
  expect(listed.items[0]).toMatchObject({ note: 'scanner', expiresAt: '2999-01-01T00:00:00Z' });
  await run('policy create --name bound');
  const bind = 'ip-list bind office --policy bound';
  const made = JSON.parse(await run(`${bind} --kind allow --bypass ip_lists_only --not-in`));
  const binding = { ...made.items[0], sortOrder: 7 };
  expect((await waf.call('IpListService/UpsertIpListBinding', { binding })).status).toBe(200);
  const again = JSON.parse(await run(`${bind} --kind allow`)).items[0];
  expect(again).toMatchObject({ id: binding.id, sortOrder: 7, matchMode: 'not_in_list' });
  expect(again).toMatchObject({ bypassMode: 'ip_lists_only' });
});

test('settings keep the members of an object that are not named', async () => {
  await run('system settings-set --set auth.access_token_seconds=3600');
  await run('system settings-set --set auth.refresh_token_seconds=7200');
  expect(JSON.parse(await run('system settings')).settings.values).toMatchObject({
    'auth.access_token_seconds': 3600,
    'auth.refresh_token_seconds': 7200,
  });
});

test('a trust profile and a layer are replaced whole, and that is said', async () => {
  await run('ip-list create --name cdn --entry 198.51.100.0/24');
  await run('trust set --proxy CDN=cdn');
  expect(printed.err).not.toContain('replaced');
  await run('trust set --proxy Balancer=cdn');
  expect(printed.err).toContain('the whole profile was replaced; it had proxies CDN');
  await run('policy create --name layered');
  const file = join(folder, 'layer.json');
  writeFileSync(file, '{"maxNumArgs": 300, "argLength": 500}');
  await run(`policy set-layer layered arg-limits --file ${file}`);
  writeFileSync(file, '{"maxNumArgs": 200}');
  await run(`policy set-layer layered arg-limits --file ${file}`);
  expect(printed.err).toMatch(
    /the whole layer arg-limits was replaced; no longer set: .*argLength/,
  );
});
