/**
 * Reads the first message of a TLS client (RFC 8446 section 4.1.2) from the bytes of its records,
 * before anything is spent on cryptography: the name that it asks for decides which certificate
 * answers. A hello that can be read in two ways is refused. Pure; keeps nothing.
 */

import { isIP } from 'node:net';
import { tlsLimits } from '../../base/delivery-limits.ts';

/** A hello that was read. */
export interface ClientHello {
  /** Lower case, without final dot; null when the client named none. */
  readonly serverName: string | null;
  /** Names of application protocols in the client's order, byte strings. */
  readonly protocols: readonly string[];
  readonly fingerprint: HelloFingerprint;
}

/** What a hello says beside names: lists in the client's order. */
export interface HelloFingerprint {
  /** The highest version that is offered, as TLS numbers it: 0x0304 for TLS 1.3. */
  readonly version: number;
  readonly suites: readonly number[];
  readonly extensions: readonly number[];
  readonly signatureAlgorithms: readonly number[];
}

/** Alerts of RFC 8446 section 6.2 that are sent before the handshake. */
export const ALERT = { decodeError: 50, protocolVersion: 70, unrecognizedName: 112 } as const;

/** What the bytes so far are. */
export type HelloResult =
  | { readonly kind: 'more' }
  | { readonly kind: 'hello'; readonly hello: ClientHello }
  /** HTTP in the clear on the port for TLS. */
  | { readonly kind: 'plain' }
  /** `alert`: the number sent to the client. */
  | { readonly kind: 'refused'; readonly alert: number };

const handshakeRecord = 22;
const clientHelloType = 1;
const recordBytesMax = 16_384;
const extensionServerName = 0;
const extensionSignatures = 13;
const extensionVersions = 43;
const extensionProtocols = 16;
/** More are looked up in a set. */
const fewExtensions = 64;
const more: HelloResult = { kind: 'more' };
const malformed: HelloResult = { kind: 'refused', alert: ALERT.decodeError };

/** Reads what a client has sent so far. Cost: one pass; at most `tlsLimits.helloBytesMax`. */
export function readClientHello(bytes: Buffer): HelloResult {
  const first = bytes[0];
  if (first === undefined) return more;
  if (first !== handshakeRecord) return looksLikeHttp(bytes) ? { kind: 'plain' } : malformed;
  const message = joinRecords(bytes);
  if (message === null) return malformed;
  if (message.length < 4) return more;
  if (message[0] !== clientHelloType) return malformed;
  const length = message.readUIntBE(1, 3);
  if (length > tlsLimits.helloBytesMax) return malformed;
  if (message.length < 4 + length) return more;
  // A client that waits for an answer has sent nothing after its hello.
  if (message.length > 4 + length) return malformed;
  return readBody(message.subarray(4));
}

/** Content of the handshake records so far; null when they are none. */
function joinRecords(bytes: Buffer): Buffer | null {
  const pieces: Buffer[] = [];
  let at = 0;
  while (at + 5 <= bytes.length) {
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at] !== handshakeRecord || bytes[at + 1] !== 3) return null;
    if (length === 0 || length > recordBytesMax) return null;
    pieces.push(bytes.subarray(at + 5, Math.min(at + 5 + length, bytes.length)));
    at += 5 + length;
  }
  if (at < bytes.length && bytes[at] !== handshakeRecord) return null;
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

/** A method's letters, or the preface of HTTP/2. */
function looksLikeHttp(bytes: Buffer): boolean {
  return /^[A-Z]{1,16}(?: |$)/.test(bytes.toString('latin1', 0, 17));
}

function readBody(body: Buffer): HelloResult {
  const reader = new Reader(body, 0, body.length);
  const version = reader.short();
  reader.skip(32);
  reader.skip(reader.byte());
  const suites = reader.block(2);
  const compressions = reader.byte();
  reader.skip(compressions);
  if (reader.failed || suites.atEnd || compressions === 0) return malformed;
  if (version >> 8 !== 3) return { kind: 'refused', alert: ALERT.protocolVersion };
  const extensions = reader.atEnd ? reader : reader.block(2);
  if (reader.failed || !reader.atEnd) return malformed;
  return readExtensions(extensions, version, suites.shorts());
}

