/** Owns what the tests of the front share: an origin, a raw client and a scripted inspector. */

import http from 'node:http';
import net from 'node:net';
import type { RequestEvent } from '../contract/events.ts';
import type { InspectionSession, Inspector } from '../contract/inspection.ts';
import type { BodySnapshot, RequestSnapshot, ResponseSnapshot } from '../contract/message.ts';
import { SPAN } from '../contract/message.ts';
import type { SiteConfig } from '../contract/site.ts';
import {
  passVerdict,
  type BodyNeed,
  type TransactionRecord,
  type Verdict,
} from '../contract/verdict.ts';
import { createFront, type Front, type FrontOptions } from './front.ts';
import type { FrontSettings } from './front-context.ts';
import type { ListenerKind } from '../../base/listener.ts';

/** A site on any host with one origin on loopback. */
export function siteFor(port: number, change: Partial<SiteConfig> = {}): SiteConfig {
  return {
    id: 'site-1',
    name: 'site',
    hosts: ['*'],
    upstream: {
      id: 'up-1',
      scheme: 'http',
      endpoints: [{ host: '127.0.0.1', port, weight: 1 }],
    },
    waf: { enabled: false, mode: 'blocking', failPolicy: 'closed' },
    ...change,
  };
}

/** Starts a server on a free loopback port. */
export function listen(server: net.Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as net.AddressInfo).port));
  });
}

/** Things to close when a test ends, last first. */
export class Closing {
  private readonly tasks: (() => Promise<unknown> | void)[] = [];

  add(task: () => Promise<unknown> | void): void {
    this.tasks.push(task);
  }

  async run(): Promise<void> {
    for (const task of this.tasks.splice(0).reverse()) await task();
  }
}

/** An HTTP origin on a free port. */
export async function httpOrigin(closing: Closing, handler: http.RequestListener): Promise<number> {
  const server = http.createServer(handler);
  server.keepAliveTimeout = 60_000;
  closing.add(() => {
    server.closeAllConnections();
    server.close();
  });
  return listen(server);
}

/** An origin that speaks raw bytes. */
export async function rawOrigin(
  closing: Closing,
  onConnection: (socket: net.Socket) => void,
): Promise<number> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  closing.add(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listen(server);
}

/** A front on a free port, with what it reported. */
export interface Running {
  readonly front: Front;
  readonly port: number;
  readonly events: RequestEvent[];
  /** Resolves once `count` events are in. */
  eventsReach(count: number): Promise<readonly RequestEvent[]>;
}

/** A front in this thread. */
export async function startFront(
  closing: Closing,
  sites: readonly SiteConfig[],
  inspector: Inspector | null = null,
  settings: Partial<FrontSettings> = {},
  listener: ListenerKind = 'strict',
  guards: Pick<
    FrontOptions,
    'guardKinds' | 'guardServices' | 'schemaServices' | 'clock' | 'overload'
  > = {},
): Promise<Running> {
  const events: RequestEvent[] = [];
  let notify = (): void => undefined;
  const front = createFront({
    routes: { revision: 'r1', sites },
    inspectorOf: () => inspector,
    settings: { sweepIntervalMs: 10, ...settings },
    listener,
    ...guards,
    onRequestDone: (event) => {
      events.push(event);
      notify();
    },
  });
  const port = await front.listen({ host: '127.0.0.1', port: 0 });
  closing.add(() => front.close());
  const eventsReach = (count: number): Promise<readonly RequestEvent[]> =>
    new Promise((resolve) => {
      notify = () => {
        if (events.length >= count) resolve(events);
      };
      notify();
    });
  return { front, port, events, eventsReach };
}

/** A client that speaks raw bytes. */
export class RawClient {
  text = '';
  ended = false;
  readonly socket: net.Socket;
  private readonly watchers = new Set<() => void>();

  constructor(port: number, localAddress = '127.0.0.1') {
    this.socket = net.connect({ host: '127.0.0.1', port, localAddress, noDelay: true });
    this.socket.on('data', (chunk) => {
      this.text += chunk.toString('latin1');
      this.notify();
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.ended = true;
      this.notify();
    });
  }

  private notify(): void {
    for (const watcher of this.watchers) watcher();
  }

  send(text: string | Buffer): this {
    this.socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text);
    return this;
  }

  /** Resolves with everything received once `done` holds. */
  until(done: (client: RawClient) => boolean): Promise<string> {
    return new Promise((resolve) => {
      const watcher = (): void => {
        if (!done(this)) return;
        this.watchers.delete(watcher);
        resolve(this.text);
      };
      this.watchers.add(watcher);
      watcher();
    });
  }

  /** Everything up to the close. */
  all(): Promise<string> {
    return this.until((client) => client.ended);
  }

  /** Everything once `text` was received `count` times. */
  has(text: string, count = 1): Promise<string> {
    return this.until((client) => client.text.split(text).length > count);
  }
}

/** What a scripted inspector does; what is left out passes. */
export interface Script {
  readonly head?: (head: string) => Verdict;
  readonly body?: (body: BodySnapshot | null) => Verdict;
  readonly responseHead?: (response: ResponseSnapshot) => Verdict;
  readonly responseBody?: (body: BodySnapshot | null) => Verdict;
  readonly bodyNeed?: BodyNeed;
  readonly responseNeed?: BodyNeed;
  /** Runs at the end, with the request body as it was given. */
  readonly end?: (body: BodySnapshot | null) => void;
  /** Answers through promises, as a pool does. */
  readonly later?: boolean;
}

const noNeed: BodyNeed = { inspect: false, limitBytes: 0, onExcess: 'prefix' };

/** A verdict that blocks. */
export function blockWith(status: number, phase: number): Verdict {
  return { action: 'block', status, ruleId: 1, phase };
}

/** An inspector that follows a script, and counts what was opened and finished. */
export class ScriptedInspector implements Inspector {
  opened = 0;
  finished = 0;
  private readonly script: Script;

  constructor(script: Script) {
    this.script = script;
  }

  open(request: RequestSnapshot): InspectionSession {
    this.opened++;
    const { script } = this;
    let verdict = passVerdict;
    const give = (next: Verdict | undefined): Verdict | Promise<Verdict> => {
      verdict = next ?? passVerdict;
      return script.later === true ? new Promise((done) => setTimeout(done, 2, verdict)) : verdict;
    };
    const { bytes, spans } = request.head;
    const head = Buffer.from(bytes).toString('latin1', 0, spans[SPAN.lineEnd]);
    let body: BodySnapshot | null = null;
    const finish = (): TransactionRecord => {
      this.finished++;
      script.end?.(body);
      return {
        verdict,
        matchedRules: [],
        inboundScore: 0,
        outboundScore: 0,
        detectionOnly: false,
        inspectionUs: 1,
      };
    };
    return {
      bodyNeed: script.bodyNeed ?? noNeed,
      responseNeed: script.responseNeed ?? noNeed,
      requestHead: () => give(script.head?.(head)),
      requestBody: (given) => give(script.body?.((body = given))),
      responseHead: (response) => give(script.responseHead?.(response)),
      responseBody: (body) => give(script.responseBody?.(body)),
      finish,
    };
  }
}
