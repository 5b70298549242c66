/**
 * The proof of subscriptions against real servers on loopback: formats, what is taken, held and
 * refused, and that a source cannot lead a fetch where it must not go.
 */

import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

/** Allowed by the setting; 127.0.0.1 is not, although the same machine answers there. */
const allowedHost = '127.0.0.2';
/** Patient, so that a busy machine is no silent source; the test of silence shortens them. */
const patient = { timeoutMs: 60_000, idleTimeoutMs: 30_000 };
const fetchLimits = { bytesMax: 1024 * 1024, ...patient };
let waf: TestControl;
let server: Server;
let base = '';
let answer: RequestListener;
const seen: { url: string; headers: Record<string, unknown> }[] = [];

const call = async (method: string, body: unknown): Promise<Record<string, unknown>> => {
  const found = await waf.call(method.includes('/') ? method : `IpListService/${method}`, body);
  if (found.status !== 200) throw new Error(`${method}: ${found.text}`);
  return found.body;
};
const refusalOf = async (method: string, body: unknown): Promise<string> => {
  const { status, body: found } = await waf.call(`IpListService/${method}`, body);
  expect(status).not.toBe(200);
  return `${String(found['code'])} ${String(found['message'])}`;
};
const text = (content: string): RequestListener => {
  return (_request, response) => void response.end(content);
};
let names = 0;
interface Made {
  readonly id: string;
  readonly run: Record<string, unknown>;
}
const subscribe = async (source: object = {}): Promise<Made> => {
  const whole = { url: `${base}/list`, format: 'text_v1', ...source };
  const body = { name: `feed ${++names}`, source: whole, syncNow: true };
  const made = await call('CreateIpListSubscription', body);
  const { id } = made['ipList'] as { id: string };
  return { id, run: made['syncRun'] as Record<string, unknown> };
};
const syncNow = async (id: string): Promise<Record<string, unknown>> =>
  (await call('SyncIpListNow', { id }))['syncRun'] as Record<string, unknown>;
const listOf = async (id: string): Promise<Record<string, unknown>> =>
  (await call('GetIpList', { id }))['ipList'] as Record<string, unknown>;
const addresses = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, at) => `198.18.${(at + from) >> 8}.${(at + from) & 255}`).join(
    '\n',
  );

beforeAll(async () => {
  waf = await startTestControl({ fetchLimits });
  server = createServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  base = `http://${allowedHost}:${(server.address() as AddressInfo).port}`;
  const values = { 'outgoing.allowed_networks': [`${allowedHost}/32`] };
  await call('SystemService/UpdateSystemSettings', { values });
});
beforeEach(() => {
  seen.splice(0);
  Object.assign(fetchLimits, patient);
});
afterAll(async () => {
  await waf.control.close();
  server.closeAllConnections();
  server.close();
});

test('a fetch that a person asks for leaves an audit row, whatever it brings', async () => {
  answer = text('192.0.2.1\n');
  const { id } = await subscribe();
  await syncNow(id);
  answer = (_, response) => void response.writeHead(500).end();
  await syncNow(id);
  const rows = await waf.call('AuditService/QueryAudit', { resourceId: id, action: 'sync' });
  // Changes that a fetch brings have rows of their own, of the system.
  const asked = (rows.body['items'] as { actorId: string }[]).filter(
    ({ actorId }) => actorId === 'local-administrator',
  );
  expect(asked).toMatchObject([{ resourceType: 'ip_list' }, { resourceType: 'ip_list' }]);
});

