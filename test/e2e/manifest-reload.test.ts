/** A changed file is applied while clients ask: none is refused or cut off. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';

const host = 'reload.test';
const versions = 5;
const stayingClients = 4;

let product: Product;
let origin: http.Server;
let folder: string;
/** The answer under `/slow` that has begun; ended by the test. */
let slow: http.ServerResponse | null = null;

if (missingBuild !== null) console.log(missingBuild);

beforeAll(async () => {
  if (missingBuild !== null) return;
  folder = mkdtempSync(path.join(tmpdir(), 'manifest-reload-'));
  origin = http.createServer(({ url }, response) => {
    if (url !== '/slow') return void response.end('from the origin');
    slow = response;
    response.write('first,');
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  product = await borrowProduct();
}, 600_000);
afterAll(async () => {
  await product?.stop();
  origin?.closeAllConnections();
  origin?.close();
  if (missingBuild === null) rmSync(folder, { recursive: true, force: true });
});

/** Writes the file with redirect and field of a version, both of one site. */
function write(version: number, more = ''): string {
  const file = path.join(folder, 'site.yaml');
  const { port } = origin.address() as AddressInfo;
  writeFileSync(
    file,
    `apiVersion: waf.io/v1
kind: Upstream
metadata: { name: reload }
spec: { endpoints: [{ url: 'http://127.0.0.1:${port}', weight: 1 }] }
---
apiVersion: waf.io/v1
kind: Site
metadata: { name: reload }
spec:
  primaryHost: ${host}
  upstreamRef: reload
  delivery:
    redirects: [{ path: /version, target: /${version}, status: 302 }]
    responseFields: [{ name: X-Version, value: '${version}' }]
${more}`,
  );
  return file;
}

interface Seen {
  readonly status: number | string;
  readonly version: number;
  /** Port of the client's end: the same while its connection stays. */
  readonly from: number;
  readonly body: string;
}

/** One request; an error of the connection stands in place of the status. */
function ask(target: string, agent: http.Agent | false): Promise<Seen> {
  return new Promise((resolve) => {
    const from = { host: '127.0.0.1', port: product.proxyPort, headers: { host } };
    const failed = ({ code = 'error' }: NodeJS.ErrnoException): void =>
      resolve({ status: code, version: 0, from: 0, body: '' });
    const call = http.get({ ...from, path: target, agent }, (answer) => {
      const { statusCode = 0, headers } = answer;
      const { localPort = 0 } = answer.socket;
      const said = headers.location?.slice(1) ?? headers['x-version'] ?? 0;
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => (body += text));
      answer.on('error', failed);
      const version = Number(said);
      answer.on('end', () => resolve({ status: statusCode, version, from: localPort, body }));
    });
    call.on('error', failed);
  });
}

test.skipIf(missingBuild !== null)('waf apply under requests fails none of them', async () => {
  await product.wafBeside('apply', '-f', write(1));
  await eventually(async () => (await ask('/version', false)).version === 1);
  const begun = ask('/slow', false);
  await eventually(() => slow);

  let going = true;
  const client = async (agent: http.Agent | false): Promise<Seen[]> => {
    const seen: Seen[] = [];
    for (let at = 0; going; at++) seen.push(await ask(at % 2 === 0 ? '/version' : '/', agent));
    return seen;
  };
  const agents = Array.from(
    { length: stayingClients },
    () => new http.Agent({ keepAlive: true, maxSockets: 1 }),
  );
  const clients = [...agents, false as const].map(client);
  for (let version = 2; version <= versions; version++) {
    await product.wafBeside('apply', '-f', write(version));
    await eventually(async () => (await ask('/', false)).version === version);
  }
  // A file with a mistake changes nothing.
  const wrong = product.wafBeside('apply', '-f', write(versions + 1, '  unknownField: 1\n'));
  await expect(wrong).rejects.toThrow('unknownField');
  await eventually(async () => (await ask('/version', false)).version === versions);
  going = false;
  const all = await Promise.all(clients);
  for (const agent of agents) agent.destroy();

  for (const seen of all) {
    expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200, 302]));
  }
  // A connection stays, and goes from each version to a later one: it has one thread.
  for (const seen of all.slice(0, stayingClients)) {
    expect(new Set(seen.map(({ from }) => from)).size).toBe(1);
    const served = seen.map(({ version }) => version);
    expect(served).toEqual(served.toSorted((one, other) => one - other));
    expect(new Set(served).size).toBe(versions);
  }
  const count = all.reduce((sum, seen) => sum + seen.length, 0);
  console.log(`${count} requests over ${versions - 1} changed files`);
  // What began before the first change ends whole, as it began.
  slow!.end('last');
  expect(await begun).toMatchObject({ status: 200, version: 1, body: 'first,last' });
});
