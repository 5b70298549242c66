/**
 * Owns one front: the listener of a thread, its connections, and the generation it serves. Starting
 * threads and sending events elsewhere is others' work.
 */

import net from 'node:net';
import { systemClock, type Clock } from '../base/clock.ts';
import { Deadlines } from '../base/deadlines.ts';
import { AppError } from '../base/errors.ts';
import { frontLimits, httpLimits } from '../base/limits.ts';
import type { RequestDone } from '../contract/events.ts';
import type { Inspector } from '../contract/inspection.ts';
import type { RoutesConfig, SiteConfig } from '../contract/site.ts';
import { ByteWriter } from '../http/byte-writer.ts';
import { UpstreamRegistry } from '../upstream/upstream.ts';
import { ClientConnection } from './client-connection.ts';
import type { FrontContext, FrontSettings } from './front-context.ts';
import { Generation } from './generation.ts';
import { RequestIds } from './request-id.ts';

/** Where to listen: an address, or a socket that is bound already (`host` and `port` inform). */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly fd?: number;
}

export interface FrontOptions {
  readonly routes: RoutesConfig;
  /** The inspector of a site's policy; called once per site and generation. */
  readonly inspectorOf: (site: SiteConfig) => Inspector | null;
  readonly onRequestDone: RequestDone;
  readonly clock?: Clock;
  readonly settings?: Partial<FrontSettings>;
}

/** What a generation is made of, for `Front.swap`. */
export interface NextGeneration {
  readonly routes: RoutesConfig;
  readonly inspectorOf: (site: SiteConfig) => Inspector | null;
  /** Called when the last request on it has finished after it was replaced. */
  readonly onReleased?: () => void;
}

export interface Front {
  /** Binds and serves; resolves with the port. Errors: `listen_failed`. */
  listen(address: ListenAddress): Promise<number>;
  /** New requests run on `next` from now on; those under way finish on what they began with. */
  swap(next: NextGeneration): void;
  /** Stops accepting, lets requests finish, cuts what is left at the deadline. */
  drain(): Promise<void>;
  /** Closes everything at once. */
  close(): Promise<void>;
  readonly connections: number;
}

const defaultSettings: FrontSettings = { ...frontLimits, ...httpLimits };

/** Makes a front; call `listen` next. */
export function createFront(options: FrontOptions): Front {
  return new NodeFront(options);
}

class NodeFront implements Front {
  private readonly context: FrontContext;
  private readonly upstreams: UpstreamRegistry;
  private readonly server: net.Server;
  private readonly clients = new Set<ClientConnection>();
  private whenEmpty: (() => void) | null = null;

  constructor(options: FrontOptions) {
    const clock = options.clock ?? systemClock;
    const settings = { ...defaultSettings, ...options.settings };
    const deadlines = new Deadlines(clock, settings.sweepIntervalMs);
    this.upstreams = new UpstreamRegistry(deadlines);
    this.context = {
      clock,
      settings,
      deadlines,
      writer: new ByteWriter(),
      ids: new RequestIds(),
      onRequestDone: options.onRequestDone,
      generation: this.makeGeneration(options),
      draining: false,
    };
    this.server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.accept(socket),
    );
    this.server.maxConnections = settings.connectionsMax;
  }

  get connections(): number {
    return this.clients.size;
  }

  private makeGeneration(next: NextGeneration): Generation {
    const { routes, inspectorOf } = next;
    const onReleased = next.onReleased ?? (() => undefined);
    return new Generation({ routes, inspectorOf, upstreams: this.upstreams, onReleased });
  }

  private accept(socket: net.Socket): void {
    const client = new ClientConnection(this.context, socket, (gone) => {
      this.clients.delete(gone);
      if (this.clients.size === 0) this.whenEmpty?.();
    });
    this.clients.add(client);
  }

  listen(address: ListenAddress): Promise<number> {
    return new Promise((resolve, reject) => {
      const failed = (cause: Error): void => {
        const text = `cannot listen on ${address.host}:${address.port}`;
        reject(new AppError('listen_failed', text, { source: 'config', retryable: true, cause }));
      };
      this.server.once('error', failed);
      const ready = (): void => {
        this.server.off('error', failed);
        const bound = this.server.address();
        resolve(bound !== null && typeof bound === 'object' ? bound.port : address.port);
      };
      if (address.fd !== undefined) this.server.listen({ fd: address.fd }, ready);
      else this.server.listen({ host: address.host, port: address.port, backlog: 4096 }, ready);
    });
  }

  swap(next: NextGeneration): void {
    const old = this.context.generation;
    this.context.generation = this.makeGeneration(next);
    old.release();
  }

  async drain(): Promise<void> {
    this.context.draining = true;
    this.server.close();
    for (const client of this.clients) client.drain();
    await new Promise<void>((resolve) => {
      if (this.clients.size === 0) return resolve();
      const timer = setTimeout(resolve, this.context.settings.drainTimeoutMs);
      this.whenEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    await this.close();
  }

  async close(): Promise<void> {
    if (this.server.listening) this.server.close();
    for (const client of this.clients) client.destroy();
    this.upstreams.close();
    this.context.deadlines.close();
  }
}
