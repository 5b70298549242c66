/** What a listener knows of a client's connection, for rules, events and origins. */

import type net from 'node:net';
import type { ConnectionFacts } from '../contract/message.ts';
import type { TlsFacts } from '../contract/tls.ts';

/** The facts of one connection; `tls` is null without TLS. */
export function connectionFacts(socket: net.Socket, tls: TlsFacts | null): ConnectionFacts {
  const peer = plainAddress(socket.remoteAddress);
  return {
    clientIp: peer,
    clientPort: socket.remotePort ?? 0,
    peerIp: peer,
    serverIp: plainAddress(socket.localAddress),
    serverPort: socket.localPort ?? 0,
    scheme: tls === null ? 'http' : 'https',
  };
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
