/**
 * The two listeners: the administration socket and the management listener. Each speaks HTTP/1.1
 * and HTTP/2 on one address: ALPN distinguishes them under TLS, the first bytes without.
 */

import { chmodSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type ListenOptions } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import type { MethodImpl } from '@connectrpc/connect';
import { Code, ConnectError, createContextValues } from '@connectrpc/connect';
import { NodeService } from '../../../proto/gen/waf/runtime/v1/nodes_pb.ts';
import { PartService } from '../../../proto/gen/waf/runtime/v1/parts_pb.ts';
import { AppError } from '../../../base/errors.ts';
import { createAdapter, type Route } from './adapter.ts';
import { openBrowserSignIn, type BrowserSignIn } from '../auth-service/browser-sign-in.ts';
import { originKey } from '../../auth/origin-key.ts';
import { authorize, authorizeInterceptor } from '../authorize.ts';
import { foreignOrigin, setSecureHeaders } from './browser-guard.ts';
import { consoleContexts } from './console-name.ts';
import { openConsole, type ConsolePages } from './console-pages.ts';
import { connectionLimits, type ConnectionLimits } from './connection-limits.ts';
import { ConnectionTable } from './connection-table.ts';
import { acceptor, peek, trackRequest, type Handler } from './connections.ts';
import { addressKey, entranceKey, peerKey, type ApiParts, type Entrance } from '../context.ts';
import { answerDebug } from '../debug/debug.ts';
import { enforcementInterceptor } from '../enforcement-notes.ts';
import { errorInterceptor, toConnectError } from '../errors.ts';
import type { TlsIdentity } from './management-tls.ts';
import type { NodeRequest } from './node-http.ts';
import { nodeService } from '../node-service/service.ts';
import { partService } from '../part-service/service.ts';
import { answerProbe } from '../metrics/probes.ts';
import { publishingInterceptor } from '../publishing-notes.ts';
import { answerDownload } from '../nodes/program-downloads.ts';
import { ownServices, services } from '../services.ts';
import { sessionEndInterceptor } from '../session-end.ts';
import { answerTelemetry } from '../telemetry/telemetry.ts';
import { tokenScopeInterceptor } from '../token-scope.ts';
import { validateInterceptor } from '../validate.ts';

/** An entrance while it is open. */
export interface RunningServer {
  /** Port of the management listener; 0 for a socket. */
  readonly port: number;
  close(): Promise<void>;
}

/** Where to listen. */
export type ListenAt =
  | { readonly path: string }
  | {
      readonly host: string;
      readonly port: number;
      /** A socket that is bound there; whoever bound it keeps it while this process is replaced. */
      readonly fd?: number | undefined;
    };

/** Starts one entrance; with `tls` it serves nothing else. Errors: AppError address_in_use. */
export async function startServer(
  parts: ApiParts,
  entrance: Entrance,
  at: ListenAt,
  tls: TlsIdentity | null = null,
  bounds: Partial<ConnectionLimits> = {},
): Promise<RunningServer> {
  const limits = { ...connectionLimits, ...bounds };
  const table = new ConnectionTable(limits, () => parts.clock.monotonicUs() / 1000);
  const handler = createHandler(parts, entrance, table);
  const accept = acceptor(table, handler, tls, parts.authority, consoleContexts(parts.store));
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    const address = entrance === 'socket' ? '' : originKey(socket.remoteAddress ?? 'unknown');
    const peer = { bytesRead: () => socket.bytesRead, destroy: () => void socket.destroy() };
    const connection = table.admit(address, peer);
    if (connection === null) {
      socket.destroy();
      return;
    }
    socket.on('close', () => table.remove(connection));
    peek(socket, (start) => accept(socket, connection, start));
  });
  await listen(server, at);
  const sweeps = setInterval(() => table.sweep(), limits.sweepEveryMs);
  sweeps.unref();
  const address = server.address() as AddressInfo | string | null;
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    close: () => {
      clearInterval(sweeps);
      return closeServer(server, table);
    },
  };
}

function createHandler(parts: ApiParts, entrance: Entrance, table: ConnectionTable): Handler {
  const built = new Set<DescMethod>();
  const pages: ConsolePages = entrance === 'network' ? openConsole() : () => false;
  const signIn: BrowserSignIn = entrance === 'network' ? openBrowserSignIn(parts) : () => false;
  const handler = createAdapter({
    routes: routesOf(parts, built),
    interceptors: [
      errorInterceptor(parts.logger),
      authorizeInterceptor(parts.sessions),
      tokenScopeInterceptor(),
      sessionEndInterceptor(parts.sessions),
      validateInterceptor((method) => built.has(method)),
      enforcementInterceptor(),
      publishingInterceptor(parts),
    ],
    contextValues: (request, peer) =>
      createContextValues()
        .set(entranceKey, entrance)
        .set(addressKey, addressOf(request))
        .set(peerKey, peer),
    refuse: (request) => (entrance === 'network' ? foreignOrigin(request) : null),
    authorize: (rpc, request, values) =>
      authorize(parts.sessions, rpc.method, request.headers.authorization ?? null, values),
    toError: (thrown, where) => toConnectError(thrown, parts.logger, where),
    fallback: (request, response, peer) => {
      if (answerDownload(parts, request, response, peer.node)) return;
      if (signIn(request, response)) return;
      if (answerTelemetry(parts, entrance, request, response)) return;
      if (answerDebug(parts, entrance, request, response)) return;
      if (pages(request, response)) return;
      answerProbe(parts, entrance, request, response);
    },
  });
  return (request, response) => {
    const peer = trackRequest(table, request, response);
    if (peer === null) {
      response.destroy();
      return;
    }
    setSecureHeaders(response, request.socket instanceof TLSSocket);
    handler(request, response, peer);
  };
}

/** The methods of all services; notes in `built` which of them answer. */
function routesOf(parts: ApiParts, built: Set<DescMethod>): Route[] {
  const routes = [...services, ...ownServices].flatMap(({ service, build }) => {
    const methods = build(parts);
    return service.methods.map((method) => {
      const one = methods[method.localName];
      if (one !== undefined) built.add(method);
      return { method, implementation: (one ?? refuseUnbuilt) as MethodImpl<DescMethod> };
    });
  });
  const forNodes: readonly (readonly [DescService, object])[] = [
    [PartService, partService(parts)],
    [NodeService, nodeService(parts)],
  ];
  for (const [service, methods] of forNodes) {
    const built = methods as Readonly<Record<string, MethodImpl<DescMethod>>>;
    for (const method of service.methods) {
      const implementation = built[method.localName];
      if (implementation !== undefined) routes.push({ method, implementation });
    }
  }
  return routes;
}

function refuseUnbuilt(): never {
  throw new ConnectError('this is not built yet', Code.Unimplemented);
}

async function listen(server: Server, at: ListenAt): Promise<void> {
  if ('path' in at) rmSync(at.path, { force: true });
  const before = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(placeOf(at), resolve);
    });
  } catch (error) {
    throw listenError(error, at);
  } finally {
    process.umask(before);
  }
  if ('path' in at) chmodSync(at.path, 0o600);
}

function placeOf(at: ListenAt): ListenOptions & { fd?: number } {
  if ('path' in at) return { path: at.path };
  return at.fd === undefined ? { host: at.host, port: at.port } : { fd: at.fd };
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

function closeServer(server: Server, table: ConnectionTable): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    table.close();
  });
}
