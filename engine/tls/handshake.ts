/**
 * One client from the first byte on a TLS port to the end of its handshake: reads the hello, asks
 * which certificate answers, and hands the encrypted socket on. One deadline covers all of it.
 * Knows nothing of HTTP.
 */

import type net from 'node:net';
import { TLSSocket, type SecureContext } from 'node:tls';
import type { DeadlineHolder, Deadlines } from '../base/deadlines.ts';
import { tlsLimits } from '../../base/delivery-limits.ts';
import type {
  CertificateConfig,
  ClientAuthorities,
  TlsFacts,
  TlsVersion,
} from '../contract/tls.ts';
import { ALERT, readClientHello, type ClientHello } from './client-hello.ts';
import { shownCertificate } from './client-certificate.ts';
import { ja4 } from './ja4.ts';

/** What answers for a name. */
export interface CertificateChoice {
  readonly certificate: CertificateConfig;
  readonly minVersion: TlsVersion;
  /** Who issues certificates of clients; null where none is asked for. */
  readonly authorities: ClientAuthorities | null;
}

/** Why a handshake ended without a connection. */
export type HandshakeFailure = 'hello' | 'name' | 'timeout' | 'plain_http' | 'closed' | 'failed';

/** What a handshake needs of its surroundings. */
export interface HandshakeParts<About = unknown> {
  readonly deadlines: Deadlines;
  readonly timeoutMs: number;
  /** Protocols spoken, best first; others are refused (RFC 7301 section 3.2). */
  readonly protocols: string[];
  /** The certificate for a name, or for the server's address; null when nobody answers for it. */
  choose(serverName: string): CertificateChoice | null;
  context(choice: CertificateChoice): SecureContext;
  /** The handshake is complete. */
  onSecure(handshake: Handshake<About>, socket: TLSSocket, facts: TlsFacts): void;
  onFailed(handshake: Handshake<About>, failure: HandshakeFailure): void;
}

const plainAnswer =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n' +
  'Content-Length: 35\r\n\r\nThis port speaks HTTPS, not HTTP.\r\n';

/** One handshake; see the header. */
export class Handshake<About = unknown> implements DeadlineHolder {
  deadlineMs: number;
  deadlinePlace = -1;
  /** Among those of its listener. */
  place = -1;
  /** What its listener knows of the client. */
  readonly about: About;
  private readonly parts: HandshakeParts<About>;
  private readonly raw: net.Socket;
  private socket: TLSSocket | null = null;
  private received: Buffer | null = null;
  private done = false;

  constructor(parts: HandshakeParts<About>, raw: net.Socket, about: About) {
    this.parts = parts;
    this.about = about;
    this.raw = raw;
    this.deadlineMs = parts.deadlines.nowMs + parts.timeoutMs;
    parts.deadlines.add(this);
    raw.on('error', () => this.fail('closed'));
    raw.on('close', () => this.fail('closed'));
    raw.on('end', () => {
      if (this.socket === null) this.fail('closed');
    });
  }

  onDeadline(): void {
    this.fail('timeout');
  }

  /** Closes at once. */
  destroy(): void {
    this.fail('closed');
  }

  /**
   * Takes the first `count` bytes of `buffer`, which is read into again after this call; not called
   * again once the handshake has begun.
   */
  onRead(buffer: Buffer, count: number): void {
    if (this.done || this.socket !== null) return;
    const bytes = buffer.subarray(0, count);
    const received = this.received === null ? bytes : Buffer.concat([this.received, bytes]);
    const result = readClientHello(received);
    if (result.kind === 'hello') return this.begin(result.hello, received);
    if (result.kind === 'plain') return this.answerPlain();
    if (result.kind === 'refused') return this.refuse(result.alert, 'hello');
    // Records may be small: what frames the hello is bounded, too.
    if (received.length > tlsLimits.helloBytesMax * 2) this.refuse(ALERT.decodeError, 'hello');
    else this.received = received === bytes ? Buffer.from(bytes) : received;
  }

  private begin(hello: ClientHello, received: Buffer): void {
    const { serverName } = hello;
    const name = serverName ?? addressName(this.raw.localAddress);
    const choice = this.parts.choose(name);
    if (choice === null) return this.refuse(ALERT.unrecognizedName, 'name');
    let secureContext: SecureContext;
    try {
      secureContext = this.parts.context(choice);
    } catch {
      // Control checks certificates before it keeps them; what OpenSSL refuses is not presented.
      return this.refuse(ALERT.unrecognizedName, 'failed');
    }
    // What was read is read once more, by OpenSSL.
    this.raw.unshift(this.received === null ? Buffer.from(received) : received);
    this.received = null;
    const { protocols: ALPNProtocols } = this.parts;
    const requestCert = choice.authorities !== null;
    const options = { isServer: true, secureContext, requestCert, ALPNProtocols };
    const socket = new TLSSocket(this.raw, options);
    this.socket = socket;
    socket.on('error', () => this.fail('failed'));
    socket.on('_tlsError', () => this.fail('failed'));
    socket.on('close', () => this.fail('closed'));
    socket.once('secure', () => this.finish(socket, hello, name, choice));
  }

  private finish(
    socket: TLSSocket,
    hello: ClientHello,
    serverName: string,
    { authorities }: CertificateChoice,
  ): void {
    if (this.done) return;
    // OpenSSL read the same bytes: should it have understood another name, nothing is served.
    const understood = (socket as { servername?: string | false }).servername || null;
    if ((understood?.toLowerCase().replace(/\.$/, '') ?? null) !== hello.serverName) {
      return this.fail('hello');
    }
    this.settle();
    const version = socket.getProtocol() ?? '';
    const cipher = socket.getCipher().name;
    const shown = authorities === null ? null : shownCertificate(socket, authorities);
    const facts = { serverName, version, cipher, ja4: ja4(hello), shown };
    this.parts.onSecure(this, socket, facts);
  }

  private answerPlain(): void {
    this.raw.end(plainAnswer);
    this.fail('plain_http', false);
    this.raw.destroySoon();
  }

  /** Sends a fatal alert in the clear and closes. */
  private refuse(alert: number, failure: HandshakeFailure): void {
    this.raw.end(Buffer.from([21, 3, 3, 0, 2, 2, alert]));
    this.fail(failure, false);
    this.raw.destroySoon();
  }

  private settle(): void {
    this.done = true;
    this.deadlineMs = Infinity;
    this.parts.deadlines.remove(this);
  }

  private fail(failure: HandshakeFailure, destroy = true): void {
    if (this.done) return;
    this.settle();
    if (destroy) {
      this.socket?.destroy();
      this.raw.destroy();
    }
    this.parts.onFailed(this, failure);
  }
}

/** An address as hosts of sites are written. */
function addressName(address: string | undefined): string {
  if (address === undefined) return '';
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  return plain.includes(':') ? `[${plain}]` : plain;
}
