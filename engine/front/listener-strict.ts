/** Owns the default listener: plain sockets, every byte read by our own strict parser. */

import net from 'node:net';
import { ClientConnection } from './client-connection.ts';
import type { FrontContext } from './front-context.ts';
import { listenError } from './port-probe.ts';
import type { ListenAddress, Listener } from './listener.ts';

const BACKLOG = 4096;

/** Serves `context` on plain sockets. */
export class StrictListener implements Listener {
  private readonly context: FrontContext;
  private readonly server: net.Server;
  private readonly clients = new Set<ClientConnection>();
  private whenEmpty: (() => void) | null = null;

  constructor(context: FrontContext) {
    this.context = context;
    // A client may close its side and still want its answer; see ClientConnection.onEnd.
    this.server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.accept(socket),
    );
    this.server.maxConnections = context.settings.connectionsMax;
  }

  get connections(): number {
    return this.clients.size;
  }

  private accept(socket: net.Socket): void {
    const client = new ClientConnection(this.context, socket, (gone) => {
      this.clients.delete(gone);
      if (this.clients.size === 0) this.whenEmpty?.();
    });
    this.clients.add(client);
  }

  open(address: ListenAddress): Promise<number> {
    return new Promise((resolve, reject) => {
      const failed = (cause: Error): void => {
        reject(listenError(address.host, address.port, cause));
      };
      this.server.once('error', failed);
      const ready = (): void => {
        this.server.off('error', failed);
        const bound = this.server.address();
        resolve(bound !== null && typeof bound === 'object' ? bound.port : address.port);
      };
      const { host, port, fd } = address;
      if (fd !== undefined) this.server.listen({ fd }, ready);
      else this.server.listen({ host, port, backlog: BACKLOG }, ready);
    });
  }

  drain(): Promise<void> {
    this.server.close();
    for (const client of this.clients) client.drain();
    return new Promise((resolve) => {
      if (this.clients.size === 0) resolve();
      else this.whenEmpty = resolve;
    });
  }

  close(): void {
    if (this.server.listening) this.server.close();
    for (const client of this.clients) client.destroy();
  }
}
