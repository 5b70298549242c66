/** Proves that a pool is asked when it is made, and that a private authority is an option. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer as createTls } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  makeTestCertificate,
  type TestCertificate,
} from '../../../test/support/test-certificates.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { silentLogger } from '../../../base/log.ts';
import type { EngineHandler } from '../../../engine/contract/evaluation.ts';
import { serveEngineService } from '../../../engine/link/engine-service.ts';
import { probePool } from '../../../engine/upstream/origin-health.ts';

let waf: TestControl;
let engine: { close(): Promise<void> } | null = null;
const closing: (() => unknown)[] = [];

/** Only probing is asked of it here; it is the code that serves traffic. */
const handler = { probeUpstream: probePool } as unknown as EngineHandler;

/** An authority of our own and a certificate of it for `origin.internal`. */
let authority: TestCertificate;
let leaf: TestCertificate;

beforeAll(async () => {
  authority = await makeTestCertificate({ subject: 'CN=Own CA', authority: true });
  leaf = await makeTestCertificate({ names: ['origin.internal'], issuer: authority });
  waf = await startTestControl();
});

afterAll(async () => {
  for (const close of closing) close();
  await engine?.close();
  await waf.control.close();
});

interface Probe {
  readonly endpointUrl: string;
  readonly status: string;
  readonly lastError?: string;
}
interface Made {
  readonly upstream: { readonly id: string; readonly tls?: object };
  readonly probes: readonly Probe[];
}

const create = async (
  name: string,
  urls: readonly string[],
  change: object = {},
): Promise<Made> => {
  const endpoints = urls.map((url) => ({ url, weight: 1 }));
  const upstream = { name, endpoints, ...change };
  return (await waf.call('UpstreamService/CreateUpstream', { upstream })).body as unknown as Made;
};

async function listen(server: ReturnType<typeof createServer> | ReturnType<typeof createTls>) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('without an engine a pool is still created, and its health is unknown', async () => {
  const { upstream, probes } = await create('early', ['http://127.0.0.1:9']);
  expect(upstream.id).not.toBe('');
  expect(probes).toMatchObject([{ status: 'unknown', endpointUrl: 'http://127.0.0.1:9' }]);
  expect(probes[0]?.lastError).toMatch(/^it was not probed: no engine answers/);
});

test('each endpoint says what a probe found there', async () => {
  engine = await serveEngineService({
    socketPath: join(waf.folder, 'engine.sock'),
    handler,
    logger: silentLogger,
  });
  const good = await listen(createServer((_request, response) => response.end('ok')));
  const bad = await listen(createServer((_request, response) => response.writeHead(500).end()));
  const urls = [good, bad, 9].map((port) => `http://127.0.0.1:${port}`);
  const plain = await create('plain', urls);
  expect(plain.probes.map(({ status }) => status)).toEqual(['healthy', 'healthy', 'unhealthy']);
  const checked = await create('checked', urls, {
    healthCheck: { path: '/', expectedStatus: 200 },
  });
  expect(checked.probes.map(({ status, lastError = '' }) => `${status} ${lastError}`)).toEqual([
    'healthy ',
    'unhealthy the probe got status 500 instead of 200',
    'unhealthy the address is unknown, unreachable or refuses connections',
  ]);
});

test('an origin with a private authority is trusted once the pool has its certificate', async () => {
  const tls = createTls({ key: leaf.key, cert: leaf.cert }, (_request, response) => {
    response.end('ok');
  });
  const url = `https://127.0.0.1:${await listen(tls)}`;
  const { upstream, probes } = await create('private', [url]);
  expect(probes).toMatchObject([{ status: 'unhealthy' }]);
  expect(probes[0]?.lastError).toMatch(/^TLS: the certificate is of an unknown authority/);
  const update = async (settings: object, updateMask: string): Promise<Probe | undefined> => {
    const body = { upstream: { id: upstream.id, tls: settings }, updateMask };
    const { body: answer } = await waf.call('UpstreamService/UpdateUpstream', body);
    return (answer as unknown as Made).probes[0];
  };
  const named = await update({ caPem: authority.cert }, 'tls.caPem');
  expect(named?.lastError).toMatch(/^TLS: the certificate is for another name/);
  expect(await update({ serverName: 'origin.internal' }, 'tls.serverName')).toMatchObject({
    status: 'healthy',
  });
  expect(await update({ skipVerify: true }, 'tls')).toMatchObject({ status: 'healthy' });
  expect(await update({}, 'tls')).toMatchObject({ status: 'unhealthy' });
});

test('settings of TLS that cannot work are refused at their place', async () => {
  const refused = async (url: string, tls: object): Promise<string> => {
    const upstream = { name: 'x', endpoints: [{ url, weight: 1 }], tls };
    const answer = await waf.call('UpstreamService/CreateUpstream', { upstream });
    return `${answer.status} ${String(answer.body['message'])}`;
  };
  const https = 'https://127.0.0.1:1';
  expect(await refused('http://127.0.0.1:1', { caPem: authority.cert })).toContain(
    '400 upstream.tls: is for https endpoints',
  );
  expect(await refused(https, { caPem: 'nonsense' })).toContain(
    '400 upstream.tls.caPem: must hold',
  );
  expect(await refused(https, { caPem: authority.cert + leaf.key })).toContain(
    'a private key does not belong here',
  );
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
  expect(await refused(https, { caPem: broken })).toContain('certificate 1 of 1 cannot be read');
  expect(await refused(https, { serverName: 'a b' })).toContain('upstream.tls.serverName: must be');
  const both = { caPem: authority.cert, skipVerify: true };
  expect(await refused(https, both)).toContain('upstream.tls.skipVerify: excludes caPem');
});

test('a manifest and a site of its own carry the authority, and it comes back the same', async () => {
  const ca = authority.cert;
  const indented = ca.trimEnd().replaceAll('\n', '\n      ');
  const manifest = [
    'apiVersion: waf.io/v1\nkind: Upstream\nmetadata:\n  name: by-manifest\nspec:',
    '  endpoints:\n    - url: https://10.0.0.9\n  tls:\n    serverName: origin.internal',
    `    caPem: |\n      ${indented}\n`,
  ].join('\n');
  const manifestYaml = Buffer.from(manifest).toString('base64');
  const applied = await waf.call('SystemService/Apply', { manifestYaml });
  expect(applied.status).toBe(200);
  const { items } = (await waf.call('UpstreamService/ListUpstreams', { query: 'by-manifest' }))
    .body as unknown as { items: readonly Made['upstream'][] };
  expect(items[0]?.tls).toEqual({ serverName: 'origin.internal', caPem: ca });
  const again = await waf.call('SystemService/PreviewApply', { manifestYaml });
  const { plan } = again.body as { plan: { changes: { action: string }[] } };
  expect(plan.changes.map(({ action }) => action)).toEqual(['unchanged']);
  const site = {
    name: 'own',
    primaryHost: 'own.example',
    upstreams: [{ inline: { url: 'https://10.0.0.9', weight: 1 }, tls: { caPem: ca } }],
  };
  const preview = await waf.call('SiteService/PreviewCompiledConfig', { site });
  expect(JSON.stringify(preview.body)).toContain('BEGIN CERTIFICATE');
});