test('text, CSV and JSON sources fill lists; notes and expiry come along', async () => {
  answer = text('# feed\n192.0.2.0/24 ; first\n\n2001:db8::1, second\r\n192.0.2.5\n192.0.2.5\n');
  const plain = await subscribe();
  expect(plain.run).toMatchObject({ trigger: 'create', status: 'succeeded', resultCode: 'ok' });
  expect(plain.run).toMatchObject({ httpStatus: 200, entryCount: 3, ipv4Count: 2, addedCount: 3 });
  answer = text(
    'IP;Comment;expires_at\r\n192.0.2.1;"=evil; yes";2999-01-01\n192.0.2.2;;1999-01-01',
  );
  const csv = await subscribe({ format: 'csv_v1' });
  expect((await listOf(csv.id))['entries']).toEqual([
    { value: '192.0.2.1', note: 'evil; yes', expiresAt: '2999-01-01T00:00:00Z' },
  ]);
  answer = (_request, response) => {
    response.setHeader('content-encoding', 'gzip');
    const prefixes = [{ v4: '192.0.2.0/25' }, { v4: '192.0.2.128/25' }, { v6: ['2001:db8::/32'] }];
    response.end(gzipSync(JSON.stringify({ prefixes })));
  };
  const jsonPaths = ['$.prefixes[*].v4', '$.prefixes[?@.v6].v6'];
  const json = await subscribe({ format: 'json_v1', jsonPaths });
  expect(json.run).toMatchObject({ status: 'succeeded', entryCount: 3, ipv6Count: 1 });
  expect((await listOf(json.id))['managementMode']).toBe('subscription');
});

test('a redirect to 127.0.0.1 is refused, and so are other ways to special addresses', async () => {
  const { port } = server.address() as AddressInfo;
  answer = (request, response) => {
    if (request.url === '/private') return void response.end('192.0.2.1');
    response.writeHead(302, { location: `http://127.0.0.1:${port}/private` }).end();
  };
  const { run, id } = await subscribe();
  expect(run).toMatchObject({ status: 'failed', resultCode: 'blocked_address' });
  expect(String(run['error'])).toMatch(/loopback.*not allowed/);
  expect(seen.map(({ url }) => url)).toEqual(['/list']);
  expect(await listOf(id)).toMatchObject({ contentStatus: 'empty' });
  expect((await listOf(id))['syncStatus']).toMatchObject({
    status: 'failed',
    consecutiveFailures: 1,
  });
  const hosts = [
    'localhost',
    '2130706433',
    '0x7f.1',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[fe80::1]',
    '[fd00::1]',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '100.64.0.1',
    '224.0.0.1',
    '[64:ff9b::7f00:1]',
  ];
  for (const host of hosts) {
    const source = { url: `http://${host}:${port}/private`, format: 'text_v1' };
    expect([host, await refusalOf('TestIpListSource', { source })]).toEqual([
      host,
      expect.stringMatching(/^failed_precondition source: .*\(blocked_address\)$/),
    ]);
  }
  expect(seen).toHaveLength(1);
});

test('a source that is silent, trickles or never ends is given up', async () => {
  Object.assign(fetchLimits, { timeoutMs: 60_000, idleTimeoutMs: 400 });
  answer = () => undefined;
  const silent = await subscribe();
  expect(silent.run).toMatchObject({ status: 'failed', resultCode: 'http_error' });
  expect(String(silent.run['error'])).toMatch(/silent for 0\.4 s/);
  Object.assign(fetchLimits, { timeoutMs: 1500, idleTimeoutMs: 30_000 });
  answer = (_request, response) => {
    const timer = setInterval(() => response.write('192.0.2.1\n'), 50);
    response.on('close', () => clearInterval(timer));
  };
  const slow = await subscribe();
  expect(String(slow.run['error'])).toMatch(/longer than 1\.5 s/);
});

test('a source that sends 1 GB is cut off, packed or not', async () => {
  let sent = 0;
  const block = Buffer.alloc(65_530, '192.0.2.1\n');
  answer = (_request, response) => {
    const pump = (): void => {
      while (sent < 1024 ** 3 && !response.destroyed) {
        sent += block.length;
        if (!response.write(block)) return void response.once('drain', pump);
      }
    };
    pump();
  };
  const { run, id } = await subscribe();
  expect(run).toMatchObject({ status: 'failed', resultCode: 'http_error' });
  expect(String(run['error'])).toMatch(/more than 1048576 bytes/);
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  expect(await listOf(id)).toMatchObject({ contentStatus: 'empty' });
  const bomb = gzipSync(Buffer.alloc(8_000_000, '192.0.2.1\n'));
  answer = (_request, response) => {
    response.setHeader('content-encoding', 'gzip');
    response.end(bomb);
  };
  expect(String((await subscribe()).run['error'])).toMatch(/more than 1048576 bytes/);
});

