/** Silent, slow and greedy clients of the management listener: they end, and others get in. */

import { readFileSync, rmSync } from 'node:fs';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { ConnectionTable, type Connection } from './connection-table.ts';
import { connectionLimits, type ConnectionLimits } from './connection-limits.ts';

const bounds: Partial<ConnectionLimits> = {
  connectionsMax: 40,
  connectionsPerAddressMax: 20,
  strangersPerAddressMax: 10,
  // Longer than a handshake takes on a busy machine.
  handshakeTimeoutMs: 1_000,
  headTimeoutMs: 1_000,
  bodyTimeoutMs: 1_000,
  answerTimeoutMs: 1_000,
  idleTimeoutMs: 2_000,
  sweepEveryMs: 50,
};

let waf: TestControl;
let port = 0;
let ca = '';

beforeAll(async () => {
  waf = await startTestControl({
    demoOrigin: null,
    managementTls: 'own',
    connectionLimits: bounds,
  });
  port = waf.control.managementPort;
  ca = readFileSync(join(waf.folder, 'tls', 'ca.pem'), 'utf8');
});
afterAll(async () => {
  await waf.control.close();
  rmSync(waf.folder, { recursive: true, force: true });
});

function closed(socket: Socket | ClientHttp2Session): Promise<true> {
  socket.on('error', () => undefined);
  if ('resume' in socket) socket.resume();
  return new Promise((resolve) => socket.once('close', () => resolve(true)));
}

const tcp = (localAddress = '127.0.0.1'): Socket => {
  const socket = connectTcp({ host: '127.0.0.1', port, localAddress });
  socket.on('error', () => undefined);
  return socket;
};
const secured = (protocol: string): Socket =>
  connectTls({ host: '127.0.0.1', port, ca, ALPNProtocols: [protocol] });
const http2 = (): ClientHttp2Session => connectHttp2(`https://127.0.0.1:${port}`, { ca });

function health(localAddress = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = { host: '127.0.0.1', port, localAddress, path: '/healthz', ca, agent: false };
    const request = httpsRequest(asked, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject);
    request.end();
  });
}

test.each([
  ['no byte', tcp, ''],
  ['no end of the handshake', tcp, Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])],
  ['nothing after the handshake, HTTP/1.1', () => secured('http/1.1'), ''],
  ['nothing after the handshake, HTTP/2', () => secured('h2'), ''],
  ['half a head', () => secured('http/1.1'), 'POST /x HTTP/1.1\r\nHost: a\r\nX-Slow: '],
  [
    'a head without its body',
    () => secured('http/1.1'),
    'POST /waf.v1.AuthService/Login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
      'Content-Length: 50\r\n\r\n{',
  ],
  ['half the preface of HTTP/2', () => secured('h2'), 'PRI * HTTP/2.0\r\n'],
])('a client that sends %s is closed', async (_name, open, bytes) => {
  const socket = open();
  socket.write(bytes);
  expect(await closed(socket)).toBe(true);
});

test('a head that comes byte by byte does not keep a connection', async () => {
  const socket = secured('http/1.1');
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  await new Promise((resolve) => socket.once('data', resolve));
  const drip = setInterval(() => socket.writable && socket.write('G'), 20);
  expect(await closed(socket)).toBe(true);
  clearInterval(drip);
});

test('a session of HTTP/2 without streams is closed, pings or not', async () => {
  const session = http2();
  const pings = setInterval(() => session.destroyed || session.ping(() => undefined), 40);
  expect(await closed(session)).toBe(true);
  clearInterval(pings);
});

test('a stream of HTTP/2 that never sends its body ends, and its session stays', async () => {
  const session = http2();
  session.on('error', () => undefined);
  const head = { ':method': 'POST', 'content-type': 'application/json' };
  const stream = session.request({ ...head, ':path': '/waf.v1.AuthService/Login' });
  stream.on('error', () => undefined);
  stream.write('{');
  await new Promise((resolve) => stream.once('close', resolve));
  expect(session.closed || session.destroyed).toBe(false);
  session.destroy();
});

test('a node that opens its stream and does not say who it is, is closed', async () => {
  const session = http2();
  session.on('error', () => undefined);
  const head = { ':method': 'POST', 'content-type': 'application/grpc+proto', te: 'trailers' };
  const stream = session.request({ ...head, ':path': '/waf.v1.AgentStreamService/Connect' });
  stream.on('error', () => undefined);
  await new Promise((resolve) => stream.once('close', resolve));
  session.destroy();
  expect(stream.destroyed).toBe(true);
});

