/**
 * An origin of the chain's table: says in its answer's fields who it is and what it got. The one
 * named `auth` says who may enter, `ill` fails under `/health`, `cuts` closes without an answer,
 * `calls` speaks HTTP/2 alone.
 */

import http from 'node:http';
import http2 from 'node:http2';
import type net from 'node:net';
import type { Duplex } from 'node:stream';
import { frame } from '../../engine/front/fixtures/websocket-frames-fixture.ts';
import { switching } from '../../engine/front/fixtures/websocket-fixture.ts';

/** A running origin. */
export interface ChainOrigin {
  readonly name: string;
  readonly url: string;
  close(): void;
}

/** Starts one on a free port. */
export async function startChainOrigin(name: string): Promise<ChainOrigin> {
  const asked = new Map<string, number>();
  const answer: http.RequestListener = (request, response) => {
    if (name === 'auth') return vouch(request, response);
    if (name === 'cuts') return void request.socket.destroy();
    const target = request.url ?? '';
    const times = asked.get(target) ?? 0;
    asked.set(target, times + 1);
    if (target.startsWith('/page')) return sendPage(name, target, response);
    const status = statusOf(request, name === 'ill', times);
    if (status === null) return;
    let bytes = 0;
    request.on('data', (piece: Buffer) => (bytes += piece.length));
    request.on('end', () => {
      const { headers } = request;
      response.writeHead(status, {
        'content-type': 'text/plain',
        'x-origin': name,
        'x-target': target,
        'x-bytes': String(bytes),
        'x-proto': String(headers['x-forwarded-proto'] ?? ''),
        'x-for': String(headers['x-forwarded-for'] ?? ''),
        'x-host': String(headers.host),
        'x-added': String(headers['x-added'] ?? ''),
        'x-default': String(headers['x-default'] ?? ''),
        'x-cookie': String(headers.cookie ?? ''),
        'x-deadline': String(headers['grpc-timeout'] ?? ''),
        'x-subject': String(headers['x-client-cert-subject'] ?? ''),
        ...(status === 302 && { location: '/' }),
      });
      response.end(`from the origin ${name}`);
    });
  };
  const { server, close } = name === 'calls' ? secondServer(answer) : firstServer(name, answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { name, url: `http://127.0.0.1:${port}`, close };
}

/**
 * A page that the query describes: its status and bytes, `open` for no length, every other
 * parameter as a field.
 */
function sendPage(name: string, target: string, response: http.ServerResponse): void {
  const { searchParams } = new URL(target, 'http://origin.test');
  const fields: http.OutgoingHttpHeaders = { 'content-type': 'text/html', 'x-origin': name };
  for (const field of searchParams.keys()) {
    const values = searchParams.getAll(field);
    if (['status', 'bytes', 'open'].includes(field)) continue;
    fields[field] = values.length === 1 ? values[0] : values;
  }
  const content = 'from the origin, again and '
    .repeat(200)
    .slice(0, Number(searchParams.get('bytes')));
  if (!searchParams.has('open')) fields['content-length'] = content.length;
  response.writeHead(Number(searchParams.get('status') ?? 200), fields);
  response.end(content);
}

/** A service that is asked who may enter: a cookie says what it answers. */
function vouch({ headers }: http.IncomingMessage, response: http.ServerResponse): void {
  const [, who = ''] = /who=(\w+)/.exec(headers.cookie ?? '') ?? [];
  const told = ['method', 'host', 'uri'].map((name) => headers[`x-forwarded-${name}`]).join(' ');
  switch (who) {
    case 'ann':
      return void response.writeHead(200, { 'x-added': 'ann' }).end();
    case 'told':
      response.writeHead(204, { 'x-added': told });
      return void response.end();
    case 'eve':
      return void response.writeHead(403).end();
    case 'new':
      response.writeHead(302, { location: 'https://login.example/', 'set-cookie': 'state=1' });
      return void response.end();
    case 'ill':
      return void response.writeHead(500).end();
    case 'late':
      return undefined;
    case 'gone':
      return void response.destroy();
    case 'long':
      return void response.writeHead(401).end('x'.repeat(100_000));
    default:
      return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('who are you');
  }
}

interface Server {
  readonly server: net.Server;
  close(): void;
}

function firstServer(name: string, answer: http.RequestListener): Server {
  const server = http.createServer(answer);
  server.on('upgrade', (request, socket) => acceptMessage(name, request, socket));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { server, close };
}

const ordinary = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n';

/**
 * Opens a WebSocket under `/chat`; the first bytes that come are answered with their number, and
 * the end.
 */
function acceptMessage(name: string, request: http.IncomingMessage, socket: Duplex): void {
  socket.on('error', () => undefined);
  if (request.url !== '/chat') return void socket.end(`${ordinary}x-origin: ${name}\r\n\r\n`);
  socket.write(switching(String(request.headers['sec-websocket-key'])));
  socket.once('data', (bytes: Buffer) => {
    const payload = `the origin took ${bytes.length} bytes`;
    socket.end(frame({ masked: false, payload }));
  });
}

/** Over HTTP/2 requests and answers of the older shape have the same members. */
function secondServer(answer: http.RequestListener): Server {
  const sessions = new Set<http2.ServerHttp2Session>();
  const server = http2.createServer(answer as unknown as Parameters<typeof http2.createServer>[1]);
  server.on('session', (session) => sessions.add(session));
  const close = (): void => {
    for (const session of sessions) session.destroy();
    server.close();
  };
  return { server, close };
}

/**
 * Status of an answer; null for none. `times`: how often the target was asked for before; the first
 * two are alike, for control may ask once when a pool is made.
 */
function statusOf(request: http.IncomingMessage, ill: boolean, times: number): number | null {
  const { method, headers } = request;
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://origin.test');
  if (pathname === '/echo') return Number(searchParams.get('status'));
  if (pathname.startsWith('/silent')) return null;
  if (!ill || !pathname.startsWith('/health')) return 200;
  switch (pathname) {
    case '/health/head-only':
      return method === 'HEAD' ? 200 : 405;
    case '/health/moved':
      return 302;
    case '/health/late':
      return null;
    case '/health/turns':
      return times > 1 && times % 2 === 0 ? 200 : 503;
    case '/health/slips':
      return times > 1 && times % 2 === 0 ? 503 : 200;
    default:
      return headers.host === 'well.test' ? 200 : 503;
  }
}
