/** `waf alert`: rules, channels, silences and alerts from the command line. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startReceiver } from '../../../test/support/alert-receivers.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { keepPrinted, type Printed } from '../../../test/support/printed.ts';
import { makeTestCertificate } from '../../../test/support/test-certificates.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

const commands = await loadCommands([]);
const folder = mkdtempSync(join(tmpdir(), 'waf-alerts-'));
const receiver = await startReceiver();
let waf: TestControl;
let printed: Printed;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null, alerting: { everyMs: 20 } });
  await waf.call('SystemService/UpdateSystemSettings', {
    values: { 'outgoing.allowed_networks': ['127.0.0.0/8'] },
  });
  const { cert, key } = await makeTestCertificate({ names: ['soon.test'], toDays: 5 });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const upload = { name: 'soon', certPem: base64(cert), keyPem: base64(key) };
  await waf.call('CertService/UploadCert', upload);
});
afterAll(async () => {
  await waf.control.close();
  await receiver.close();
});
beforeEach(() => {
  printed = keepPrinted();
});
afterEach(() => vi.restoreAllMocks());

async function run(...line: string[]): Promise<string> {
  printed = keepPrinted();
  const args = [...line, '--admin-socket', waf.socket, '--output', 'json'];
  const code = await runCommandLine(commands, args);
  return `${code} ${printed.err}${printed.out}`;
}

/** What a command answers, as JSON. */
async function json<T>(...line: string[]): Promise<T> {
  expect(await run(...line)).toMatch(/^0 /);
  return JSON.parse(printed.out) as T;
}

interface Items<T> {
  readonly items: readonly T[];
}
interface Rule {
  readonly id: string;
  readonly expression: string;
  readonly channelIds?: readonly string[];
  readonly enabled?: boolean;
}

async function addChannel(name: string, config: object): Promise<string> {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(config));
  const set = ['alert', 'channel-set', '--name', name, '--kind', 'webhook', '--file', file];
  const { items } = await json<Items<{ id: string }>>(...set);
  return items[0]!.id;
}

test('a rule is made by flags, changed by flags, and keeps the rest', async () => {
  const c1 = await addChannel('c1', { url: `${receiver.url}/c1`, secret: 's3cret' });
  const c2 = await addChannel('c2', { url: `${receiver.url}/c2` });
  expect(printed.out).not.toContain('s3cret');
  const made = await json<Items<Rule>>(
    ...['alert', 'rule-set', '--name', 'attacks', '--severity', 'critical'],
    ...['--kind', 'security_threshold', '--threshold', '1000', '--channel', 'c1'],
    ...['--filter', 'attackTypes=sqli,xss', '--filter', 'outcome=blocked'],
  );
  const condition = (rule: Rule | undefined): unknown => JSON.parse(rule?.expression ?? '');
  expect(condition(made.items[0])).toEqual({
    ...{ kind: 'security_threshold', threshold: 1000, windowSeconds: 300, groupBy: 'site' },
    filter: { attackTypes: ['sqli', 'xss'], outcome: 'blocked' },
    ...{ forSeconds: 0, repeatSeconds: 3600 },
  });
  expect(made.items[0]?.channelIds).toEqual([c1]);
  const change = ['alert', 'rule-set', '--id', 'attacks'];
  const wider = await json<Items<Rule>>(...change, '--window', '600', '--channel', 'c2');
  expect(condition(wider.items[0])).toMatchObject({ windowSeconds: 600, threshold: 1000 });
  expect(wider.items[0]?.channelIds).toEqual([c1, c2]);
  const fewer = await json<Items<Rule>>(...change, '--channel', 'c1', '--remove');
  expect(fewer.items[0]?.channelIds).toEqual([c2]);
  expect(printed.err).toContain(`taken away: ${c1}`);
  expect(await run(...change, '--channel', 'c1', '--remove')).toMatch(/^1 .*not there/);
  const replaced = await json<Items<Rule>>(...change, '--channel', 'c1', '--replace');
  expect(replaced.items[0]?.channelIds).toEqual([c1]);
  const off = await json<Items<Rule>>(...change, '--off');
  expect(off.items[0]?.enabled ?? false).toBe(false);
  expect(await run(...change)).toMatch(/^1 .*nothing to change/);
  expect(await run(...change, '--on', '--off')).toMatch(/^1 .*exclude each other/);
  expect(await run(...change, '--condition', '{}', '--for', '5')).toMatch(/^1 .*--condition/);
  expect(await run('alert', 'rule-set', '--name', 'x')).toMatch(/^1 .*a new rule needs/);
});

