/**
 * The GRPC body processor: the messages of gRPC, gRPC-Web and Connect, decoded and decompressed.
 * What a message holds is read by protobuf-reader.ts, or as JSON. Runs where a site asks for it.
 */

import { valueLimits } from '../../../../base/rule-limits.ts';
import { startsWithName } from '../../transaction/ascii.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type { BodyProcessorDefinition } from '../../transaction/types.ts';
import { SOURCE } from '../../transaction/values.ts';
import { failBody } from './arguments.ts';
import { lastField, lastFieldRow } from './fields.ts';
import { unreadCoding } from './coded-body.ts';
import { decodeContent } from './content-coding.ts';
import { ProtobufReader } from './protobuf-reader.ts';
import { addRawText } from './raw-text.ts';
import { declaredType, readJson } from './unparsed.ts';

/** One byte of flags and four of the length. Source: gRPC over HTTP/2, Length-Prefixed-Message. */
const prefixBytes = 5;
const COMPRESSED = 1;
const PAD = 0x3d;
const LF = 0x0a;
const CR = 0x0d;

/** One a thread: inspection is synchronous. */
const reader = new ProtobufReader();

/** `ctl:requestBodyProcessor=GRPC`; for types of gRPC where the site has `grpc.fields`. */
export const grpcBody: BodyProcessorDefinition = {
  name: 'GRPC',
  summary: 'Text fields of gRPC messages, without a schema: grpc.1.3 is field 3 in field 1.',
  example: 'ctl:requestBodyProcessor=GRPC',
  source: 'gRPC over HTTP/2; gRPC Web; Connect Protocol; Protocol Buffers, Encoding',
  process(tx: Transaction, start: number, end: number, truncated: boolean): void {
    reader.begin(tx);
    if (!isBase64(tx)) {
      new MessageReader(tx, truncated).read(start, end);
      return;
    }
    const from = tx.values.used;
    const stopped = decodeBase64(tx, start, end);
    new MessageReader(tx, truncated || stopped < end).read(from, tx.values.used);
    if (stopped === end) return;
    failBody(tx, 'GRPC: not base64');
    addRaw(tx, stopped, end);
  },
};

/** Reads one message without a frame; false where it is none, or a limit ended the reading. */
export function readProtobuf(tx: Transaction, start: number, end: number): boolean {
  reader.begin(tx);
  return reader.read(start, end, false) === end;
}

/** How a body is written that will be read as messages of gRPC; null for another one. */
export function grpcReading(tx: Transaction): 'binary' | 'base64' | null {
  const name = tx.control.requestBodyProcessor || tx.bodyProcessor;
  if (name !== grpcBody.name) return null;
  return isBase64(tx) ? 'base64' : 'binary';
}

/** The messages of one body, one after the other. */
class MessageReader {
  private readonly tx: Transaction;
  private readonly truncated: boolean;
  private readonly coding: string;
  private readonly isJson: boolean;
  /** Bytes that compressed messages may still grow to, and how many there may be. */
  private decodedLeft: number;
  private compressedLeft: number = valueLimits.grpcCompressedMax;

  constructor(tx: Transaction, truncated: boolean) {
    this.tx = tx;
    this.truncated = truncated;
    const type = declaredType(tx);
    const isConnect = /^application\/connect\+/i.test(type);
    const coding = lastField(tx, isConnect ? 'connect-content-encoding' : 'grpc-encoding');
    this.coding = coding.trim().toLowerCase();
    this.isJson = /^[^;]*\+json\s*(?:;|$)/i.test(type);
    const { requestBodyNoFilesLimitBytes, requestBodyLimitBytes } = tx.settings;
    this.decodedLeft = requestBodyNoFilesLimitBytes || requestBodyLimitBytes;
  }

