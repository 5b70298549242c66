/** Secrets in headers towards origins go in and never come out, whichever way is asked. */

import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { hideHeaders, isSecretHeader } from '../../domain/site/header-secrets.ts';
import { sites, upstreams } from '../../store/collections.ts';
import { openLmdbKv } from '../../store/lmdb-kv.ts';
import { openStore } from '../../store/store.ts';

let waf: TestControl;
const secrets = ['S3CRET-pool', 'S3CRET-site', 'S3CRET-file', 'S3CRET-next'];

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(async () => {
  await waf.control.close();
  rmSync(waf.folder, { recursive: true, force: true });
});

const call = async (rpc: string, body: unknown): Promise<Record<string, unknown>> => {
  const answer = await waf.call(rpc, body);
  expect([rpc, answer.status, answer.text]).toEqual([rpc, 200, answer.text]);
  for (const secret of secrets) expect([rpc, answer.text.includes(secret)]).toEqual([rpc, false]);
  return answer.body;
};
const endpoints = [{ url: 'http://127.0.0.1:9', weight: 1 }];

/** What is kept, and goes to nodes. */
async function keptHeaders(): Promise<string> {
  const kv = openLmdbKv({ folder: `${waf.folder}/control`, durable: true, readOnly: true });
  const store = await openStore(kv, systemClock);
  const text = JSON.stringify([store.list(upstreams), store.list(sites)]);
  await store.close();
  return text;
}

test('a pool: created, read, listed, changed, audited', async () => {
  const headers = { Authorization: 'Bearer S3CRET-pool', 'X-Env': 'test' };
  const shown = { Authorization: 'configured', 'X-Env': 'test' };
  const made = await call('UpstreamService/CreateUpstream', {
    upstream: { name: 'pool', endpoints, requestHeaders: headers },
  });
  const pool = made['upstream'] as { id: string };
  expect(pool).toMatchObject({ requestHeaders: shown });
  const { id } = pool;
  const read = await call('UpstreamService/GetUpstream', { id });
  expect(read['upstream']).toMatchObject({ requestHeaders: shown });
  await call('UpstreamService/ListUpstreams', {});
  // What was read goes back with another change; the secret stays.
  await call('UpstreamService/UpdateUpstream', {
    upstream: { id, requestHeaders: { ...shown, 'X-Env': 'live' }, description: 'd' },
    updateMask: 'requestHeaders,description',
  });
  await call('UpstreamService/UpdateUpstream', {
    upstream: { id, description: 'e' },
    updateMask: 'description',
  });
  expect(await keptHeaders()).toContain('Bearer S3CRET-pool');
  const none = await waf.call('UpstreamService/UpdateUpstream', {
    upstream: { id, requestHeaders: { 'X-Api-Key': 'configured' } },
    updateMask: 'requestHeaders',
  });
  expect([none.status, none.body['message']]).toEqual([
    400,
    expect.stringMatching(/send its value/),
  ]);
  await call('AuditService/QueryAudit', { page: { pageSize: 200 } });
});

test('a site with an origin of its own: only the same address keeps the secret', async () => {
  const origin = { inline: { url: 'http://127.0.0.1:8', weight: 1 } };
  const site = {
    name: 'own',
    primaryHost: 'own.example',
    upstreams: [{ ...origin, requestHeaders: { 'X-Api-Key': 'S3CRET-site' } }],
  };
  await call('SiteService/PreviewCompiledConfig', { site });
  const made = (await call('SiteService/CreateSite', { site }))['site'] as Record<string, string>;
  const { id, revision } = made;
  const [shown] = made['upstreams'] as unknown as object[];
  expect(shown).toMatchObject({ requestHeaders: { 'X-Api-Key': 'configured' } });
  const change = { site: { id, upstreams: [shown] }, revision, updateMask: 'upstreams' };
  await call('SiteService/UpdateSite', change);
  expect(await keptHeaders()).toContain('S3CRET-site');
  const moved = { ...shown, inline: { url: 'http://127.0.0.1:7', weight: 1 } };
  const elsewhere = await waf.call('SiteService/UpdateSite', {
    ...change,
    site: { id, upstreams: [moved] },
    revision: '2',
  });
  expect(elsewhere.body['message']).toMatch(/X-Api-Key reads configured/);
  await call('SiteService/ListSites', {});
  await call('SiteService/ExportSite', { id });
  await call('AuditService/QueryAudit', { page: { pageSize: 200 } });
});

test('a manifest: plan and audit row show none; a new value is seen as a change', async () => {
  const manifest = (value: string): string =>
    Buffer.from(
      `apiVersion: waf.io/v1\nkind: Upstream\nmetadata: {name: file}\nspec:\n` +
        `  endpoints: [{url: "http://127.0.0.1:6"}]\n  requestHeaders: {X-Token: ${value}}\n`,
    ).toString('base64');
  const apply = async (value: string): Promise<unknown> => {
    const { plan } = await call('SystemService/Apply', { manifestYaml: manifest(value) });
    return (plan as { changes: { action: string }[] }).changes[0]?.action;
  };
  expect(await apply('S3CRET-file')).toBe('create');
  expect(await apply('configured')).toBe('unchanged');
  expect(await apply('S3CRET-next')).toBe('update');
  expect(await keptHeaders()).toContain('S3CRET-next');
  await call('AuditService/QueryAudit', { page: { pageSize: 200 } });
});

test.each([
  ['Authorization', 'x', true],
  ['X-Amz-Security-Token', 'x', true],
  ['Cookie', 'a=b', true],
  ['X-Origin-Verify', 'x', true],
  ['apikey', 'x', true],
  ['X-Whatever', 'Basic dXNlcjpwYXNz', true],
  ['X-Whatever', '9f86d081884c7d659a2feaa0c55ad015', true],
  ['Host', 'origin-1.internal.example', false],
  ['X-Env', 'test', false],
  ['Accept-Language', 'en', false],
  ['X-Forwarded-Proto', 'https', false],
])('%s: %s is a secret: %s', (name, value, secret) => {
  expect(isSecretHeader(name, value)).toBe(secret);
  expect(hideHeaders({ [name]: value })).toEqual({ [name]: secret ? 'configured' : value });
});
