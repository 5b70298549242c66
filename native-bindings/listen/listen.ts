/**
 * Listening sockets, and the small addon that makes them. Control may load it: the supervisor holds
 * the sockets while engines come and go.
 */
import { closeSync } from 'node:fs';
import { loadAddonFile, requireAddonFile } from '../load/load-addon.ts';

/** A TCP socket; the caller owns `fd`. */
export interface BoundSocket {
  readonly fd: number;
  readonly port: number;
}

interface ListenAddon {
  bindReusePort(host: string, port: number): BoundSocket;
  shareListening(fd: number): number;
}

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
  addon ??= loadAddonFile<ListenAddon>(requireAddonFile('waf_listen'));
  return addon;
}
