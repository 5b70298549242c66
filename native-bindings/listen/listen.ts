/**
 * Listening sockets, and the small addon that makes them. Control may load it: the supervisor holds
 * the sockets while engines come and go.
 */
import { closeSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A TCP socket; the caller owns `fd`. */
export interface BoundSocket {
  readonly fd: number;
  readonly port: number;
}

interface ListenAddon {
  bindReusePort(host: string, port: number): BoundSocket;
  shareListening(fd: number): number;
}

const relativeAddonPath = join('build', 'Release', 'waf_listen.node');
let addon: ListenAddon | undefined;

/**
 * A TCP socket bound with SO_REUSEADDR and SO_REUSEPORT, non-blocking, that does not listen yet: it
 * keeps the port, and clients are refused until `shareListening`.
 * Units: port 0 picks a free one; `host` is a numeric IPv4 or IPv6 address.
 * Errors: an Error whose code is the errno name (EADDRINUSE, EACCES, ...).
 */
export function bindReusePort(host: string, port: number): BoundSocket {
  return load().bindReusePort(host, port);
}

/**
 * Another descriptor of the socket of `fd`, listening with a backlog of 4096. While any
 * descriptor of it is open, in whatever process, clients wait in its queue and are not refused.
 * Errors: an Error whose code is the errno name (EBADF, ENOTSOCK, ...).
 */
export function shareListening(fd: number): number {
  return load().shareListening(fd);
}

/** As `bindReusePort`, listening (`acceptClients` or `server.listen({ fd })` takes it over). */
export function listenReusePort(host: string, port: number): BoundSocket {
  const bound = bindReusePort(host, port);
  try {
    return { fd: shareListening(bound.fd), port: bound.port };
  } finally {
    closeSync(bound.fd);
  }
}

function load(): ListenAddon {
  addon ??= createRequire(import.meta.url)(findAddon()) as ListenAddon;
  return addon;
}

function findAddon(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, relativeAddonPath))) {
    const parent = dirname(folder);
    if (parent === folder) {
      const message = `the native addon ${relativeAddonPath} is not built; run: npm start`;
      throw Object.assign(new Error(message), { code: 'native_addon_missing' });
    }
    folder = parent;
  }
  return join(folder, relativeAddonPath);
}
