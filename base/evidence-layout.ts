/**
 * The bytes of evidence whose body is small: nodes send many such records in one message, and
 * control keeps each as it came. Texts are byte strings, separated by NUL, which no head of a
 * request may contain; header fields stay lines. What a node sent is checked before it is read.
 */

/** Evidence of one request. */
export interface PackedEvidence {
  readonly id: string;
  readonly requestId: string;
  readonly siteId: string;
  readonly receivedAtMs: number;
  readonly completedAtMs: number;
  readonly clientIp: string;
  readonly httpVersion: string;
  readonly reason: string;
  readonly method: string;
  readonly host: string;
  readonly target: string;
  /** Bytes of header lines that came. */
  readonly headerBytes: number;
  readonly headers: Uint8Array;
  /** Bytes of the body that came. */
  readonly bodyBytes: number;
  readonly body: Uint8Array;
  /** Null where nothing of it is kept. */
  readonly answer: PackedAnswer | null;
  /** Absent where nobody asked for it. */
  readonly answerBody?: { readonly bytes: Uint8Array; readonly lack: string };
  /** Why there is less than was asked for; '' for no reason. */
  readonly lack: string;
}

/** What is kept of an answer, its body apart. */
export interface PackedAnswer {
  /** 0 where none was sent. */
  readonly status: number;
  readonly headers: Uint8Array;
  readonly truncated: boolean;
}

/** A record between others: whether it can be read, and where the next one begins. */
export interface ReadEvidence {
  readonly record: PackedEvidence;
  /** Its bytes, which hold the pieces of the record. */
  readonly bytes: Uint8Array;
  readonly end: number;
}

/** The layout that is written here; nodes send it only where control reads it. */
export const evidenceLayout = 1;

const TEXTS = 11;
const PIECES = 5;
const headBytes = 60;
const FLAG = { TRUNCATED: 1, ANSWER: 2, ANSWER_BODY: 4 } as const;
const nothing = new Uint8Array();

/** Writes records one after another into one buffer. */
export class EvidenceWriter {
  private buffer = Buffer.allocUnsafeSlow(64 * 1024);
  private at = 0;

  /** Bytes that were written. */
  get length(): number {
    return this.at;
  }

  add(record: PackedEvidence): void {
    const { answer, answerBody } = record;
    const lacks = `${record.lack}\0${answerBody?.lack ?? ''}`;
    const { id, requestId, siteId, clientIp, httpVersion, method, host, target } = record;
    const ids = `${id}\0${requestId}\0${siteId}\0${clientIp}\0${httpVersion}`;
    const texts = `${ids}\0${method}\0${host}\0${target}\0${lacks}\0${record.reason}`;
    const pieces = [
      record.headers,
      answer?.headers ?? nothing,
      answerBody?.bytes ?? nothing,
      record.body,
    ];
    const content = pieces.reduce((sum, { length }) => sum + length, texts.length);
    const buffer = this.reserve(headBytes + content);
    const start = this.at;
    buffer.writeUInt32LE(headBytes + content, start);
    buffer[start + 4] = evidenceLayout;
    buffer[start + 5] =
      (answer?.truncated === true ? FLAG.TRUNCATED : 0) |
      (answer === null ? 0 : FLAG.ANSWER) |
      (answerBody === undefined ? 0 : FLAG.ANSWER_BODY);
    buffer.writeUInt16LE(answer?.status ?? 0, start + 6);
    buffer.writeDoubleLE(record.receivedAtMs, start + 8);
    buffer.writeDoubleLE(record.completedAtMs, start + 16);
    buffer.writeDoubleLE(record.headerBytes, start + 24);
    buffer.writeDoubleLE(record.bodyBytes, start + 32);
    buffer.writeUInt32LE(texts.length, start + 40);
    this.at = start + headBytes;
    this.at += buffer.latin1Write(texts, this.at);
    for (const [index, piece] of pieces.entries()) {
      buffer.writeUInt32LE(piece.length, start + 44 + 4 * index);
      buffer.set(piece, this.at);
      this.at += piece.length;
    }
  }

  /** A copy of what was written; the writer is empty afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.buffer.subarray(0, this.at));
    this.at = 0;
    return bytes;
  }

  private reserve(bytes: number): Buffer {
    const end = this.at + bytes;
    if (end <= this.buffer.length) return this.buffer;
    const larger = Buffer.allocUnsafeSlow(Math.max(end, this.buffer.length * 2));
    this.buffer.copy(larger, 0, 0, this.at);
    return (this.buffer = larger);
  }
}

/** Reads the record at a place; null for bytes that are none. Its pieces are views. */
export function readEvidence(bytes: Uint8Array, at = 0): ReadEvidence | null {
  if (bytes.length - at < headBytes) return null;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset + at, bytes.length - at);
  const total = view.readUInt32LE(0);
  if (total > view.length || view[4] !== evidenceLayout) return null;
  const sizes = Array.from({ length: PIECES }, (_, index) => view.readUInt32LE(40 + 4 * index));
  if (sizes.reduce((sum, size) => sum + size, headBytes) !== total) return null;
  let from = headBytes + sizes[0]!;
  const texts = view.latin1Slice(headBytes, from).split('\0');
  const numbers = [8, 16, 24, 32].map((place) => view.readDoubleLE(place));
  const plain = numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
  if (texts.length !== TEXTS || !plain) return null;
  const piece = (index: number): Uint8Array => view.subarray(from, (from += sizes[index]!));
  const flags = view[5]!;
  const headers = piece(1);
  const answered = { status: view.readUInt16LE(6), headers: piece(2) };
  const answerBody = { bytes: piece(3), lack: texts[9]! };
  const record: PackedEvidence = {
    id: texts[0]!,
    requestId: texts[1]!,
    siteId: texts[2]!,
    clientIp: texts[3]!,
    httpVersion: texts[4]!,
    method: texts[5]!,
    host: texts[6]!,
    target: texts[7]!,
    lack: texts[8]!,
    reason: texts[10]!,
    receivedAtMs: numbers[0]!,
    completedAtMs: numbers[1]!,
    headerBytes: numbers[2]!,
    bodyBytes: numbers[3]!,
    headers,
    answer:
      (flags & FLAG.ANSWER) === 0
        ? null
        : { ...answered, truncated: (flags & FLAG.TRUNCATED) !== 0 },
    ...((flags & FLAG.ANSWER_BODY) !== 0 && { answerBody }),
    body: piece(4),
  };
  return { record, bytes: view.subarray(0, total), end: at + total };
}
