/** Tests what the console's pages answer: which addresses, in which coding, with which policy. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole } from './console-pages.ts';

const folder = mkdtempSync(join(tmpdir(), 'waf-console-'));
let server: Server;
let url = '';

beforeAll(async () => {
  writeFileSync(join(folder, 'index.html'), '<!doctype html>the page');
  writeFileSync(join(folder, 'main-AB12.js'), 'program');
  writeFileSync(join(folder, 'main-AB12.js.gz'), gzipSync('program'));
  writeFileSync(join(folder, 'notes.txt'), 'no page');
  const pages = openConsole([pathToFileURL(`${folder}/`)]);
  server = createServer((request, response) => {
    if (!pages(request, response)) response.writeHead(404).end('not the console');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const page = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test.each(['/', '/attacks', '/attacks/some-id?span=1h', '/anything/else'])(
  'a browser gets the page at %s',
  async (path) => {
    const answer = await fetch(url + path, { headers: page });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('<!doctype html>the page');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
  },
);

test.each([
  ['a call of the API', '/waf.v1.SiteService/ListSites', page],
  ['telemetry', '/api/v1/telemetry/nothing', page],
  ['the program', '/download/waf', page],
  ['a node', '/bootstrap/binary', page],
  ['a probe', '/healthz', page],
  ['a program that wants no page', '/attacks', { accept: 'application/json' }],
  ['a file that is not the console’s', '/assets/notes.txt', page],
  ['a file outside', '/assets/../index.html', { accept: '*/*' }],
  ['a compressed form by its name', '/assets/main-AB12.js.gz', page],
])('%s is not answered', async (_, path, headers) => {
  expect((await fetch(url + path, { headers })).status).toBe(404);
});

test('the root is the console whatever a client accepts', async () => {
  const answer = await fetch(`${url}/`, { headers: { accept: '*/*' } });
  expect([answer.status, await answer.text()]).toEqual([200, '<!doctype html>the page']);
});

test('only GET and HEAD are answered', async () => {
  expect((await fetch(url, { method: 'POST', headers: page })).status).toBe(404);
  const head = await fetch(url, { method: 'HEAD', headers: page });
  expect([head.status, await head.text()]).toEqual([200, '']);
});

test('named files are kept for ever, packed where the browser takes that', async () => {
  const plain = await fetch(`${url}/assets/main-AB12.js`, {
    headers: { 'accept-encoding': 'identity' },
  });
  expect(plain.headers.get('cache-control')).toContain('immutable');
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.headers.get('content-type')).toContain('text/javascript');
  expect(await plain.text()).toBe('program');
  const packed = await fetch(`${url}/assets/main-AB12.js`, {
    headers: { 'accept-encoding': 'gzip' },
  });
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(await packed.text()).toBe(gunzipSync(gzipSync('program')).toString());
});

test('where the console was not built, nothing is answered', () => {
  const none = openConsole([pathToFileURL(join(folder, 'missing/'))]);
  expect(none({ url: '/', method: 'GET', headers: page } as never, {} as never)).toBe(false);
});
