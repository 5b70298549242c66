/**
 * Owns the two entrances: the administration socket and the management listener. Each speaks
 * HTTP/1.1 and HTTP/2 on one address: told apart by ALPN under TLS, by the first bytes without.
 */

import { chmodSync, rmSync } from 'node:fs';
import { createServer as createHttp1, STATUS_CODES } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTls, TLSSocket } from 'node:tls';
import type { DescMethod } from '@bufbuild/protobuf';
import type { MethodImpl } from '@connectrpc/connect';
import { Code, ConnectError, createContextValues } from '@connectrpc/connect';
import { PartService } from '../../proto/gen/waf/runtime/v1/parts_pb.ts';
import { controlLimits } from '../../engine/base/limits.ts';
import { AppError } from '../../engine/base/errors.ts';
import { createAdapter, type Route } from './adapter.ts';
import { openBrowserSignIn, type BrowserSignIn } from './auth-service/browser-sign-in.ts';
import { authorize, authorizeInterceptor } from './authorize.ts';
import { foreignOrigin, setSecureHeaders } from './browser-guard.ts';
import { addressKey, entranceKey, type ApiParts, type Entrance } from './context.ts';
import { enforcementInterceptor } from './enforcement-notes.ts';
import { errorInterceptor, toConnectError } from './errors.ts';
import type { TlsIdentity } from './management-tls.ts';
import type { NodeRequest, NodeResponse } from './node-http.ts';
import { partService } from './part-service/service.ts';
import { answerProbe } from './probes.ts';
import { services } from './services.ts';
import { validateInterceptor } from './validate.ts';

const preface = 'PRI * HTTP/2.0';
const tlsHandshakeByte = 0x16;

/** An entrance while it is open. */
export interface RunningServer {
  /** Port of the management listener; 0 for a socket. */
  readonly port: number;
  close(): Promise<void>;
}

/** Where to listen. */
export type ListenAt = { readonly path: string } | { readonly host: string; readonly port: number };

type Handler = (request: NodeRequest, response: NodeResponse) => void;

/** Starts one entrance; with `tls` it serves nothing else. Errors: AppError address_in_use. */
export async function startServer(
  parts: ApiParts,
  entrance: Entrance,
  at: ListenAt,
  tls: TlsIdentity | null = null,
): Promise<RunningServer> {
  const take = connections(createHandler(parts, entrance), tls);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    peek(socket, (start) => take(socket, start));
  });
  server.maxConnections = controlLimits.connectionsMax;
  await listen(server, at);
  const address = server.address() as AddressInfo | string | null;
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, close: () => closeServer(server, open) };
}

function createHandler(parts: ApiParts, entrance: Entrance): Handler {
  const built = new Set<DescMethod>();
  const signIn: BrowserSignIn = entrance === 'network' ? openBrowserSignIn(parts) : () => false;
  const handler = createAdapter({
    routes: routesOf(parts, built),
    interceptors: [
      errorInterceptor(parts.logger),
      authorizeInterceptor(parts.sessions),
      validateInterceptor((method) => built.has(method)),
      enforcementInterceptor(),
    ],
    contextValues: (request) =>
      createContextValues().set(entranceKey, entrance).set(addressKey, addressOf(request)),
    refuse: (request) => (entrance === 'network' ? foreignOrigin(request) : null),
    authorize: (rpc, request, values) =>
      authorize(parts.sessions, rpc.method, request.headers.authorization ?? null, values),
    toError: (thrown, where) => toConnectError(thrown, parts.logger, where),
    fallback: (request, response) => {
      if (!signIn(request, response)) answerProbe(parts, entrance, request, response);
    },
  });
  return (request, response) => {
    setSecureHeaders(response, request.socket instanceof TLSSocket);
    handler(request, response);
  };
}

