/** PROXY headers on live listeners: whose they are believed, and what comes of the others. */

import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { parseNetwork } from '../../../base/ip-address.ts';
import { createFront } from '../threads/front.ts';
import { Closing, httpOrigin, siteFor } from '../fixtures/fixture.ts';
import {
  getText,
  secureSite,
  startSecureFront,
  type SecureRunning,
} from '../fixtures/secure-fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const host = 'shop.test';
const balancer = parseNetwork('127.0.0.0/8')!;
const elsewhere = parseNetwork('192.0.2.0/24')!;
const line = 'PROXY TCP4 198.51.100.7 203.0.113.1 41234 443\r\n';
const binaryOf = (command: number, family: number, addresses: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'),
    Buffer.from([command, family, 0, addresses.length]),
    addresses,
  ]);
const addresses = [198, 51, 100, 7, 203, 0, 113, 1, 161, 18, 1, 187];
const binary = binaryOf(0x21, 0x11, Buffer.from(addresses));

function echoOrigin(): Promise<number> {
  return httpOrigin(closing, ({ headers }, response) => {
    response.end(`for=${String(headers['x-forwarded-for'])}`);
  });
}

/** A connection that has sent `pieces`, each by itself. */
async function connected(port: number, pieces: readonly (string | Buffer)[]): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  return sent(socket, pieces);
}

/** The same, and all that comes until the server closes. */
async function answered(port: number, pieces: readonly (string | Buffer)[]): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  const [text] = await Promise.all([everything(socket), sent(socket, pieces)]);
  return text;
}

async function sent(socket: net.Socket, pieces: readonly (string | Buffer)[]): Promise<net.Socket> {
  socket.on('error', () => undefined);
  socket.setNoDelay(true);
  closing.add(() => void socket.destroy());
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, () => resolve(null)));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return socket;
}

/** All that comes until the server closes. */
function everything(socket: net.Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
    socket.on('close', () => resolve(text));
  });
}

interface PlainFront {
  readonly port: number;
  readonly clients: { ip: string; port: number }[];
  refused: number;
}

async function plainFront(
  proxyHeaderFrom: readonly string[],
  timeoutMs = 5_000,
): Promise<PlainFront> {
  const clients: { ip: string; port: number }[] = [];
  const sites = [siteFor(await echoOrigin())];
  const front = createFront({
    routes: { revision: 'r1', sites },
    inspectorOf: () => null,
    settings: { sweepIntervalMs: 10, proxyHeaderTimeoutMs: timeoutMs },
    onRequestDone: ({ clientIp, clientPort }) => clients.push({ ip: clientIp, port: clientPort }),
    onProxyHeaderRefused: () => running.refused++,
  });
  closing.add(() => front.close());
  const port = await front.listen({ host: '127.0.0.1', port: 0, proxyHeaderFrom });
  const running: PlainFront = { port, clients, refused: 0 };
  return running;
}

