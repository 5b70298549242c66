/** Runs the commands on resources against a real controller. */

import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { makeTestCertificate } from '../../test/support/test-certificates.ts';
import { makeTestMmdb } from '../../test/support/test-mmdb.ts';
import { CommandLine } from '../../test/support/command-line.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { loadCommands } from './commands.ts';

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

const json = (...words: string[]) => line.json(...words) as Promise<Record<string, never>>;

/** A value inside of an answer. */
function at(value: unknown, path: string): unknown {
  return path.split('.').reduce((found, key) => (found as Record<string, unknown>)?.[key], value);
}

test('a pool, a site with routes, its export and import', async () => {
  const endpoint = 'http://10.0.0.1:8080,3';
  const header = 'X-Env=test';
  const made = await json(
    'upstream',
    'create',
    '--name',
    'app',
    '--endpoint',
    endpoint,
    '--header',
    header,
    '--health-path',
    '/up',
  );
  const pool = String(at(made, 'upstream.id'));
  expect(made).toMatchObject({
    upstream: { endpoints: [{ weight: 3 }], requestHeaders: { 'X-Env': 'test' } },
  });
  expect(await run('upstream', 'list')).toBe(0);
  expect(line.out).toMatch(/app +http:\/\/10\.0\.0\.1:8080,3 +\/up +active/);
  const changed = await json('upstream', 'update', pool, '--health-status', '204');
  expect(changed).toMatchObject({
    upstream: { healthCheck: { path: '/up', expectedStatus: 204 } },
  });
  expect(await run('upstream', 'health', pool)).toBe(0);
  expect(line.out).toMatch(/local +app +http:\/\/10\.0\.0\.1:8080 +unknown/);
  const origin = ['--upstream', 'http://127.0.0.1:1'];
  const site = await json('site', 'create', '--name', 'shop', '--host', 'shop.test', ...origin);
  const id = String(at(site, 'id'));
  const update = ['site', 'update', id, '--alias', 'www.shop.test', '--mode', 'detection'];
  expect(await json(...update)).toMatchObject({
    site: {
      aliases: ['www.shop.test'],
      revision: '2',
      waf: { enabled: true, mode: 'WAF_MODE_DETECTION' },
    },
  });
  expect(
    await run('site', 'routing-set', id, '--route', `/api=${pool}`, '--strip', `/app/=${pool}`),
  ).toBe(0);
  expect(line.out).toMatch(/\/app +app +strip/);
  expect(await run('upstream', 'delete', pool)).toBe(1);
  expect(line.err).toContain(`failed_precondition: id: is used by site ${id}`);
  expect(await run('site', 'override', id, '--paranoia', '2')).toBe(0);
  expect(await run('site', 'preview', id)).toBe(0);
  expect(JSON.parse(line.out)).toMatchObject({ site: { detectionOnly: true, routes: [{}, {}] } });
  const file = join(folder, 'shop.json');
  expect(await run('site', 'export', id, '--file', file)).toBe(0);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await run('site', 'export', id, '--file', file)).toBe(1);
  expect(await run('site', 'import', file)).toBe(1);
  expect(line.err).toContain('already_exists: configuration.site.name');
  expect(await run('site', 'delete', id)).toBe(0);
  const [again] = (await json('site', 'import', file)) as unknown as { id: string }[];
  const routing = await json('site', 'routing', again?.id ?? '');
  expect(routing).toMatchObject({
    routing: { routes: [{ pathPrefix: '/api' }, { pathPrefix: '/app' }] },
  });
  expect(await run('site', 'disable', again?.id ?? '', '--revision', '9')).toBe(1);
  expect(line.err).toContain('aborted: revision');
  expect(await json('site', 'disable', again?.id ?? '')).toMatchObject({ site: { revision: '2' } });
  const all = join(folder, 'all.json');
  expect(await run('site', 'export', '--file', all)).toBe(0);
  expect(JSON.parse(readFileSync(all, 'utf8'))).toMatchObject({ configurations: [{}, {}] });
});

