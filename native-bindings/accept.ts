/** Accepting clients from a listening socket; the socket itself comes from `listen/`. */
import { addon } from './load-addon.ts';

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