test.each(['ping', 'settings'])('a flood of %s frames ends the session', async (kind) => {
  const session = http2();
  const gone = closed(session);
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  const { controlFramesPerSweepMax } = connectionLimits;
  for (let sent = 0; sent < controlFramesPerSweepMax * 3 && !session.destroyed; sent++) {
    if (kind === 'ping') session.ping(() => undefined);
    else session.settings({ initialWindowSize: 65_535 + sent });
    if (sent % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await gone).toBe(true);
});

test('silent connections keep out neither their own address, others, nor the socket', async () => {
  const silent = Array.from({ length: 60 }, (_one, at) => tcp(`127.0.0.${(at % 5) + 2}`));
  await Promise.all(silent.map((socket) => new Promise((go) => socket.once('connect', go))));
  expect(await health('127.0.0.2')).toBe(200);
  expect(await health('127.0.0.9')).toBe(200);
  expect((await waf.call('SiteService/ListSites', {})).status).toBe(200);
  for (const socket of silent) socket.destroy();
});

interface Fake {
  readonly connection: Connection;
  readonly gone: () => boolean;
}

function tableOf(limits: Partial<ConnectionLimits>) {
  const clock = { nowMs: 0 };
  const table = new ConnectionTable({ ...connectionLimits, ...limits }, () => clock.nowMs);
  const admit = (address: string): Fake | null => {
    let gone = false;
    const peer = { bytesRead: () => 0, destroy: () => void (gone = true) };
    const connection = table.admit(address, peer);
    return connection === null ? null : { connection, gone: () => gone };
  };
  return { clock, table, admit };
}

const atWork = { bodyIsComplete: () => true, waitingBytes: () => 0, destroy: () => undefined };

test('where all places are taken, the oldest silent one of the greediest address goes', () => {
  const { clock, table, admit } = tableOf({ connectionsMax: 5 });
  const honest = admit('a');
  const greedy = ['b', 'b', 'b'].map((address) => {
    clock.nowMs++;
    return admit(address);
  });
  const proven = admit('c');
  if (proven !== null) proven.connection.proven = true;
  expect(admit('d')).not.toBeNull();
  expect(greedy.map((one) => one?.gone())).toEqual([true, false, false]);
  expect([honest?.gone(), proven?.gone(), table.size]).toEqual([false, false, 5]);
});

test('connections with a request in progress are not evicted; a new connection is refused', () => {
  const { table, admit } = tableOf({ connectionsMax: 2, strangersPerAddressMax: 1 });
  const [first, second] = [admit('a'), admit('b')];
  for (const one of [first, second]) if (one) table.begin(one.connection, atWork);
  expect(admit('c')).toBeNull();
  expect(admit('a')).toBeNull();
  expect([first?.gone(), second?.gone()]).toEqual([false, false]);
});

test('an answer that nobody reads ends; one that is read slowly does not', () => {
  const { clock, table, admit } = tableOf({ answerTimeoutMs: 1_000 });
  const ended: string[] = [];
  const connection = admit('a')?.connection;
  if (connection === undefined) throw new Error('no place');
  let waiting = 1_000_000;
  table.begin(connection, { ...atWork, waitingBytes: () => 9, destroy: () => ended.push('stuck') });
  table.begin(connection, {
    ...atWork,
    waitingBytes: () => (waiting -= 10),
    destroy: () => ended.push('slow'),
  });
  for (; clock.nowMs < 5_000; clock.nowMs += 100) table.sweep();
  expect(new Set(ended)).toEqual(new Set(['stuck']));
});

test('a burst of calls from one address gets in; those of it that stay silent go', () => {
  const { clock, table, admit } = tableOf({ strangersPerAddressMax: 10 });
  const burst = Array.from({ length: 100 }, () => admit('a'));
  expect(burst.filter((one) => one === null || one.gone())).toEqual([]);
  const served = burst[0];
  if (served) table.begin(served.connection, atWork);
  clock.nowMs = 3_000;
  table.sweep();
  expect([table.size, served?.gone()]).toEqual([10, false]);
  expect(admit('a')).not.toBeNull();
  expect(table.size).toBe(10);
});

test('one look is not enough: what had arrived during a long turn is read first', () => {
  const { clock, table, admit } = tableOf({});
  const late = admit('a');
  clock.nowMs = 60_000;
  table.sweep();
  expect(late?.gone()).toBe(false);
  if (late) table.opened(late.connection);
  table.sweep();
  expect(late?.gone()).toBe(false);
  clock.nowMs = 90_000;
  table.sweep();
  table.sweep();
  expect(late?.gone()).toBe(true);
});
