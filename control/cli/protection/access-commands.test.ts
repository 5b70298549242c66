/** Runs the commands on lists, countries, rates and trust against a real controller. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { CommandLine } from '../../../test/support/command-line.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { readCsvEntries } from './ip-list-import.ts';

const commands = await loadCommands([]);

let waf: TestControl;
let folder = '';
const line = new CommandLine(commands, () => waf.socket);
const run = line.run.bind(line);

beforeAll(async () => {
  waf = await startTestControl();
  folder = mkdtempSync(join(tmpdir(), 'waf-cli-'));
});
afterAll(() => waf.control.close());
afterEach(() => vi.restoreAllMocks());

const json = line.json.bind(line);

const itemOf = (answer: Record<string, unknown>): Record<string, string> =>
  (answer['items'] as Record<string, string>[])[0] ?? {};

test('a list: made, imported, exported, bound, asked, unbound, removed', async () => {
  const made = await json('ip-list', 'create', '--name', 'office', '--entry', '192.0.2.0/24');
  const id = String(made['id']);
  const file = join(folder, 'more.csv');
  writeFileSync(file, 'note,value,expires_at\n"a, b",10.0.0.1,\n,10.0.0.2,2999-01-01\n');
  expect(await json('ip-list', 'import', id, file)).toMatchObject({ entryCount: 3 });
  expect(await run('ip-list', 'export', id)).toBe(0);
  expect(line.out.split('\r\n')).toEqual([
    'value,note,expires_at',
    '10.0.0.1,"a, b",',
    '10.0.0.2,,2999-01-01T00:00:00.000Z',
    '192.0.2.0/24,,',
    '',
  ]);
  writeFileSync(file, line.out);
  expect(await json('ip-list', 'import', id, file, '--replace')).toMatchObject({ entryCount: 3 });
  expect(await json('ip-list', 'add', id, '2001:db8::1')).toMatchObject({ ipv6Count: 1 });
  expect(await json('ip-list', 'remove', id, '2001:db8::1')).toMatchObject({ entryCount: 3 });
  const bound = itemOf(await json('ip-list', 'bind', id, '--kind', 'deny'));
  expect(bound).toMatchObject({ scope: 'global', addressSource: 'client_ip' });
  expect(await run('ip-list', 'lookup', '192.0.2.9', '--path', '/x')).toBe(0);
  expect(line.out).toContain('decision: deny');
  expect(itemOf(await json('ip-list', 'bindings'))['id']).toBe(bound['id']);
  expect(await run('ip-list', 'entries', id)).toBe(0);
  expect(line.out).toMatch(/^VALUE +NOTE +EXPIRES +HITS +LAST HIT/);
  expect(line.out).toMatch(/192\.0\.2\.0\/24 .*- +0 +never/);
  expect(await run('log', 'hits', bound['id'] ?? '', 'none-such')).toBe(0);
  expect(line.out).toMatch(/^RULE +HITS +LAST HIT/);
  expect(line.out).toMatch(/none-such +0 +never/);
  expect(itemOf(await json('log', 'hits', bound['id'] ?? ''))['ruleId']).toBe(bound['id']);
  expect(await run('log', 'hits', 'not an id')).not.toBe(0);
  expect(line.err).toContain('ruleIds[0]');
  expect(await run('ip-list', 'delete', id)).not.toBe(0);
  expect(line.err).toContain('failed_precondition');
  expect(await run('ip-list', 'unbind', bound['id'] ?? '', '--global')).toBe(0);
  expect(await run('ip-list', 'delete', id)).toBe(0);
  expect(await run('ip-list', 'list')).toBe(0);
});

test('CSV: what is no CSV or no time is refused with its place', async () => {
  await expect(readCsvEntries('"a')).rejects.toMatchObject({ code: 'bad_flag' });
  await expect(readCsvEntries('10.0.0.1,x,soon')).rejects.toThrow(/^record 1: expires_at/);
  expect(await readCsvEntries('# c\n10.0.0.1')).toEqual([{ value: '10.0.0.1', note: '' }]);
});

test('a subscription that leads to a private address fails, and says why', async () => {
  const words = ['--name', 'feed', '--url', 'http://127.0.0.1:1/list', '--header', 'x-key=s3cret'];
  expect(await run('ip-list', 'subscribe', ...words)).toBe(1);
  expect(line.err).toContain('failed: the source leads to a loopback');
  const lists = await json('ip-list', 'list', '--mode', 'subscription');
  const { id = '' } = itemOf(lists);
  expect(JSON.stringify(lists)).not.toContain('s3cret');
  expect(itemOf(await json('ip-list', 'runs', id))).toMatchObject({
    resultCode: 'blocked_address',
  });
  expect(await run('ip-list', 'sync', id)).toBe(1);
  expect(await json('ip-list', 'pause', id)).toMatchObject({ syncStatus: { status: 'paused' } });
  expect(await run('ip-list', 'resume', id)).toBe(0);
  expect(await run('ip-list', 'held', id, '--accept')).not.toBe(0);
  expect(line.err).toContain('no update of this list is held');
});

test('countries and rates', async () => {
  const words = ['--name', 'r', '--kind', 'deny', '--country', 'KP'];
  const made = itemOf(await json('country', 'set', ...words));
  expect(made).toMatchObject({ countryCodes: ['KP'], enabled: true });
  const id = made['id'] ?? '';
  const changed = itemOf(await json('country', 'set', '--id', id, ...words, '--off'));
  expect(changed).not.toHaveProperty('enabled');
  expect(await run('country', 'list')).toBe(0);
  expect(line.out).toContain('off');
  expect(await run('country', 'delete', id)).toBe(0);
  expect(await run('country', 'catalog')).toBe(0);
  const policy = await waf.call('PolicyService/CreatePolicy', { policy: { name: 'p' } });
  const place = ['--policy', (policy.body['policy'] as { id: string }).id];
  const limit = ['--path', '/login', '--requests', '5', '--window', '60', '--action', 'ban'];
  const rate = itemOf(await json('rate-limit', 'set', ...place, ...limit, '--method', 'post'));
  expect(rate).toMatchObject({ action: 'ban', methods: ['POST'], mitigationSeconds: 600 });
  expect(itemOf(await json('rate-limit', 'list', ...place))['id']).toBe(rate['id']);
  expect(itemOf(await json('rate-limit', 'list'))['id']).toBe(rate['id']);
  expect(await run('rate-limit', 'set', ...limit)).not.toBe(0);
  expect(line.err).toContain('--policy or the --site');
  expect(await run('rate-limit', 'delete', rate['id'] ?? '')).toBe(0);
  expect(
    await run('rate-limit', 'set', ...place, '--path', '/', '--requests', 'x', '--window', '1'),
  ).not.toBe(0);
  expect(line.err).toContain('--requests wants a whole number');
});

test('trust: a chain of proxies, a fixed header, what is wrong, reset', async () => {
  const made = await json('ip-list', 'create', '--name', 'proxies', '--entry', '10.0.0.0/8');
  const list = String(made['id']);
  const set = await json('trust', 'set', '--proxy', `CDN=${list}`, '--proxy', `LB=${list}`);
  expect(set['profile']).toMatchObject({
    nodes: [{ name: 'CDN' }, { name: 'LB' }],
    edges: [{ from: 'internet' }, { from: 'proxy-1', to: 'proxy-2' }, { to: 'waf' }],
    extractionRules: [{ header: 'x-forwarded-for', parser: 'xff' }],
  });
  expect(await run('trust', 'show')).toBe(0);
  expect(line.out).toContain('CDN');
  expect(await run('trust', 'set', '--proxy', `CDN=${list}`, '--header', 'X-Mine')).not.toBe(0);
  expect(line.err).toContain('profile.extractionRules[0].header');
  const fixed = await json('trust', 'set', '--fixed-header', 'X-Real-IP');
  expect(fixed['profile']).toMatchObject({
    extractionRules: [{ parser: 'single_ip', selector: 'single', allowUntrusted: true }],
  });
  expect(await run('trust', 'test', '--peer', '10.0.0.1', '--header', 'X-Real-IP')).not.toBe(0);
  expect(line.err).toContain("--header wants 'Name: value'");
  expect(await run('trust', 'test', '--peer', '10.0.0.1')).not.toBe(0);
  expect(line.err).toContain('no engine answers');
  expect(await run('trust', 'reset')).toBe(0);
  expect(await json('trust', 'show')).toEqual({ profile: {}, resolved: {} });
  expect(await run('trust', 'status')).toBe(0);
  expect(await run('trust', 'analyze')).not.toBe(0);
});