  read(start: number, end: number): void {
    const { tx } = this;
    let at = start;
    while (at < end) {
      const { slab } = tx.values;
      const content = at + prefixBytes;
      const whole = content <= end && content + slab.readUInt32BE(at + 1) <= end;
      if (!whole && !this.truncated) failBody(tx, 'GRPC: a message is not whole');
      if (content > end) return addRaw(tx, at, end);
      const flags = slab[at]!;
      const next = whole ? content + slab.readUInt32BE(at + 1) : end;
      if (flags > COMPRESSED) {
        failBody(tx, 'GRPC: unknown flags');
        return addRaw(tx, at, end);
      }
      if (flags === COMPRESSED && this.coding !== '' && this.coding !== 'identity') {
        this.compressed(content, next, !whole);
      } else this.message(content, next, !whole);
      if (reader.spent) return addRaw(tx, next, end);
      at = next;
    }
  }

  private message(start: number, end: number, cut: boolean): void {
    if (this.isJson) return readJson(this.tx, start, end, cut);
    const stopped = reader.read(start, end, cut);
    if (stopped === end) return;
    if (reader.spent) return addRaw(this.tx, stopped, end);
    failBody(this.tx, 'GRPC: not a message of Protocol Buffers');
    // What seemed to be its first fields may be the beginning of a text.
    addRaw(this.tx, start, end);
  }

  private compressed(start: number, end: number, cut: boolean): void {
    const { tx } = this;
    const { values } = tx;
    const room = Math.min(this.decodedLeft, values.room());
    if (room < 1 || this.compressedLeft-- <= 0) {
      reachLimit(tx, 'grpc-bytes');
      return;
    }
    const decoded = decodeContent(values.slab.subarray(start, end), this.coding, room);
    if (decoded === null) {
      failBody(tx, unreadCoding);
      addRaw(tx, start, end);
      return;
    }
    if (decoded.truncated) reachLimit(tx, 'grpc-bytes');
    this.decodedLeft = decoded.truncated ? 0 : this.decodedLeft - decoded.bytes.length;
    const at = values.append(decoded.bytes);
    this.message(at, values.used, cut || decoded.truncated);
  }
}

/**
 * Writes what [start, end) stands for to the end of the slab, in either alphabet. Padding may stand
 * within, where pieces were encoded apart, and line ends, which decoders of Go skip. Returns where
 * it stopped: at what is no base64.
 */
function decodeBase64(tx: Transaction, start: number, end: number): number {
  const { values } = tx;
  values.reserve(end - start);
  const { slab } = values;
  let out = values.used;
  // The group of four digits that is read: where it begins, and its digits so far.
  let group = start;
  let bits = 0;
  let digits = 0;
  let pads = 0;
  for (let at = start; at < end; at++) {
    const byte = slab[at]!;
    if (byte === LF || byte === CR) {
      if (digits === 0) group = at + 1;
      continue;
    }
    const isPad = byte === PAD;
    const digit = isPad ? 0 : digitOf[byte]!;
    if (digit < 0 || (isPad ? digits < 2 : pads > 0)) break;
    bits = (bits << 6) | digit;
    if (isPad) pads++;
    if (++digits < 4) continue;
    slab[out++] = bits >>> 16;
    if (pads < 2) slab[out++] = (bits >>> 8) & 0xff;
    if (pads < 1) slab[out++] = bits & 0xff;
    group = at + 1;
    bits = digits = pads = 0;
  }
  values.used = out;
  return group;
}

const digitOf = new Int8Array(256).fill(-1);
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
for (const [at, digit] of [...`${alphabet}+/`, ...`${alphabet}-_`].entries()) {
  digitOf[digit.charCodeAt(0)] = at % 64;
}

function addRaw(tx: Transaction, start: number, end: number): void {
  if (start < end && tx.settings.inspectsUnparsed) addRawText(tx, SOURCE.argPost, start, end);
}

function isBase64(tx: Transaction): boolean {
  const { values } = tx;
  const row = lastFieldRow(tx, 'content-type');
  const type = 'application/grpc-web-text';
  return row >= 0 && startsWithName(values.slab, values.start[row]!, values.end[row]!, type);
}
