/**
 * Reads the PROXY header, version 1 or 2, that a load balancer sends before a client's first byte.
 * Every header has one reading or none. Source: the PROXY protocol's specification, versions 1 and
 * 2, by Willy Tarreau (haproxy.org/download/3.0/doc/proxy-protocol.txt). Pure.
 */

import { isIPv4, isIPv6 } from 'node:net';
import { parseAddress, textOfKey } from '../../../base/ip-address.ts';
import { proxyHeaderLimits } from '../../../base/delivery-limits.ts';

/** The two ends of a connection as a balancer saw them. */
export interface NamedEnds {
  readonly clientIp: string;
  readonly clientPort: number;
  readonly serverIp: string;
  readonly serverPort: number;
}

/** What the bytes so far are. */
export type ProxyHeader =
  | { readonly kind: 'more' }
  /** `length` bytes; `ends` is null where it names no addresses: the connection's own count. */
  | { readonly kind: 'header'; readonly length: number; readonly ends: NamedEnds | null }
  | { readonly kind: 'malformed' };

const more: ProxyHeader = { kind: 'more' };
const malformed: ProxyHeader = { kind: 'malformed' };

const textStart = Buffer.from('PROXY ');
/** Section 2.1: the longest line, its end included. */
const textBytesMax = 107;
const binaryStart = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const binaryHeadBytes = 16;

/** Section 2.2: version and command, family and transport. */
const commandLocal = 0x20;
const commandProxy = 0x21;
const familyTcp4 = 0x11;
const familyTcp6 = 0x21;
/**
 * Unspecified, UDP over IPv4 and IPv6, streams and datagrams of Unix sockets. Section 2.2: who
 * does not use a valid family reads it as unspecified.
 */
const familiesUnused: readonly (number | undefined)[] = [0x00, 0x12, 0x22, 0x31, 0x32];

/** Reads the beginning of a connection. Cost: one pass over at most 4 KB. */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (beginsWith(bytes, textStart)) return readLine(bytes);
  return beginsWith(bytes, binaryStart) ? readBinary(bytes) : malformed;
}

/** True while nothing speaks against it. */
function beginsWith(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.compare(start, 0, length, 0, length) === 0;
}

function readLine(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, textBytesMax).indexOf('\r\n');
  if (end < 0) return bytes.length >= textBytesMax ? malformed : more;
  const line = bytes.toString('latin1', 0, end);
  const length = end + 2;
  if (/[^\x20-\x7e]/.test(line)) return malformed;
  // Section 2.1: what follows UNKNOWN means nothing.
  if (/^PROXY UNKNOWN(?: |$)/.test(line)) return { kind: 'header', length, ends: null };
  const [, family, client = '', server = '', clientEnd = '', serverEnd = '', rest] =
    line.split(' ');
  if (rest !== undefined || (family !== 'TCP4' && family !== 'TCP6')) return malformed;
  const clientIp = readAddress(client, family);
  const serverIp = readAddress(server, family);
  const clientPort = readPort(clientEnd);
  const serverPort = readPort(serverEnd);
  if (clientIp === null || serverIp === null) return malformed;
  if (clientPort === null || serverPort === null) return malformed;
  return { kind: 'header', length, ends: { clientIp, clientPort, serverIp, serverPort } };
}

function readAddress(text: string, family: 'TCP4' | 'TCP6'): string | null {
  const fits = family === 'TCP4' ? isIPv4(text) : isIPv6(text);
  const key = fits ? parseAddress(text) : null;
  return key === null ? null : textOfKey(key);
}

function readPort(text: string): number | null {
  if (!/^(?:0|[1-9]\d{0,4})$/.test(text)) return null;
  const port = Number(text);
  return port > 65_535 ? null : port;
}

function readBinary(bytes: Buffer): ProxyHeader {
  if (bytes.length < binaryHeadBytes) return more;
  const command = bytes[12];
  const family = bytes[13];
  const length = binaryHeadBytes + bytes.readUInt16BE(14);
  if (length > proxyHeaderLimits.bytesMax) return malformed;
  if (command !== commandLocal && command !== commandProxy) return malformed;
  if (bytes.length < length) return more;
  // With LOCAL, as in health checks, the family is ignored.
  if (command === commandLocal || familiesUnused.includes(family)) {
    return { kind: 'header', length, ends: null };
  }
  if (family !== familyTcp4 && family !== familyTcp6) return malformed;
  const width = family === familyTcp4 ? 4 : 16;
  if (length < binaryHeadBytes + 2 * width + 4) return malformed;
  const ports = binaryHeadBytes + 2 * width;
  return {
    kind: 'header',
    length,
    ends: {
      clientIp: addressText(bytes.subarray(binaryHeadBytes, binaryHeadBytes + width)),
      serverIp: addressText(bytes.subarray(binaryHeadBytes + width, ports)),
      clientPort: bytes.readUInt16BE(ports),
      serverPort: bytes.readUInt16BE(ports + 2),
    },
  };
}

/** Four or sixteen bytes as they are written; an IPv4 address mapped into IPv6 as IPv4. */
function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16));
  return textOfKey(parseAddress(groups.join(':'))!);
}
