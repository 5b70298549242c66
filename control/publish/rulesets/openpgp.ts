/**
 * Verifies a detached OpenPGP signature by a key that is trusted by its fingerprint. Reads what a
 * release of CRS is signed with and nothing else: version 4 keys and signatures of a primary key,
 * RSA or Ed25519, SHA-256 or longer. Never takes a key's own word: the fingerprint decides.
 */

import { createHash, createPublicKey, timingSafeEqual, verify, type KeyObject } from 'node:crypto';
import { invalidField as refused } from '../../domain/errors.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';

/** A packet: its type and what it holds (RFC 9580, section 4.2). */
interface Packet {
  readonly tag: number;
  readonly body: Buffer;
}

/** A primary key whose fingerprint is trusted. */
interface TrustedKey {
  readonly fingerprint: string;
  readonly algorithm: number;
  readonly key: KeyObject;
}

/** A signature as it stands in its packet. */
interface Signature {
  readonly algorithm: number;
  readonly hash: string;
  /** What is hashed of the packet after the content, with its trailer. */
  readonly trailer: Buffer;
  /** First two bytes of the digest. */
  readonly left: Buffer;
  readonly value: Buffer;
  readonly expiresAtMs: number;
}

const signatureTag = 2;
const publicKeyTag = 6;
const rsa = new Set([1, 3]);
const eddsaLegacy = 22;
const ed25519 = 27;
const hashes: Readonly<Record<number, string>> = { 8: 'sha256', 9: 'sha384', 10: 'sha512' };
/** 1.3.6.1.4.1.11591.15.1 with its length. */
const ed25519Oid = Buffer.from('092b06010401da470f01', 'hex');
/** Signature subpackets that are understood: creation, expiry, issuer, issuer fingerprint, user. */
const knownSubpackets = new Set([2, 3, 16, 28, 33]);

/**
 * The fingerprint of the trusted key that signed the content, upper case hex. Errors:
 * invalid_argument naming the field, `signature` or `publicKey`.
 */
export function verifyDetached(
  content: Uint8Array,
  signature: Uint8Array,
  publicKey: Uint8Array,
  trusted: readonly string[],
  nowMs: number,
): string {
  const keys = trustedKeys(packetsOf(publicKey, 'publicKey'), trusted);
  const packets = packetsOf(signature, 'signature').filter(({ tag }) => tag === signatureTag);
  if (packets.length === 0) throw refused('signature', 'is no OpenPGP signature');
  for (const packet of packets) {
    const read = signatureOf(packet.body);
    const signer = keys.find((key) => hasSigned(key, read, content));
    if (signer === undefined) continue;
    if (read.expiresAtMs <= nowMs) throw refused('signature', 'has expired');
    return signer.fingerprint;
  }
  const names = keys.map(({ fingerprint }) => fingerprint).join(', ');
  throw refused('signature', `is not of this archive by the key ${names}`);
}

/** The fingerprint of a version 4 key packet: SHA-1 over its body (RFC 9580, 5.5.4.2). */
function fingerprintOf(body: Buffer): string {
  const head = Buffer.from([0x99, body.length >> 8, body.length & 0xff]);
  return createHash('sha1').update(head).update(body).digest('hex').toUpperCase();
}

function trustedKeys(packets: readonly Packet[], trusted: readonly string[]): TrustedKey[] {
  const bodies = packets.filter(({ tag }) => tag === publicKeyTag).map(({ body }) => body);
  if (bodies.length === 0) throw refused('publicKey', 'holds no OpenPGP public key');
  const named = bodies.map((body) => ({ body, fingerprint: fingerprintOf(body) }));
  const found = named.filter(({ fingerprint }) => trusted.includes(fingerprint));
  if (found.length === 0) {
    const has = named.map(({ fingerprint }) => fingerprint).join(', ');
    throw refused('publicKey', `has the fingerprint ${has}, which no setting trusts`);
  }
  return found.map(({ body, fingerprint }) => ({ fingerprint, ...keyOf(body) }));
}

