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
  const reader = new Reader(body);
  const version = reader.short();
  reader.skip(32);
  reader.block(1);
  const suites = reader.block(2);
  const compressions = reader.block(1);
  if (reader.failed || suites.length === 0 || compressions.length === 0) return malformed;
  if (version >> 8 !== 3) return { kind: 'refused', alert: ALERT.protocolVersion };
  const extensions = reader.atEnd ? Buffer.alloc(0) : reader.block(2);
  if (reader.failed || !reader.atEnd) return malformed;
  return readExtensions(extensions, version, readNumbers(suites));
}

function readExtensions(bytes: Buffer, legacyVersion: number, suites: number[]): HelloResult {
  const reader = new Reader(bytes);
  const seen = new Set<number>();
  let serverName: string | null = null;
  let protocols: readonly string[] = [];
  let version = legacyVersion;
  let signatureAlgorithms: readonly number[] = [];
  while (!reader.atEnd) {
    const type = reader.short();
    const content = reader.block(2);
    // RFC 8446 section 4.2: no extension stands twice.
    if (reader.failed || seen.has(type)) return malformed;
    seen.add(type);
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
      signatureAlgorithms = readNumbers(listOf(content, 2));
    } else if (type === extensionVersions) {
      const offered = readNumbers(listOf(content, 1)).filter((one) => !isGrease(one));
      if (offered.length > 0) version = Math.max(...offered);
    }
  }
  const fingerprint = { version, suites, extensions: [...seen], signatureAlgorithms };
  return { kind: 'hello', hello: { serverName, protocols, fingerprint } };
}

/** True for values that clients send at random so that servers ignore what is new (RFC 8701). */
export function isGrease(value: number): boolean {
  return (value & 0x0f0f) === 0x0a0a && value >> 8 === (value & 0xff);
}

/**
 * The list that an extension consists of, after a length of `width` bytes. What is malformed in
 * it OpenSSL refuses; it changes only the fingerprint of a handshake that fails.
 */
function listOf(content: Buffer, width: number): Buffer {
  return new Reader(content).block(width);
}

/** Numbers of two bytes each. */
function readNumbers(bytes: Buffer): number[] {
  const numbers: number[] = [];
  for (let at = 0; at + 2 <= bytes.length; at += 2) numbers.push(bytes.readUInt16BE(at));
  return numbers;
}

/** The one host name of RFC 6066 section 3; null when it is not exactly one. */
function readServerName(content: Buffer): string | null {
  const reader = new Reader(content);
  const list = new Reader(reader.block(2));
  if (reader.failed || !reader.atEnd) return null;
  const type = list.byte();
  const name = list.block(2);
  if (list.failed || !list.atEnd || type !== 0) return null;
  return name.toString('latin1');
}

/** The name as sites are found by it; null for what is no host name (RFC 6066: no addresses). */
function checkName(text: string): string | null {
  const name = text.toLowerCase().replace(/\.$/, '');
  const wellFormed = name.length <= 253 && /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/.test(name);
  return wellFormed && isIP(name) === 0 ? name : null;
}

function readProtocols(content: Buffer): string[] | null {
  const reader = new Reader(content);
  const list = new Reader(reader.block(2));
  if (reader.failed || !reader.atEnd) return null;
  const found: string[] = [];
  while (!list.atEnd) {
    const name = list.block(1);
    if (list.failed || name.length === 0) return null;
    found.push(name.toString('latin1'));
  }
  return found.length === 0 ? null : found;
}

/** Reads on through bytes; past the end it fails and gives nothing. */
class Reader {
  failed = false;
  private readonly bytes: Buffer;
  private at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get atEnd(): boolean {
    return this.failed || this.at === this.bytes.length;
  }

  byte(): number {
    return this.number(1);
  }

  short(): number {
    return this.number(2);
  }

  skip(count: number): void {
    this.take(count);
  }

  /** Bytes after a length of `width` bytes. */
  block(width: number): Buffer {
    return this.take(this.number(width));
  }

  private number(width: number): number {
    const taken = this.take(width);
    return this.failed ? 0 : taken.readUIntBE(0, width);
  }

  private take(count: number): Buffer {
    const start = this.at;
    if (this.failed || start + count > this.bytes.length) {
      this.failed = true;
      return Buffer.alloc(0);
    }
    this.at = start + count;
    return this.bytes.subarray(start, this.at);
  }
}