test('two operators who add channels to a rule lose none', async () => {
  await addChannel('d1', { url: `${receiver.url}/d1` });
  await addChannel('d2', { url: `${receiver.url}/d2` });
  const line = ['alert', 'rule-set', '--id', 'attacks', '--admin-socket', waf.socket];
  const codes = ['d1', 'd2'].map((name) => runCommandLine(commands, [...line, '--channel', name]));
  expect(await Promise.all(codes)).toEqual([0, 0]);
  const { items } = await json<Items<Rule>>('alert', 'rules', '--query', 'attacks');
  expect(items[0]?.channelIds).toHaveLength(3);
});

test('a channel is tested; one that fails gives exit code 1', async () => {
  expect(await run('alert', 'test', 'c1')).toMatch(/^0 [^]*"success": true/);
  expect(receiver.of('/c1')[0]?.headers['waf-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  receiver.answer('/c2', { status: 500 });
  expect(await run('alert', 'test', 'c2')).toMatch(/^1 [^]*answered with status 500/);
});

test('an alert is listed, shown, acknowledged, resolved; a silence is previewed and made', async () => {
  const rule = ['alert', 'rule-set', '--name', 'ending', '--severity', 'warning'];
  await json(...rule, '--kind', 'cert_expiring', '--channel', 'c1');
  interface Listed {
    readonly id: string;
    readonly title: string;
  }
  const alert = await eventually(async () => {
    const { items = [] } = await json<Partial<Items<Listed>>>('alert', 'list');
    return items[0] ?? null;
  });
  expect(alert.title).toBe('ending: soon');
  const match = ['--match', 'kind=cert_expiring'];
  expect(await run('alert', 'silence', ...match, '--dry-run')).toMatch(/^0 [^]*"ending: soon"/);
  const silence = await json<Items<{ id: string }>>(
    ...['alert', 'silence', ...match, '--for', '30m', '--reason', 'tests'],
  );
  expect(await run('alert', 'silences', '--active')).toContain('"reason": "tests"');
  expect(await run('alert', 'silence', ...match, '--for', 'long')).toMatch(/^1 .*--for wants/);
  expect(await run('alert', 'silence-delete', silence.items[0]!.id)).toMatch(/^0 /);
  expect(await run('alert', 'ack', alert.id, '--note', 'mine')).toMatch(/^0 [^]*_ACKED/);
  expect(await run('alert', 'ack', alert.id)).toMatch(/^1 [^]*acknowledged already/);
  expect(await run('alert', 'resolve', alert.id)).toMatch(/^0 [^]*_RESOLVED/);
  expect(await run('alert', 'show', alert.id)).toMatch(/^0 [^]*"body": "mine"/);
  expect(await run('alert', 'notes', alert.id)).toMatch(/^0 [^]*"kind": "resolve"/);
  expect(await run('alert', 'list')).not.toContain(alert.id);
  expect(await run('alert', 'list', '--all')).toContain(alert.id);
  expect(await run('alert', 'list', '--all', '--status', 'open')).toMatch(/^1 .*exclude/);
});

test('a rule is replayed and previewed; removing needs what nobody uses', async () => {
  expect(await run('alert', 'replay', 'attacks')).toMatch(/^0 [^]*"startedAt"/);
  expect(await run('alert', 'replay', 'ending')).toMatch(/^1 .*security_threshold/);
  const preview = ['alert', 'preview', 'ending', '--event', 'resolved'];
  expect(await run(...preview)).toMatch(/^0 [^]*\[resolved\] ending/);
  expect(await run('alert', 'channel-delete', 'c1')).toMatch(/^1 .*is used by alert rule/);
  expect(await run('alert', 'channel-rules', 'c1')).toMatch(/^0 [^]*changed: 2/);
  expect(await run('alert', 'channel-delete', 'c1')).toMatch(/^0 /);
  expect(await run('alert', 'rule-delete', 'ending')).toMatch(/^0 /);
});
