/**
 * The default listener: sockets of our own, with TLS or without, every byte of HTTP read by our own
 * strict parser. Clients of both kinds share one bound.
 */

import { closeSync } from 'node:fs';
import { lookup } from 'node:dns/promises';
import net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { frontLimits } from '../../../base/delivery-limits.ts';
import { parseAddress } from '../../../base/ip-address.ts';
import { rangeTest } from '../../base/ip-ranges.ts';
import { Places } from '../../base/places.ts';
import type { TlsFacts } from '../../contract/tls.ts';
import { acceptClients, listenReusePort } from '../../system/sockets.ts';
import { Handshake, type HandshakeParts } from '../../tls/handshake.ts';
import { ClientConnection, type ConnectionOwner } from './client-connection.ts';
import { acceptedClient, securedClient, type AcceptedClient } from '../client-facts.ts';
import { certificateFor } from '../request/delivery.ts';
import type { FrontContext } from '../front-context.ts';
import { Http2Connection } from './http2-connection.ts';
import { listenError } from './port-probe.ts';
import type { ListenAddress, Listener } from '../listener.ts';
import type { NamedEnds } from '../wire/proxy-header.ts';
import { ProxyIntro } from './proxy-intro.ts';

/** A handshake, with the client that makes it. */
type ClientHandshake = Handshake<AcceptedClient>;

/** What takes the bytes of a socket: those of `buffer` are read over after the call. */
interface Reader {
  onRead(buffer: Buffer, count: number): void;
}

/** The listener's view of a client, whichever protocol it speaks. */
interface Client extends Reader {
  /** Kept by the listener. */
  place: number;
  drain(): void;
  destroy(): void;
}

/** Whether a client of an address begins with a PROXY header. */
type HeaderTest = (address: string) => boolean;

/** Read into by every client socket of the thread: what a read gives is used or copied at once. */
const readBuffer = Buffer.allocUnsafeSlow(frontLimits.readBufferBytes);

/** Serves `context` on sockets of our own. */
export class StrictListener implements Listener {
  private readonly context: FrontContext;
  private readonly clients = new Places<Client>();
  private readonly intros = new Places<ProxyIntro>();
  private readonly handshakes = new Places<ClientHandshake>();
  private readonly handshakeParts: HandshakeParts<AcceptedClient>;
  private readonly acceptors: (() => void)[] = [];
  private whenEmpty: (() => void) | null = null;

  constructor(context: FrontContext) {
    this.context = context;
    this.handshakeParts = {
      deadlines: context.deadlines,
      timeoutMs: context.settings.handshakeTimeoutMs,
      protocols: context.settings.http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
      choose: (serverName) => certificateFor(context.generation, serverName),
      context: ({ certificate, minVersion, authorities }) =>
        context.tls.get(certificate, minVersion, authorities),
      onSecure: (handshake, socket, facts) => this.onSecure(handshake, socket, facts),
      onFailed: (handshake, failure) => {
        context.onHandshake(failure);
        this.forget(handshake);
      },
    };
  }

  get connections(): number {
    return this.clients.size + this.handshakes.size + this.intros.size;
  }

  /** The descriptor of a client that there is room for. */
  private admit(fd: number): boolean {
    if (this.connections < this.context.settings.connectionsMax) return true;
    closeSync(fd);
    this.context.onClientRefused('connection_limit');
    return false;
  }

  /** False for a client that connects again and again to flood the proxy; it is closed. */
  private welcome(socket: net.Socket, clientIp: string): boolean {
    if (this.context.floods.admits(clientIp)) return true;
    socket.destroy();
    this.context.onClientRefused('reconnect_limit');
    return false;
  }

  private accept(fd: number, headerOf: HeaderTest): void {
    if (!this.admit(fd)) return;
    let reader: Reader;
    const socket = clientSocket(fd, (count) => reader.onRead(readBuffer, count));
    if (headerOf(socket.remoteAddress ?? '')) {
      reader = this.introduce(socket, (ends, rest) => {
        const accepted = acceptedClient(socket, ends);
        if (!this.welcome(socket, accepted.facts.peerIp)) return;
        let client = this.connectPlain(accepted, (other) => {
          client = other;
          reader = other;
        });
        reader = client;
        if (rest.length > 0) client.onRead(rest, rest.length);
        if (this.context.draining) client.drain();
      });
    } else {
      const accepted = acceptedClient(socket, null);
      if (!this.welcome(socket, accepted.facts.peerIp)) return;
      reader = this.connectPlain(accepted, (other) => (reader = other));
    }
  }

  private acceptSecure(fd: number, headerOf: HeaderTest): void {
    if (!this.admit(fd)) return;
    let reader: Reader | null = null;
    const socket = clientSocket(fd, (count) => reader?.onRead(readBuffer, count));
    if (!headerOf(socket.remoteAddress ?? '')) reader = this.shakeHands(socket, null);
    else {
      reader = this.introduce(socket, (ends, rest) => {
        reader = this.shakeHands(socket, ends);
        if (rest.length > 0) reader?.onRead(rest, rest.length);
      });
    }
  }

