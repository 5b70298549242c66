/** Owns listening sockets that several threads bind to one port. Never accepts connections. */
import { addon } from './load-addon.ts';

/**
 * A TCP listening socket with SO_REUSEADDR and SO_REUSEPORT, non-blocking, backlog 4096; the
 * caller owns `fd` (`server.listen({ fd })` takes it over).
 * Units: port 0 picks a free one; `host` is a numeric IPv4 or IPv6 address.
 * Errors: an Error whose code is the errno name (EADDRINUSE, EACCES, ...).
 */
export function listenReusePort(host: string, port: number): { fd: number; port: number } {
  return addon.listenReusePort(host, port);
}