describe('without TLS', () => {
  test.each<[string, (string | Buffer)[]]>([
    ['a line together with the request', [line + getText(host)]],
    ['a line by itself', [line, getText(host)]],
    ['a line in pieces', [line.slice(0, 3), line.slice(3, 20), line.slice(20) + getText(host)]],
    ['a binary header', [Buffer.concat([binary, Buffer.from(getText(host))])]],
    ['a binary header in pieces', [binary.subarray(0, 13), binary.subarray(13), getText(host)]],
  ])('%s of the balancer names the client', async (_, pieces) => {
    const { port, clients } = await plainFront([balancer]);
    const text = await answered(port, pieces);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain('for=198.51.100.7');
    await expect.poll(() => clients).toEqual([{ ip: '198.51.100.7', port: 41_234 }]);
  });

  test('several requests of a connection have the client that its header names', async () => {
    const { port, clients } = await plainFront([balancer]);
    const first = getText(host).replace('Connection: close\r\n', '');
    const text = await answered(port, [line, first, getText(host)]);
    expect(text.match(/for=198\.51\.100\.7/g)).toHaveLength(2);
    await expect.poll(() => clients.length).toBe(2);
  });

  test.each<[string, string | Buffer]>([
    ['an unknown client', 'PROXY UNKNOWN\r\n'],
    ['LOCAL, as health checks do', binaryOf(0x20, 0x11, binary.subarray(16))],
    ['a client of a Unix socket', binaryOf(0x21, 0x31, Buffer.alloc(216, '/'))],
  ])('the balancer is the client where its header says: %s', async (_, header) => {
    const { port, clients } = await plainFront([balancer]);
    const text = await answered(port, [header, getText(host)]);
    expect(text).toContain('for=127.0.0.1');
    await expect.poll(() => clients).toEqual([{ ip: '127.0.0.1', port: expect.any(Number) }]);
    expect(clients[0]?.port).not.toBe(0);
  });

  test.each<[string, (string | Buffer)[]]>([
    ['no header', [getText(host)]],
    ['a malformed header', ['PROXY TCP4 nobody\r\n', getText(host)]],
    ['a second header', [line + line + getText(host)]],
  ])('%s from a balancer reaches no site', async (what, pieces) => {
    const front = await plainFront([balancer]);
    const text = await answered(front.port, pieces);
    if (what === 'a second header') expect(text).toMatch(/^HTTP\/1\.1 400 /);
    else expect(text).toBe('');
    expect(front.refused).toBe(what === 'a second header' ? 0 : 1);
  });

  test('a header that does not end is given up in time', async () => {
    const front = await plainFront([balancer], 50);
    expect(await answered(front.port, ['PROXY TCP4 19'])).toBe('');
    expect(front.refused).toBe(1);
  });

  test.each([
    ['elsewhere', [elsewhere]],
    ['nowhere', []],
  ])('a header of a client is refused as no HTTP where balancers are %s', async (_, networks) => {
    const { port, clients } = await plainFront(networks);
    expect(await answered(port, [line, getText(host)])).toMatch(/^HTTP\/1\.1 400 /);
    await expect.poll(() => clients).toEqual([{ ip: '127.0.0.1', port: expect.any(Number) }]);
    const plain = await answered(port, [getText(host)]);
    expect(plain).toContain('for=127.0.0.1');
  });
});

describe('with TLS', () => {
  async function secureFront(networks: readonly string[]): Promise<SecureRunning> {
    const sites = [secureSite(await echoOrigin(), host)];
    return startSecureFront(closing, sites, {}, undefined, null, networks);
  }

  async function overTls(port: number, header: string | Buffer): Promise<tls.TLSSocket> {
    const socket = await connected(port, [header]);
    return tls.connect({
      socket,
      servername: host,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
  }

  test('the header comes before the handshake and names the client, also over HTTP/2', async () => {
    const front = await secureFront([balancer]);
    const secure = await overTls(front.securePort, binary);
    const session = http2.connect(`https://${host}`, { createConnection: () => secure });
    closing.add(() => session.destroy());
    const stream = session.request({ ':path': '/', ':authority': host });
    const body = await new Promise<string>((resolve, reject) => {
      let text = '';
      stream.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
      stream.on('end', () => resolve(text));
      stream.on('error', reject);
    });
    expect(body).toBe('for=198.51.100.7');
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ clientIp: '198.51.100.7', httpVersion: 'HTTP/2' });
  });

  test('header and hello may come together', async () => {
    const front = await secureFront([balancer]);
    const socket = net.connect(front.securePort, '127.0.0.1');
    closing.add(() => void socket.destroy());
    socket.write(line);
    const secure = tls.connect({ socket, servername: host, rejectUnauthorized: false });
    secure.on('secureConnect', () => secure.write(getText(host)));
    expect(await everything(secure)).toContain('for=198.51.100.7');
  });

  test('a header of anybody else is no handshake', async () => {
    const front = await secureFront([elsewhere]);
    const secure = await overTls(front.securePort, line);
    await expect(new Promise((_, reject) => secure.on('error', reject))).rejects.toThrow();
    expect(front.events).toEqual([]);
  });
});
