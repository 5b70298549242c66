/**
 * RADIUS packets: RFC 2865, and Message-Authenticator of RFC 2869, which every reply must carry
 * (CVE-2024-3596). Never touches the network.
 */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { signInLimits } from '../limits/sign-in-limits.ts';

/** Codes that authentication uses. */
export const radiusCodes = { request: 1, accept: 2, reject: 3, challenge: 11 } as const;

/** Types of the attributes that are written or read. */
export const radiusTypes = {
  userName: 1,
  userPassword: 2,
  filterId: 11,
  replyMessage: 18,
  state: 24,
  callingStationId: 31,
  nasIdentifier: 32,
  nasPortType: 61,
  messageAuthenticator: 80,
} as const;

/** One attribute; the value has 1 to 253 bytes. */
export interface RadiusAttribute {
  readonly type: number;
  readonly value: Uint8Array;
}

/** A packet as it was read. */
export interface RadiusPacket {
  readonly code: number;
  readonly id: number;
  readonly authenticator: Buffer;
  readonly attributes: readonly RadiusAttribute[];
}

const headerBytes = 20;
const digestBytes = 16;
const valueBytesMax = 253;
const passwordBytesMax = 128;

/** An Access-Request whose first attribute is its Message-Authenticator. */
export function encodeRequest(
  id: number,
  authenticator: Buffer,
  attributes: readonly RadiusAttribute[],
  secret: string,
): Buffer {
  const placed = [
    { type: radiusTypes.messageAuthenticator, value: Buffer.alloc(digestBytes) },
    ...attributes,
  ];
  const body = Buffer.concat(
    placed.map(({ type, value }) => {
      if (value.length < 1 || value.length > valueBytesMax) throw new RangeError('attribute value');
      return Buffer.concat([Buffer.from([type, value.length + 2]), value]);
    }),
  );
  const packet = Buffer.concat([Buffer.alloc(headerBytes), body]);
  packet[0] = radiusCodes.request;
  packet[1] = id;
  packet.writeUInt16BE(packet.length, 2);
  authenticator.copy(packet, 4);
  createHmac('md5', secret)
    .update(packet)
    .digest()
    .copy(packet, headerBytes + 2);
  return packet;
}

/** A password as RFC 2865 section 5.2 hides it; null when it is too long for RADIUS. */
export function hidePassword(
  password: string,
  authenticator: Buffer,
  secret: string,
): Buffer | null {
  const clear = Buffer.from(password, 'utf8');
  if (clear.length > passwordBytesMax) return null;
  const padded = Buffer.alloc(Math.max(1, Math.ceil(clear.length / digestBytes)) * digestBytes);
  clear.copy(padded);
  let before: Buffer = authenticator;
  for (let at = 0; at < padded.length; at += digestBytes) {
    const mask = createHash('md5').update(secret).update(before).digest();
    for (let byte = 0; byte < digestBytes; byte++) {
      padded[at + byte] = (padded[at + byte] ?? 0) ^ (mask[byte] ?? 0);
    }
    before = padded.subarray(at, at + digestBytes);
  }
  return padded;
}

/**
 * The reply to a request, or null for a datagram that is not its genuine answer: wrong id or
 * length, a Response Authenticator or Message-Authenticator that is missing or does not fit.
 */
export function readReply(
  datagram: Buffer,
  request: { readonly id: number; readonly authenticator: Buffer },
  secret: string,
): RadiusPacket | null {
  const packet = parsePacket(datagram);
  if (packet === null || packet.id !== request.id) return null;
  const bytes = Buffer.from(datagram.subarray(0, datagram.readUInt16BE(2)));
  request.authenticator.copy(bytes, 4);
  const expected = createHash('md5').update(bytes).update(secret).digest();
  if (!timingSafeEqual(expected, packet.authenticator)) return null;
  return isSigned(bytes, packet, secret) ? packet : null;
}

/** Whether the one Message-Authenticator fits; `bytes` carry the request's authenticator. */
function isSigned(bytes: Buffer, packet: RadiusPacket, secret: string): boolean {
  const type = radiusTypes.messageAuthenticator;
  const found = packet.attributes.filter((one) => one.type === type);
  const given = found[0]?.value;
  if (found.length !== 1 || given?.length !== digestBytes) return false;
  let at = headerBytes;
  while (bytes[at] !== type) at += bytes[at + 1] ?? bytes.length;
  bytes.fill(0, at + 2, at + 2 + digestBytes);
  return timingSafeEqual(createHmac('md5', secret).update(bytes).digest(), given);
}

/** Splits a datagram; null when its lengths do not add up. */
export function parsePacket(datagram: Buffer): RadiusPacket | null {
  if (datagram.length < headerBytes) return null;
  const length = datagram.readUInt16BE(2);
  if (length < headerBytes || length > datagram.length) return null;
  if (length > signInLimits.radiusPacketBytesMax) return null;
  const attributes: RadiusAttribute[] = [];
  let at = headerBytes;
  while (at < length) {
    const size = at + 1 < length ? (datagram[at + 1] ?? 0) : 0;
    if (size < 2 || at + size > length) return null;
    attributes.push({ type: datagram[at] ?? 0, value: datagram.subarray(at + 2, at + size) });
    at += size;
  }
  return {
    code: datagram[0] ?? 0,
    id: datagram[1] ?? 0,
    authenticator: Buffer.from(datagram.subarray(4, headerBytes)),
    attributes,
  };
}
