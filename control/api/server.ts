/**
 * Owns the two entrances: the administration socket and the management listener. Each speaks
 * HTTP/1.1 and HTTP/2 without TLS on one address, told apart by the first bytes.
 */

import { chmodSync, rmSync } from 'node:fs';
import { createServer as createHttp1 } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { ConnectRouter, ServiceImpl } from '@connectrpc/connect';
import { createContextValues } from '@connectrpc/connect';
import { controlLimits } from '../../engine/base/limits.ts';
import { AppError } from '../../engine/base/errors.ts';
import { createAdapter, type NodeRequest } from './adapter.ts';
import { authorize, authorizeInterceptor } from './authorize.ts';
import { addressKey, entranceKey, type ApiParts, type Entrance } from './context.ts';
import { errorInterceptor, toConnectError } from './errors.ts';
import { answerProbe } from './probes.ts';
import { services } from './services.ts';

const preface = 'PRI * HTTP/2.0';
const firstBytesTimeoutMs = 10_000;

/** An entrance while it is open. */
export interface RunningServer {
  /** Port of the management listener; 0 for a socket. */
  readonly port: number;
  close(): Promise<void>;
}

/** Where to listen. */
export type ListenAt = { readonly path: string } | { readonly host: string; readonly port: number };

/** Starts one entrance. Errors: AppError address_in_use, address_unusable. */
export async function startServer(
  parts: ApiParts,
  entrance: Entrance,
  at: ListenAt,
): Promise<RunningServer> {
  const handler = createAdapter({
    routes: (router) => addRoutes(router, parts),
    interceptors: [errorInterceptor(parts.logger), authorizeInterceptor(parts.sessions)],
    requestBytesMax: controlLimits.requestBytesMax,
    contextValues: (request) =>
      createContextValues().set(entranceKey, entrance).set(addressKey, addressOf(request)),
    authorize: (rpc, request, values) =>
      authorize(parts.sessions, rpc.method, request.headers.authorization ?? null, values),
    toError: (thrown, where) => toConnectError(thrown, parts.logger, where),
    fallback: (request, response) => answerProbe(parts, entrance, request, response),
  });
  const http1 = createHttp1({ headersTimeout: 15_000, requestTimeout: 0 }, handler);
  const http2 = createHttp2(handler);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    tellApart(socket, (isHttp2) => (isHttp2 ? http2 : http1).emit('connection', socket));
  });
  server.maxConnections = controlLimits.connectionsMax;
  await listen(server, at);
  const address = server.address() as AddressInfo | string | null;
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, close: () => closeServer(server, open) };
}

function addRoutes(router: ConnectRouter, parts: ApiParts): void {
  for (const { service, build } of services) {
    router.service(service, build(parts) as Partial<ServiceImpl<typeof service>>);
  }
}

/** Waits for the first bytes and puts them back. */
function tellApart(socket: Socket, then: (isHttp2: boolean) => void): void {
  socket.setTimeout(firstBytesTimeoutMs, () => socket.destroy());
  socket.once('readable', () => {
    const chunk = socket.read() as Buffer | null;
    socket.setTimeout(0);
    socket.removeAllListeners('timeout');
    if (chunk === null) {
      socket.destroy();
      return;
    }
    socket.unshift(chunk);
    const start = chunk.toString('latin1', 0, preface.length);
    then(preface.startsWith(start) && start.length > 3);
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
