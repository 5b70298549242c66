/** Owns the default listener: plain sockets, every byte read by our own strict parser. */

import { closeSync } from 'node:fs';
import { lookup } from 'node:dns/promises';
import net from 'node:net';
import { frontLimits } from '../base/limits.ts';
import { acceptClients, listenReusePort } from '../system/sockets.ts';
import { ClientConnection } from './client-connection.ts';
import type { FrontContext } from './front-context.ts';
import { listenError } from './port-probe.ts';
import type { ListenAddress, Listener } from './listener.ts';

/** Read into by every client socket of the thread: what a read gives is used or copied at once. */
const readBuffer = Buffer.allocUnsafeSlow(frontLimits.readBufferBytes);

/** Serves `context` on plain sockets. */
export class StrictListener implements Listener {
  private readonly context: FrontContext;
  private readonly clients = new Set<ClientConnection>();
  private stopAccepting = (): void => undefined;
  private whenEmpty: (() => void) | null = null;

  constructor(context: FrontContext) {
    this.context = context;
  }

  get connections(): number {
    return this.clients.size;
  }

  private accept(fd: number): void {
    const { settings, onClientRefused } = this.context;
    if (this.clients.size >= settings.connectionsMax) {
      closeSync(fd);
      return onClientRefused();
    }
    const onread = {
      buffer: readBuffer,
      callback: (count: number): boolean => {
        client.onRead(readBuffer, count);
        return true;
      },
    };
    // A client may close its side and still want its answer; see ClientConnection.onEnd.
    const options = { fd, readable: true, writable: true, allowHalfOpen: true, onread };
    const client = new ClientConnection(this.context, new net.Socket(options), (gone) => {
      this.clients.delete(gone);
      if (this.clients.size === 0) this.whenEmpty?.();
    });
    this.clients.add(client);
  }

  async open(address: ListenAddress): Promise<number> {
    const { host, port } = address;
    try {
      const bound =
        address.fd === undefined
          ? listenReusePort(await numericHost(host), port)
          : { fd: address.fd, port };
      this.stopAccepting = acceptClients(bound.fd, (fd) => this.accept(fd));
      return bound.port;
    } catch (cause) {
      throw listenError(host, port, cause as Error);
    }
  }

  drain(): Promise<void> {
    this.stopAccepting();
    for (const client of this.clients) client.drain();
    return new Promise((resolve) => {
      if (this.clients.size === 0) resolve();
      else this.whenEmpty = resolve;
    });
  }

  close(): void {
    this.stopAccepting();
    for (const client of this.clients) client.destroy();
  }
}

async function numericHost(host: string): Promise<string> {
  return net.isIP(host) === 0 ? (await lookup(host)).address : host;
}