test('an update that removes 90 % is held; it can be discarded or accepted', async () => {
  answer = text(addresses(100));
  const { id } = await subscribe();
  answer = text(addresses(10));
  const held = await syncNow(id);
  expect(held).toMatchObject({ status: 'held', resultCode: 'delete_ratio', removedCount: 90 });
  expect(String(held['error'])).toMatch(/removes 90 of 100 entries \(90 %\)/);
  const waiting = await listOf(id);
  expect(waiting).toMatchObject({ entryCount: 100, syncStatus: { status: 'held' } });
  expect(waiting['heldUpdate']).toMatchObject({ entryCount: 10, removedCount: 90 });
  expect((waiting['heldUpdate'] as { removedSamples: string[] }).removedSamples).toHaveLength(20);
  const discarded = await call('DiscardHeldIpListUpdate', { id });
  expect(discarded['ipList']).toMatchObject({ entryCount: 100, syncStatus: { status: 'healthy' } });
  expect(discarded['ipList']).not.toHaveProperty('heldUpdate');
  expect(await refusalOf('AcceptHeldIpListUpdate', { id })).toMatch(/^failed_precondition id: /);
  await syncNow(id);
  answer = text(addresses(100));
  expect(await syncNow(id)).toMatchObject({ status: 'not_modified' });
  expect(await listOf(id)).toMatchObject({ syncStatus: { status: 'healthy' } });
  expect(await listOf(id)).not.toHaveProperty('heldUpdate');
  answer = text(addresses(10));
  await syncNow(id);
  const moved = { url: `${base}/other`, format: 'text_v1' };
  const other = await call('UpdateIpListSubscription', { id, source: moved });
  expect(other['ipList']).toMatchObject({ syncStatus: { status: 'healthy' }, entryCount: 100 });
  expect(other['ipList']).not.toHaveProperty('heldUpdate');
  await syncNow(id);
  const accepted = await call('AcceptHeldIpListUpdate', { id });
  expect(accepted['syncRun']).toMatchObject({ status: 'succeeded', entryCount: 10 });
  expect(await listOf(id)).toMatchObject({ entryCount: 10 });
  const runs = (await call('ListIpListSyncRuns', { id }))['items'] as { status: string }[];
  expect(runs.map(({ status }) => status)).toEqual([
    'succeeded',
    'held',
    'held',
    'not_modified',
    'held',
    'held',
    'succeeded',
  ]);
});

test('unchanged, too small, too large and invalid content have different results', async () => {
  answer = (request, response) => {
    if (request.headers['if-none-match'] === '"v1"') return void response.writeHead(304).end();
    response.setHeader('etag', '"v1"');
    response.end(addresses(5));
  };
  const { id } = await subscribe();
  expect(await syncNow(id)).toMatchObject({ status: 'not_modified', httpStatus: 304 });
  answer = text(addresses(5));
  expect(await syncNow(id)).toMatchObject({ status: 'not_modified', httpStatus: 200 });
  const bounded = { minEntries: 3, maxEntries: 6 };
  answer = text(addresses(2));
  expect((await subscribe(bounded)).run).toMatchObject({ status: 'failed', resultCode: 'too_few' });
  answer = text(addresses(7));
  expect((await subscribe(bounded)).run).toMatchObject({
    status: 'failed',
    resultCode: 'too_many',
  });
  answer = text('192.0.2.1\n<html>');
  const html = (await subscribe()).run;
  expect(html).toMatchObject({ status: 'failed', resultCode: 'parse_error' });
  expect(html['error']).toBe('line 2 of the source is neither an address nor a network');
  answer = (_request, response) => void response.writeHead(503).end();
  expect((await subscribe()).run).toMatchObject({ resultCode: 'http_error', httpStatus: 503 });
  answer = text('{"a": 1}');
  const numbers = await subscribe({ format: 'json_v1', jsonPaths: ['$.a'] });
  expect(numbers.run).toMatchObject({ resultCode: 'parse_error' });
  answer = text('"unclosed\n192.0.2.1');
  const broken = await subscribe({ format: 'csv_v1' });
  expect(broken.run).toMatchObject({ resultCode: 'parse_error' });
});