function keyOf(body: Buffer): Omit<TrustedKey, 'fingerprint'> {
  if (body[0] !== 4) throw refused('publicKey', 'is of a version that is not read here');
  const algorithm = byteAt(body, 5, 'publicKey');
  if (rsa.has(algorithm)) {
    const n = integerAt(body, 6, 'publicKey');
    const e = integerAt(body, n.end, 'publicKey');
    const { rsaBitsMin } = resourceLimits;
    if (n.bits < rsaBitsMin) throw refused('publicKey', `is shorter than ${rsaBitsMin} bits`);
    return { algorithm, key: jwk({ kty: 'RSA', n: text(n.bytes), e: text(e.bytes) }) };
  }
  if (algorithm === eddsaLegacy && body.subarray(6, 16).equals(ed25519Oid)) {
    const point = integerAt(body, 16, 'publicKey').bytes;
    if (point.length !== 33 || point[0] !== 0x40) throw refused('publicKey', 'is misshapen');
    return { algorithm, key: okp(point.subarray(1)) };
  }
  if (algorithm === ed25519) return { algorithm, key: okp(body.subarray(6, 38)) };
  throw refused('publicKey', 'is of an algorithm that is not read here: RSA or Ed25519');
}

function okp(point: Buffer): KeyObject {
  return jwk({ kty: 'OKP', crv: 'Ed25519', x: text(point) });
}

function jwk(key: Record<string, string>): KeyObject {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    throw refused('publicKey', 'is misshapen');
  }
}

function signatureOf(body: Buffer): Signature {
  const field = 'signature';
  if (byteAt(body, 0, field) !== 4 || body[1] !== 0) {
    throw refused(field, 'is no version 4 signature of a file');
  }
  const algorithm = byteAt(body, 2, field);
  const hash = hashes[byteAt(body, 3, field)];
  if (hash === undefined) throw refused(field, 'has a digest that is too weak, or not read here');
  const hashedEnd = 6 + shortAt(body, 4, field);
  const hashed = body.subarray(0, hashedEnd);
  const left = hashedEnd + 2 + shortAt(body, hashedEnd, field);
  const trailer = Buffer.alloc(hashed.length + 6);
  hashed.copy(trailer);
  trailer.set([4, 0xff], hashed.length);
  trailer.writeUInt32BE(hashed.length, hashed.length + 2);
  const value = valueAt(body, left + 2, algorithm);
  const expiresAtMs = expiryOf(hashed.subarray(6));
  return { algorithm, hash, trailer, left: body.subarray(left, left + 2), value, expiresAtMs };
}

/** The signature as `node:crypto` takes it. */
function valueAt(body: Buffer, at: number, algorithm: number): Buffer {
  if (algorithm === ed25519) return body.subarray(at, at + 64);
  const first = integerAt(body, at, 'signature');
  if (algorithm !== eddsaLegacy) return first.bytes;
  const second = integerAt(body, first.end, 'signature');
  return Buffer.concat([padded(first.bytes, 32), padded(second.bytes, 32)]);
}

/** When the signature ends; Infinity for never. Errors: for a critical part that is not known. */
function expiryOf(subpackets: Buffer): number {
  let created = 0;
  let lasts = 0;
  for (let at = 0; at < subpackets.length;) {
    const { length, next } = subpacketLength(subpackets, at);
    const type = byteAt(subpackets, next, 'signature');
    const content = subpackets.subarray(next + 1, next + length);
    if (type > 0x7f && !knownSubpackets.has(type & 0x7f)) {
      throw refused('signature', `has a critical part of type ${type & 0x7f}, not known here`);
    }
    if ((type & 0x7f) === 2) created = secondsAt(content);
    if ((type & 0x7f) === 3) lasts = secondsAt(content);
    at = next + length;
  }
  return lasts === 0 ? Infinity : (created + lasts) * 1000;
}

/** RFC 9580, section 5.2.3.7. */
function subpacketLength(bytes: Buffer, at: number): { length: number; next: number } {
  const first = byteAt(bytes, at, 'signature');
  const wide = first >= 192 && first < 255;
  const long = first === 255;
  const next = at + (long ? 5 : wide ? 2 : 1);
  if (next >= bytes.length) throw refused('signature', 'is cut short');
  const twoBytes = ((first - 192) << 8) + bytes[at + 1]! + 192;
  const length = long ? bytes.readUInt32BE(at + 1) : wide ? twoBytes : first;
  if (length === 0 || next + length > bytes.length) throw refused('signature', 'is cut short');
  return { length, next };
}

function hasSigned(signer: TrustedKey, signature: Signature, content: Uint8Array): boolean {
  const { algorithm, hash, trailer, left, value } = signature;
  if (rsa.has(algorithm) !== rsa.has(signer.algorithm)) return false;
  if (!rsa.has(algorithm) && algorithm !== signer.algorithm) return false;
  const digest = createHash(hash).update(content).update(trailer).digest();
  if (left.length !== 2 || !timingSafeEqual(digest.subarray(0, 2), left)) return false;
  if (!rsa.has(algorithm)) return verify(null, digest, signer.key, value);
  const bytes = (signer.key.asymmetricKeyDetails?.modulusLength ?? 0) / 8;
  const signed = Buffer.concat([content, trailer]);
  return verify(hash, signed, signer.key, padded(value, bytes));
}

