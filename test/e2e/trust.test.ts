/** Runs the product: a trusted proxy names the client to rules, origin and events. */

import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';

let product: Product;
let origin: Server;
let siteId = '';
let listId = '';

const client = '203.0.113.9';

if (missingBuild !== null) console.log(missingBuild);

function json(...words: string[]): Record<string, unknown> {
  const { code, stdout, stderr } = product.waf(...words, '--output', 'json');
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** One request that claims to come from `client`; its status, and what the origin received. */
function ask(path = '/'): Promise<{ status: number; forwarded: string }> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'shop.test', 'x-forwarded-for': client, via: '1.1 varnish' };
    const port = product.proxyPort;
    const asked = httpRequest({ port, path, headers, agent: false }, (response) => {
      let forwarded = '';
      response.on('data', (chunk: Buffer) => (forwarded += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, forwarded }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

const told = (text: string, patienceMs?: number): Promise<true> =>
  eventually(async () => (await ask()).forwarded === text, patienceMs);

beforeAll(async () => {
  if (missingBuild !== null) return;
  origin = createServer((request, response) => {
    response.end(String(request.headers['x-forwarded-for']));
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  product = await borrowProduct('--no-demo');
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  const words = ['--name', 'shop', '--host', 'shop.test', '--upstream', url];
  siteId = String(json('site', 'create', ...words)['id']);
  const entry = ['--entry', '127.0.0.0/8', '--entry', '::1'];
  listId = String(json('ip-list', 'create', '--name', 'balancers', ...entry)['id']);
  // The first site's rules are compiled before it serves.
  await told('127.0.0.1', 300_000);
}, 600_000);
afterAll(async () => {
  if (missingBuild !== null) return;
  await product?.stop();
  origin?.close();
});

test.skipIf(missingBuild !== null)('the peer counts until a proxy is trusted', async () => {
  await told('127.0.0.1');
  json('trust', 'set', '--proxy', `LB=${listId}`);
  await told(`${client}, 127.0.0.1`);
  const explained = json(
    'trust',
    'test',
    '--site',
    siteId,
    '--peer',
    '127.0.0.1',
    '--header',
    `X-Forwarded-For: ${client}`,
  );
  expect(explained).toMatchObject({ ip: client, verifiedNodeIds: ['proxy-1'] });
  expect((await ask('/?q=%3Cscript%3Ealert(1)%3C/script%3E')).status).toBe(403);
  const event = await eventually(() => {
    const items = json('log', 'security', '--site', siteId)['items'] as
      { clientIp: string }[] | undefined;
    return items?.[0] ?? null;
  });
  expect(event.clientIp).toBe(client);
});

test.skipIf(missingBuild !== null)('an analysis of real requests fills its path', async () => {
  json('trust', 'reset');
  await told('127.0.0.1');
  const id = String(json('trust', 'analyze', '--site', siteId)['id']);
  for (let at = 0; at < 20; at++) await ask();
  const analysis = await eventually(async () => {
    // Each front thread begins when it hears of the analysis.
    await ask();
    const found = json('trust', 'analyze', '--id', id);
    return Number(found['sampleCount']) >= 20 ? found : null;
  });
  expect(analysis).toMatchObject({
    suggestionHeader: 'x-forwarded-for',
    paths: [{ header: 'x-forwarded-for', productHint: 'Varnish', observedPeers: ['127.0.0.1'] }],
    nodeTrustPreviews: [{ nodeId: 'proxy', ranges: ['127.0.0.1'], entryCount: 1 }],
  });
  json('trust', 'set', '--proxy', `LB=${listId}`);
  await told(`${client}, 127.0.0.1`);
});

test.skipIf(missingBuild !== null)('a list that changes changes who is trusted', async () => {
  json('ip-list', 'add', listId, '10.0.0.0/8');
  json('ip-list', 'remove', listId, '127.0.0.0/8');
  await told('127.0.0.1');
  const warning = await eventually(() => {
    const found = json('trust', 'status')['recentWarnings'] as
      Record<string, unknown>[] | undefined;
    return found?.[0] ?? null;
  });
  expect(warning).toMatchObject({ siteId, peer: '127.0.0.1', header: 'x-forwarded-for' });
});