test('a certificate and an account at a DNS provider', async () => {
  const { cert, key } = await makeTestCertificate({ names: ['tls.test'] });
  const [certFile, keyFile, tokenFile] = ['cert.pem', 'key.pem', 'token.json'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  writeFileSync(tokenFile, '{"apiToken":"s3cret-token"}');
  const made = await json('cert', 'upload', '--name', 'tls', '--cert', certFile, '--key', keyFile);
  const id = String(at(made, 'cert.id'));
  expect(await run('cert', 'list')).toBe(0);
  expect(line.out).toMatch(/tls +tls\.test/);
  expect(await run('cert', 'download', id)).toBe(0);
  expect(line.out).toBe(cert);
  expect(await run('cert', 'download', id, '--key')).toBe(0);
  expect(line.out).toBe(`${cert}${key}`);
  expect(await run('cert', 'upload', '--name', 'x', '--cert', certFile, '--key', tokenFile)).toBe(
    1,
  );
  expect(line.err).toContain('invalid_argument: keyPem');
  expect(await run('cert', 'delete', id)).toBe(0);
  const dns = ['cert', 'dns-create', '--name', 'cf', '--provider', 'cloudflare'];
  const provider = await json(...dns, '--credentials', tokenFile, '--zone', 'tls.test');
  const providerId = String(at(provider, 'provider.id'));
  expect(line.out).not.toContain('s3cret');
  const off = await json('cert', 'dns-update', providerId, '--status', 'disabled');
  expect(off).toMatchObject({ provider: { status: 'disabled', zones: ['tls.test'], name: 'cf' } });
  expect(await run('cert', 'dns-list')).toBe(0);
  expect(line.out).toMatch(/cf +cloudflare +tls\.test +disabled +unknown/);
  expect(await run('cert', 'dns-delete', providerId)).toBe(0);
});

test('settings, health, counts, nodes and groups', async () => {
  expect(await run('system', 'settings-set', '--set', 'auth.access_token_seconds=3600')).toBe(0);
  expect(line.out).toMatch(/auth\.access_token_seconds +3600 +stored/);
  expect(await run('system', 'settings-set', '--set', 'nonsense=1')).toBe(1);
  expect(line.err).toContain('invalid_argument: values');
  expect(await run('system', 'health')).toBe(1);
  expect(line.out).toMatch(/engine +unhealthy/);
  expect(await run('system', 'stats')).toBe(0);
  expect(line.out).toMatch(/nodes online +0 of 1/);
  expect(await json('system', 'attackers')).toEqual({});
  expect(await json('system', 'attacks', '--hours', '1')).toEqual({});
  for (const ranking of ['path', 'country']) expect(await run('system', 'top', ranking)).toBe(0);
  expect(line.out).toMatch(/^COUNTRY  EVENTS$/m);
  expect(await run('system', 'top', 'nonsense')).toBe(1);
  expect(line.err).toContain('must be one of path, user-agent');
  expect(await run('system', 'traffic', '--hours', '2', '--step', '30m')).toBe(0);
  expect(line.out.match(/ 0 +0 +0 +0$/gm)?.length).toBeGreaterThan(3);
  expect(await run('agent', 'load')).toBe(0);
  expect(line.err).toContain('reported nothing');
  expect(await run('agent', 'load', 'nobody')).toBe(1);
  expect(await run('system', 'geo-download', 'country', '--month', 'May')).toBe(1);
  expect(line.err).toContain('invalid_argument: month');
  const database = join(folder, 'country.mmdb');
  writeFileSync(database, makeTestMmdb('ZZ'));
  expect(await run('system', 'geo-upload', 'country', database)).toBe(0);
  expect(line.out).toMatch(/country +2026-09-21 +offline +\d+ +pending/);
  expect(await run('system', 'geo-delete', 'country')).toBe(0);
  expect(await run('system', 'geo-list')).toBe(0);
  expect(line.out).toMatch(/country +\S+ +offline +\d+ +pending/);
  expect(await run('agent', 'list')).toBe(0);
  expect(line.out).toMatch(/local +Built-in node +OFFLINE +STOPPED/);
  expect(await run('agent', 'state')).toBe(1);
  expect(line.out).toMatch(/local +config-\d+ +yes +no/);
  expect(await run('agent', 'capabilities')).toBe(0);
  expect(await run('agent', 'retry')).toBe(1);
  expect(line.err).toContain('not connected');
  const { items } = (await json('agent', 'bundles')) as unknown as { items: { id: string }[] };
  const shown = await json('agent', 'bundle', items[0]?.id ?? '');
  expect(at(shown, 'bundle.signature')).toEqual(expect.any(String));
  const group = await json('agent-group', 'create', '--name', 'edge', '--tag', 'eu');
  const id = String(at(group, 'group.id'));
  expect(await run('agent-group', 'update', id, '--name', 'edge', '--agent', 'agent-1')).toBe(0);
  expect(await json('agent-group', 'get', id)).toMatchObject({
    group: { selector: { matchAgentIds: ['agent-1'] } },
  });
  expect(await json('agent-group', 'resolve', '--tag', 'eu')).toEqual({});
  expect(await run('agent-group', 'delete', id)).toBe(0);
  expect(await run('agent-group', 'list')).toBe(0);
  expect(line.out).not.toContain('edge');
});
