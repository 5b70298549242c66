/** `waf dashboard` shows every part, as a page for people and as data for programs. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { makeTestCertificate } from '../../../test/support/test-certificates.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { keepPrinted, type Printed } from '../../../test/support/printed.ts';
import { signInWith } from '../../../test/support/sign-in-with.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

const commands = await loadCommands([]);
let waf: TestControl;
let printed: Printed;

beforeAll(async () => {
  waf = await startTestControl({ alerting: { everyMs: 20 } });
  const { cert, key } = await makeTestCertificate({ names: ['soon.test'], toDays: 5 });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const upload = { name: 'soon', certPem: base64(cert), keyPem: base64(key) };
  await waf.call('CertService/UploadCert', upload);
  const expression = JSON.stringify({ kind: 'cert_expiring' });
  const rule = { name: 'ends', enabled: true, severity: 'ALERT_SEVERITY_WARNING', expression };
  await waf.call('AlertService/UpsertAlertRule', { rule });
  await eventually(async () => {
    const { body } = await waf.call('AlertService/ListAlerts', { activeOnly: true });
    return ((body['items'] ?? []) as object[]).length > 0;
  });
});
afterAll(() => waf.control.close());
beforeEach(() => {
  printed = keepPrinted();
});
afterEach(() => vi.restoreAllMocks());

const run = (...line: string[]): Promise<number> =>
  runCommandLine(commands, ['dashboard', ...line, '--admin-socket', waf.socket]);

test('the page has a section for each part', async () => {
  expect(await run('--hours', '2')).toBe(0);
  const titles = ['REQUESTS, last 2 h', 'SITES', 'RULES', 'ATTACKS', 'ATTACKERS', 'NODES'];
  for (const title of [...titles, 'ORIGINS', 'ALERTS']) {
    expect(printed.out).toMatch(new RegExp(`^${title}$`, 'm'));
  }
  expect(printed.out).toMatch(/^Built-in node +OFFLINE/m);
  expect(printed.out).toMatch(/ warning +open +firing .*soon/);
  expect(printed.out).not.toContain('\u001b');
});

test('programs get the answers of the API by name', async () => {
  expect(await run('--output', 'json')).toBe(0);
  const answer = JSON.parse(printed.out) as Record<string, Record<string, unknown>>;
  expect(Object.keys(answer).sort()).toEqual(['alerts', 'nodes', 'origins', 'overview']);
  expect(answer['alerts']?.['items']).toMatchObject([{ kind: 'cert_expiring' }]);
  expect(answer['nodes']?.['items']).toHaveLength(1);
  expect(answer['overview']?.['stats']).toMatchObject({ nodesTotal: 1 });
});

test('it repeats while it is watched', async () => {
  expect(await run('--watch', '1', '--times', '2')).toBe(0);
  expect(printed.out.match(/^NODES$/gm)).toHaveLength(2);
});

test.each([
  [['--watch', '0'], '--watch wants a whole number'],
  [['--watch', '86401'], '--watch is at most'],
  [['--times', '2'], '--times goes with --watch'],
  [['--limit', '101'], 'topKLimit: must be'],
])('%j is refused', async (line, why) => {
  expect(await run(...line)).not.toBe(0);
  expect(printed.err).toContain(why);
});

test('who may not read a part sees the rest, and which part is missing', async () => {
  const token = await signInWith(waf, ['telemetry:read', 'site:read']);
  const options = ['--api', `http://127.0.0.1:${waf.control.managementPort}`, '--token', token];
  const code = await runCommandLine(commands, ['dashboard', ...options]);
  expect([code, printed.err]).toEqual([0, expect.stringContaining('not shown: alerts: ')]);
  expect(printed.out).toMatch(/^SITES$/m);
  expect(printed.out).not.toMatch(/^ALERTS$/m);
});