  /** Waits for the PROXY header of a client; `next` continues with what follows it. */
  private introduce(
    socket: net.Socket,
    next: (ends: NamedEnds | null, rest: Buffer) => void,
  ): ProxyIntro {
    const { deadlines, settings } = this.context;
    const intro = new ProxyIntro(deadlines, socket, settings.proxyHeaderTimeoutMs, {
      introduced: (_, ends, rest) => {
        next(ends, rest);
        this.intros.remove(intro.place, intro);
      },
      notIntroduced: () => {
        this.context.onProxyHeaderRefused();
        this.intros.remove(intro.place, intro);
        this.checkEmpty();
      },
    });
    intro.place = this.intros.add(intro);
    return intro;
  }

  /** Null for a client that is turned away. */
  private shakeHands(socket: net.Socket, ends: NamedEnds | null): Reader | null {
    const accepted = acceptedClient(socket, ends);
    if (!this.welcome(socket, accepted.facts.peerIp)) return null;
    const handshake = new Handshake(this.handshakeParts, socket, accepted);
    handshake.place = this.handshakes.add(handshake);
    return handshake;
  }

  private onSecure(handshake: ClientHandshake, socket: TLSSocket, facts: TlsFacts): void {
    this.context.onHandshake('complete');
    const accepted = securedClient(handshake.about, socket, facts);
    const client =
      socket.alpnProtocol === 'h2' ? this.connectHttp2(accepted) : this.connect(accepted, null);
    this.handshakes.remove(handshake.place, handshake);
    // Decrypted bytes come in memory of their own.
    socket.on('data', (bytes: Buffer) => client.onRead(bytes, bytes.length));
    if (this.context.draining) client.drain();
  }

  /** A client without TLS. One that begins with HTTP/2 gets another reader: `use` hears of it. */
  private connectPlain(accepted: AcceptedClient, use: (client: Client) => void): Client {
    if (!this.context.settings.http2) return this.connect(accepted, null);
    const first = this.connect(accepted, (buffer, count) => {
      const client = this.connectHttp2(accepted);
      this.clients.remove(first.place, first);
      use(client);
      client.onRead(buffer, count);
      if (this.context.draining) client.drain();
    });
    return first;
  }

  private connect(accepted: AcceptedClient, onHttp2: ConnectionOwner['onHttp2']): Client {
    const onClosed = (closed: Client): void => this.left(closed);
    const client = new ClientConnection(this.context, accepted, { onClosed, onHttp2 });
    client.place = this.clients.add(client);
    return client;
  }

  private connectHttp2(accepted: AcceptedClient): Client {
    const client = new Http2Connection(this.context, accepted, (closed) => this.left(closed));
    client.place = this.clients.add(client);
    return client;
  }

  private left(client: Client): void {
    this.clients.remove(client.place, client);
    this.checkEmpty();
  }

  private forget(handshake: ClientHandshake): void {
    this.handshakes.remove(handshake.place, handshake);
    this.checkEmpty();
  }

  private checkEmpty(): void {
    if (this.connections === 0) this.whenEmpty?.();
  }

  async open(address: ListenAddress): Promise<number> {
    const { host, port, secure = false } = address;
    try {
      const bound =
        address.fd === undefined
          ? listenReusePort(await numericHost(host), port)
          : { fd: address.fd, port };
      const headerOf = headerTest(address.proxyHeaderFrom ?? []);
      const accept = (fd: number): void =>
        secure ? this.acceptSecure(fd, headerOf) : this.accept(fd, headerOf);
      this.acceptors.push(acceptClients(bound.fd, accept));
      return bound.port;
    } catch (cause) {
      throw listenError(host, port, cause as Error);
    }
  }

  private stopAccepting(): void {
    for (const stop of this.acceptors.splice(0)) stop();
  }

  drain(): Promise<void> {
    this.stopAccepting();
    for (const client of this.clients) client.drain();
    return new Promise((resolve) => {
      if (this.connections === 0) resolve();
      else this.whenEmpty = resolve;
    });
  }

  close(): void {
    this.stopAccepting();
    for (const intro of this.intros) intro.destroy();
    for (const handshake of this.handshakes) handshake.destroy();
    for (const client of this.clients) client.destroy();
  }
}

/** The socket of a client; `read` hears how many bytes of the shared memory were read into. */
function clientSocket(fd: number, read: (count: number) => void): net.Socket {
  const callback = (count: number): boolean => {
    read(count);
    return true;
  };
  // A client may close its side and still want its answer; see ClientConnection.onEnd.
  const half = { fd, readable: true, writable: true, allowHalfOpen: true };
  const options = { ...half, onread: { buffer: readBuffer, callback } };
  return new net.Socket(options);
}

async function numericHost(host: string): Promise<string> {
  return net.isIP(host) === 0 ? (await lookup(host)).address : host;
}

function headerTest(networks: readonly string[]): HeaderTest {
  if (networks.length === 0) return () => false;
  const holds = rangeTest(networks);
  return (address) => {
    const key = parseAddress(address);
    return key !== null && holds(key);
  };
}