function readExtensions(reader: Reader, legacyVersion: number, suites: number[]): HelloResult {
  const extensions: number[] = [];
  let many: Set<number> | null = null;
  let serverName: string | null = null;
  let protocols: readonly string[] = [];
  let version = legacyVersion;
  let signatureAlgorithms: readonly number[] = [];
  while (!reader.atEnd) {
    const type = reader.short();
    const content = reader.block(2);
    // RFC 8446 section 4.2: no extension stands twice.
    if (reader.failed) return malformed;
    if (many === null ? extensions.includes(type) : many.has(type)) return malformed;
    extensions.push(type);
    if (many !== null) many.add(type);
    else if (extensions.length === fewExtensions) many = new Set(extensions);
    if (type === extensionServerName) {
      const name = readServerName(content);
      if (name === null) return malformed;
      const checked = checkName(name);
      if (checked === null) return { kind: 'refused', alert: ALERT.unrecognizedName };
      serverName = checked;
    } else if (type === extensionProtocols) {
      const found = readProtocols(content);
      if (found === null) return malformed;
      protocols = found;
    } else if (type === extensionSignatures) {
      // What is malformed in a list OpenSSL refuses; the fingerprint is of a handshake that fails.
      signatureAlgorithms = content.block(2).shorts();
    } else if (type === extensionVersions) {
      version = highest(content.block(1).shorts()) ?? version;
    }
  }
  const fingerprint = { version, suites, extensions, signatureAlgorithms };
  return { kind: 'hello', hello: { serverName, protocols, fingerprint } };
}

/** The highest of the versions that are offered; null when none is. */
function highest(offered: readonly number[]): number | null {
  let found: number | null = null;
  for (const one of offered) if (!isGrease(one) && one > (found ?? -1)) found = one;
  return found;
}

/** True for values that clients send at random so that servers ignore what is new (RFC 8701). */
export function isGrease(value: number): boolean {
  return (value & 0x0f0f) === 0x0a0a && value >> 8 === (value & 0xff);
}

/** The one host name of RFC 6066 section 3; null when it is not exactly one. */
function readServerName(content: Reader): string | null {
  const list = content.block(2);
  if (content.failed || !content.atEnd) return null;
  const type = list.byte();
  const name = list.block(2);
  if (list.failed || !list.atEnd || type !== 0) return null;
  return name.text();
}

/** The name as sites are found by it; null for what is no host name (RFC 6066: no addresses). */
function checkName(text: string): string | null {
  const name = text.toLowerCase().replace(/\.$/, '');
  const wellFormed = name.length <= 253 && /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/.test(name);
  return wellFormed && isIP(name) === 0 ? name : null;
}

function readProtocols(content: Reader): string[] | null {
  const list = content.block(2);
  if (content.failed || !content.atEnd) return null;
  const found: string[] = [];
  while (!list.atEnd) {
    const name = list.block(1);
    if (list.failed || name.atEnd) return null;
    found.push(name.text());
  }
  return found.length === 0 ? null : found;
}

/**
 * Reads on through a part of some bytes, which it does not copy; past the end it fails and gives
 * nothing.
 */
class Reader {
  failed = false;
  private readonly bytes: Buffer;
  private at: number;
  private readonly end: number;

  constructor(bytes: Buffer, start: number, end: number) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  get atEnd(): boolean {
    return this.failed || this.at === this.end;
  }

  byte(): number {
    return this.skip(1) ? this.bytes[this.at - 1]! : 0;
  }

  short(): number {
    return this.skip(2) ? (this.bytes[this.at - 2]! << 8) | this.bytes[this.at - 1]! : 0;
  }

  /** False past the end. */
  skip(count: number): boolean {
    this.failed ||= this.at + count > this.end;
    if (!this.failed) this.at += count;
    return !this.failed;
  }

  /** The part after a length of `width` bytes; an empty one when it ends past the end. */
  block(width: 1 | 2): Reader {
    const length = width === 1 ? this.byte() : this.short();
    const start = this.at;
    return this.skip(length)
      ? new Reader(this.bytes, start, this.at)
      : new Reader(this.bytes, start, start);
  }

  /** All numbers of two bytes that are left. */
  shorts(): number[] {
    const numbers: number[] = [];
    while (this.at + 2 <= this.end) numbers.push(this.short());
    return numbers;
  }

  /** All bytes that are left, as a byte string. */
  text(): string {
    return this.bytes.latin1Slice(this.at, this.end);
  }
}
