/** A TCP proxy that breaks connections where a test wants it. */

import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

/** Between a controller and PostgreSQL: cuts connections when it sees what a test waits for. */
export class CuttingProxy {
  private readonly sockets = new Set<Socket>();
  private readonly server;
  /** Looks at what goes to the server, or comes from it; true cuts the connection there. */
  cuts: (from: 'client' | 'server', bytes: Buffer) => boolean = () => false;
  /** Nothing passes, and connections stay open: the other side seems to hang. */
  silent = false;

  private constructor(port: number) {
    this.server = createServer((client) => {
      const server = connect(port, '127.0.0.1');
      const end = (): void => {
        client.destroy();
        server.destroy();
      };
      for (const [from, to, name] of [
        [client, server, 'client'],
        [server, client, 'server'],
      ] as const) {
        this.sockets.add(from);
        from.on('error', end).on('close', end);
        from.on('data', (bytes) => {
          if (this.silent) return;
          if (this.cuts(name, bytes)) end();
          else to.write(bytes);
        });
      }
    });
  }

  /** Starts one in front of a port of loopback. */
  static async start(port: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(port);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Its own port. */
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Cuts every connection; new ones are made. */
  cutAll(): void {
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  /** Ends it with its connections. */
  close(): void {
    this.cutAll();
    this.server.close();
  }
}
