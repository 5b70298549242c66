/** Owns listening sockets that several threads bind to one port, and accepting from them. */
import { addon } from './load-addon.ts';

/**
 * A TCP listening socket with SO_REUSEADDR and SO_REUSEPORT, non-blocking, backlog 4096; the
 * caller owns `fd` (`acceptClients` or `server.listen({ fd })` takes it over).
 * Units: port 0 picks a free one; `host` is a numeric IPv4 or IPv6 address.
 * Errors: an Error whose code is the errno name (EADDRINUSE, EACCES, ...).
 */
export function listenReusePort(host: string, port: number): { fd: number; port: number } {
  return addon.listenReusePort(host, port);
}

/**
 * Calls `onClient` with the descriptor of every client of a listening socket, non-blocking and
 * without delayed sending (TCP_NODELAY); who is called owns it. Returns the function that stops and
 * closes the listening socket, which it takes over; calling it again does nothing. Keeps the event
 * loop alive until then. Short of descriptors or memory it pauses for 100 ms; clients wait in the
 * kernel's queue. Errors: an Error whose code is the errno name when `fd` cannot be polled; what
 * `onClient` throws is an uncaught exception of the thread.
 */
export function acceptClients(fd: number, onClient: (fd: number) => void): () => void {
  const owned = new Int32Array(1);
  return addon.acceptClients(fd, owned, (client) => {
    owned[0] = client;
    try {
      onClient(client);
    } catch (thrown) {
      // Left in the native call it would close every client after this one, and be told to nobody.
      setImmediate(() => {
        throw thrown;
      });
    }
  });
}
