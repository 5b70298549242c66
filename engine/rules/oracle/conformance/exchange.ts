/**
 * Builds exchanges from their parts (method, target, header pairs, body) for conformance
 * runs. It writes heads and notes the offsets as it goes; it never parses one.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import {
  SPAN,
  type BodySnapshot,
  type ConnectionFacts,
  type MessageHead,
  type RequestSnapshot,
  type ResponseSnapshot,
} from '../../../contract/message.ts';

/** Header fields in sending order. */
export type HeaderPairs = readonly (readonly [name: ByteString, value: ByteString])[];

/** Facts of a connection as tests need them; loopback on port 80 unless said otherwise. */
export function makeConnection(facts: Partial<ConnectionFacts> = {}): ConnectionFacts {
  return {
    clientIp: '127.0.0.1',
    clientPort: 40_000,
    peerIp: facts.clientIp ?? '127.0.0.1',
    serverIp: '127.0.0.1',
    serverPort: 80,
    scheme: 'http',
    ...facts,
  };
}

/** A request head as if it had been received in this form. */
export function makeRequest(
  method: ByteString,
  target: ByteString,
  protocol: ByteString,
  headers: HeaderPairs,
  connection: ConnectionFacts,
): RequestSnapshot {
  return {
    requestId: 'conformance',
    receivedAtMs: Date.now(),
    siteId: 'conformance',
    connection,
    head: writeHead([method, target, protocol], headers, requestParts),
  };
}

/** A response head as if the origin had sent it in this form. */
export function makeResponse(
  status: number,
  protocol: ByteString,
  headers: HeaderPairs,
): ResponseSnapshot {
  return { status, head: writeHead([protocol, String(status), ''], headers, responseParts) };
}

/** A whole body; null for an absent one. */
export function makeBody(bytes: Uint8Array | null): BodySnapshot | null {
  return bytes === null ? null : { bytes, truncated: false };
}

const requestParts = [SPAN.firstStart, SPAN.secondStart, SPAN.protocolStart];
const responseParts = [SPAN.protocolStart, SPAN.firstStart, SPAN.secondStart];

function writeHead(
  line: readonly ByteString[],
  headers: HeaderPairs,
  parts: readonly number[],
): MessageHead {
  const spans = new Int32Array(SPAN.fields + 4 * headers.length);
  let text = '';
  for (const [i, part] of line.entries()) {
    if (i > 0) text += ' ';
    spans[parts[i] ?? 0] = text.length;
    text += part;
    spans[(parts[i] ?? 0) + 1] = text.length;
  }
  spans[SPAN.lineEnd] = text.length;
  spans[SPAN.fieldCount] = headers.length;
  for (const [i, [name, value]] of headers.entries()) {
    const at = SPAN.fields + 4 * i;
    text += '\r\n';
    spans[at] = text.length;
    text += name;
    spans[at + 1] = text.length;
    text += ': ';
    spans[at + 2] = text.length;
    text += value;
    spans[at + 3] = text.length;
  }
  return { bytes: Buffer.from(`${text}\r\n\r\n`, 'latin1'), spans };
}