/** The packets of a text or binary file. */
function packetsOf(file: Uint8Array, field: string): Packet[] {
  if (file.length > resourceLimits.openPgpBytesMax) {
    throw refused(field, `is longer than ${resourceLimits.openPgpBytesMax} bytes`);
  }
  const bytes = unarmored(Buffer.from(file.buffer, file.byteOffset, file.byteLength), field);
  const packets: Packet[] = [];
  for (let at = 0; at < bytes.length;) {
    const head = byteAt(bytes, at, field);
    if ((head & 0x80) === 0) throw refused(field, 'is no OpenPGP file');
    const { start, length } =
      (head & 0x40) === 0 ? oldLength(bytes, at, field) : newLength(bytes, at, field);
    if (start + length > bytes.length) throw refused(field, 'is cut short');
    const tag = (head & 0x40) === 0 ? (head >> 2) & 15 : head & 63;
    packets.push({ tag, body: bytes.subarray(start, start + length) });
    if (packets.length > resourceLimits.openPgpPacketsMax)
      throw refused(field, 'has too many parts');
    at = start + length;
  }
  return packets;
}

/** RFC 9580, section 4.2.2. */
function oldLength(bytes: Buffer, at: number, field: string): { start: number; length: number } {
  const wide = [1, 2, 4, 0][byteAt(bytes, at, field) & 3]!;
  if (wide === 0 || at + 1 + wide > bytes.length) throw refused(field, 'is cut short');
  return { start: at + 1 + wide, length: bytes.readUIntBE(at + 1, wide) };
}

/** RFC 9580, section 4.2.1. */
function newLength(bytes: Buffer, at: number, field: string): { start: number; length: number } {
  const first = byteAt(bytes, at + 1, field);
  if (first < 192) return { start: at + 2, length: first };
  if (first < 224) {
    return { start: at + 3, length: ((first - 192) << 8) + byteAt(bytes, at + 2, field) + 192 };
  }
  if (first < 255 || at + 6 > bytes.length) throw refused(field, 'is cut short');
  return { start: at + 6, length: bytes.readUInt32BE(at + 2) };
}

/** The bytes inside the first armor; a file without one as it is (RFC 9580, section 6.2). */
function unarmored(file: Buffer, field: string): Buffer {
  if (file.length > 0 && file[0]! > 0x7f) return file;
  const lines = file.toString('latin1').split(/\r?\n/);
  const begin = lines.findIndex((line) => line.startsWith('-----BEGIN PGP '));
  const end = lines.findIndex((line, at) => at > begin && line.startsWith('-----END PGP '));
  const head = lines.findIndex((line, at) => at > begin && line.trim() === '');
  if (begin < 0 || head < 0 || end < head) throw refused(field, 'is no OpenPGP file');
  const encoded = lines.slice(head + 1, end).filter((line) => !line.startsWith('='));
  return Buffer.from(encoded.join(''), 'base64');
}

/** A multiprecision integer (RFC 9580, section 3.2). */
function integerAt(
  bytes: Buffer,
  at: number,
  field: string,
): { bytes: Buffer; bits: number; end: number } {
  const bits = shortAt(bytes, at, field);
  const end = at + 2 + Math.ceil(bits / 8);
  if (end > bytes.length) throw refused(field, 'is cut short');
  return { bytes: bytes.subarray(at + 2, end), bits, end };
}

function padded(bytes: Buffer, length: number): Buffer {
  return Buffer.concat([Buffer.alloc(Math.max(0, length - bytes.length)), bytes]);
}

function byteAt(bytes: Buffer, at: number, field: string): number {
  const byte = bytes[at];
  if (byte === undefined) throw refused(field, 'is cut short');
  return byte;
}

function shortAt(bytes: Buffer, at: number, field: string): number {
  return (byteAt(bytes, at, field) << 8) | byteAt(bytes, at + 1, field);
}

function secondsAt(bytes: Buffer): number {
  if (bytes.length < 4) throw refused('signature', 'is cut short');
  return bytes.readUInt32BE(0);
}

function text(bytes: Buffer): string {
  return bytes.toString('base64url');
}