test('secrets are sent to their server only, and never shown', async () => {
  answer = (request, response) => {
    if (request.url === '/list?key=hidden') {
      const location = `http://localhost:${(server.address() as AddressInfo).port}/x`;
      return void response.writeHead(307, { location }).end();
    }
    response.end('192.0.2.1');
  };
  const headers = [{ name: 'X-Api-Key', replaceSecret: 'swordfish' }];
  const { id } = await subscribe({ url: `${base}/list?key=hidden`, headers });
  expect(seen[0]?.headers['x-api-key']).toBe('swordfish');
  const shown = JSON.stringify([await listOf(id), await waf.call('AuditService/QueryAudit', {})]);
  expect(shown).not.toContain('swordfish');
  expect(shown).not.toContain('key=hidden');
  const source = (await listOf(id))['source'] as { url: string };
  expect(source).toMatchObject({ headers: [{ name: 'x-api-key', configured: true }] });
  expect(source.url).toMatch(/\?redacted$/);
  const again = {
    url: source.url,
    format: 'text_v1',
    headers: [{ name: 'x-api-key', keepExisting: true }],
  };
  await call('UpdateIpListSubscription', { id, source: again, syncNow: true });
  expect(seen.at(-1)).toMatchObject({ url: '/list?key=hidden' });
  const moved = { ...again, url: 'http://192.0.2.9/other' };
  expect(await refusalOf('UpdateIpListSubscription', { id, source: moved })).toMatch(
    /^invalid_argument source\.headers\[0\]\.keepExisting: /,
  );
});

test('an allowed redirect is followed, without the secret to another origin', async () => {
  const other = createServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers });
    response.end('192.0.2.1');
  });
  await new Promise<void>((resolve) => other.listen(0, allowedHost, resolve));
  const location = `http://${allowedHost}:${(other.address() as AddressInfo).port}/moved`;
  answer = (_request, response) => void response.writeHead(301, { location }).end();
  const { run } = await subscribe({ headers: [{ name: 'x-key', replaceSecret: 's' }] });
  expect(run).toMatchObject({ status: 'succeeded', entryCount: 1 });
  expect(seen.map(({ headers }) => headers['x-key'])).toEqual(['s', undefined]);
  answer = (_request, response) => void response.writeHead(302, { location: '/list' }).end();
  expect(String((await subscribe()).run['error'])).toMatch(/redirects more than 5 times/);
  other.closeAllConnections();
  other.close();
});

test('pausing, resuming, and hands off entries that a source owns', async () => {
  answer = text(addresses(3));
  const { id } = await subscribe();
  const paused = await call('PauseIpListSync', { id });
  expect(paused['ipList']).toMatchObject({ syncStatus: { status: 'paused' } });
  expect((paused['ipList'] as { syncStatus: object }).syncStatus).not.toHaveProperty('nextSyncAt');
  const resumed = await call('ResumeIpListSync', { id, syncNow: true });
  expect(resumed['syncRun']).toMatchObject({ trigger: 'resume', status: 'not_modified' });
  expect(resumed['ipList']).toMatchObject({ syncStatus: { status: 'healthy' } });
  const entries = [{ value: '192.0.2.1' }];
  expect(await refusalOf('AddEntries', { ipListId: id, entries })).toMatch(/^failed_precondition /);
  const test = await call('TestIpListSource', { ipListId: id });
  expect(test).toMatchObject({ httpStatus: 200, entryCount: 3, notModified: true });
  await call('DeleteIpList', { id });
  expect(await refusalOf('ListIpListSyncRuns', { id })).toMatch(/^not_found /);
});