/** The methods of all services; notes in `built` which of them answer. */
function routesOf(parts: ApiParts, built: Set<DescMethod>): Route[] {
  const routes = services.flatMap(({ service, build }) => {
    const methods = build(parts);
    return service.methods.map((method) => {
      const one = methods[method.localName];
      if (one !== undefined) built.add(method);
      return { method, implementation: (one ?? refuseUnbuilt) as MethodImpl<DescMethod> };
    });
  });
  const forNodes = partService(parts) as Readonly<Record<string, MethodImpl<DescMethod>>>;
  for (const method of PartService.methods) {
    const implementation = forNodes[method.localName];
    if (implementation !== undefined) routes.push({ method, implementation });
  }
  return routes;
}

/** Hands a connection to the server that speaks what it begins with. */
function connections(
  handler: Handler,
  tls: TlsIdentity | null,
): (socket: Socket, start: Buffer) => void {
  const http1 = createHttp1({ headersTimeout: 15_000, requestTimeout: 0 }, handler);
  http1.on('checkContinue', handler);
  const settings = { maxConcurrentStreams: controlLimits.streamsPerConnectionMax };
  const http2 = createHttp2({ settings }, handler);
  http2.on('checkContinue', handler);
  if (tls === null) {
    return (socket, start) => (isHttp2(start) ? http2 : http1).emit('connection', socket);
  }
  const secured = createTls({
    ...tls.options(),
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: controlLimits.handshakeTimeoutMs,
  });
  tls.onReplaced(() => secured.setSecureContext(tls.options()));
  secured.on('secureConnection', (socket) => {
    socket.on('error', () => socket.destroy());
    (socket.alpnProtocol === 'h2' ? http2 : http1).emit('connection', socket);
  });
  return (socket, start) => {
    if (start[0] !== tlsHandshakeByte) return refusePlain(socket);
    secured.emit('connection', socket);
  };
}

function isHttp2(start: Buffer): boolean {
  const text = start.toString('latin1', 0, preface.length);
  return preface.startsWith(text) && text.length > 3;
}

/** Says that the address speaks HTTPS; nothing sent in the clear is read further. */
function refusePlain(socket: Socket): void {
  const message = 'this address speaks HTTPS: use a https:// URL';
  const body = JSON.stringify({ code: 'failed_precondition', message });
  socket.end(
    `HTTP/1.1 400 ${STATUS_CODES[400]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function refuseUnbuilt(): never {
  throw new ConnectError('this is not built yet', Code.Unimplemented);
}

/** Waits for the first bytes and puts them back. */
function peek(socket: Socket, then: (start: Buffer) => void): void {
  let started = false;
  socket.setTimeout(controlLimits.handshakeTimeoutMs, () => {
    // Timers come before input: after a long turn, what was sent in time is only read now.
    setTimeout(() => started || socket.destroy(), controlLimits.handshakeGraceMs).unref();
  });
  socket.once('readable', () => {
    started = true;
    const chunk = socket.read() as Buffer | null;
    socket.setTimeout(0);
    socket.removeAllListeners('timeout');
    if (chunk === null) {
      socket.destroy();
      return;
    }
    socket.unshift(chunk);
    then(chunk);
  });
}

async function listen(server: Server, at: ListenAt): Promise<void> {
  if ('path' in at) rmSync(at.path, { force: true });
  const before = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen('path' in at ? { path: at.path } : { host: at.host, port: at.port }, resolve);
    });
  } catch (error) {
    throw listenError(error, at);
  } finally {
    process.umask(before);
  }
  if ('path' in at) chmodSync(at.path, 0o600);
}

function listenError(error: unknown, at: ListenAt): AppError {
  const where = 'path' in at ? at.path : `${at.host}:${at.port}`;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE') {
    const message = `the management address ${where} is in use; see --management`;
    return new AppError('address_in_use', message, { source: 'config', cause: error });
  }
  const message = `the address ${where} cannot be listened on (${code ?? 'unknown'})`;
  return new AppError('address_unusable', message, { source: 'config', cause: error });
}

function addressOf(request: NodeRequest): string {
  return request.socket.remoteAddress ?? '';
}

function closeServer(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of open) socket.destroy();
  });
}
