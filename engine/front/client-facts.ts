/** What a listener knows of a client's connection, for rules, events and origins. */

import type net from 'node:net';
import type { ConnectionFacts } from '../contract/message.ts';
import type { TlsFacts } from '../contract/tls.ts';
import type { NamedEnds } from './wire/proxy-header.ts';

/** A client as the listener hands it over. */
export interface AcceptedClient {
  readonly socket: net.Socket;
  readonly facts: ConnectionFacts;
  /** Null without TLS. */
  readonly tls: TlsFacts | null;
}

/** A client whose balancer named its `ends`, or that came by itself (null); TLS may follow. */
export function acceptedClient(socket: net.Socket, ends: NamedEnds | null): AcceptedClient {
  const peer = ends?.clientIp ?? plainAddress(socket.remoteAddress);
  const facts: ConnectionFacts = {
    clientIp: peer,
    clientPort: ends?.clientPort ?? socket.remotePort ?? 0,
    peerIp: peer,
    serverIp: ends?.serverIp ?? plainAddress(socket.localAddress),
    serverPort: ends?.serverPort ?? socket.localPort ?? 0,
    scheme: 'http',
  };
  return { socket, facts, tls: null };
}

/** The same client with the socket that its handshake made. */
export function securedClient(
  { facts }: AcceptedClient,
  socket: net.Socket,
  tls: TlsFacts,
): AcceptedClient {
  return { socket, facts: { ...facts, scheme: 'https' }, tls };
}

/** Ready header lines about a connection for origins. */
export function forwardedLines({ clientIp, scheme }: ConnectionFacts): string {
  return `X-Forwarded-For: ${clientIp}\r\nX-Forwarded-Proto: ${scheme}\r\n`;
}

/** An address as people write it: no `::ffff:` before an IPv4 one. */
function plainAddress(address: string | undefined): string {
  if (address === undefined) return '';
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
