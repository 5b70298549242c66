/**
 * How evidence travels from front threads to the main thread: numbers, one string and one piece of
 * bytes a batch, which changes hands. Values of secrets in heads of answers are hidden on the main
 * thread, before anything else sees them: responses wait for front threads alone.
 */

import { evidenceLimits } from '../../base/observation-limits.ts';
import {
  answerBodyLacks,
  type EvidenceLack,
  type EvidenceRecord,
} from '../../contract/evidence.ts';
import { answerOf } from './evidence-answer.ts';

/** A batch on the wire; structured-cloneable. */
export interface EvidenceBatch {
  readonly count: number;
  /** `NUMBERS` per record. */
  readonly numbers: Float64Array;
  /** `TEXTS` per record, separated by NUL, which no head may contain. */
  readonly texts: string;
  /** Header lines, body, head and body of the answer of each record, one after another. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Evidence lost since the last batch. */
  readonly dropped: number;
}

/** Evidence as a front thread has it; bytes are valid during the call only. */
export interface RawEvidence extends Omit<EvidenceRecord, 'answer' | 'id'> {
  readonly status: number;
  /** The head of the answer, status line and secrets included. */
  readonly answerHead: Uint8Array;
  /** Bytes of its fields that are kept. */
  readonly answerBytesMax: number;
}

const NUMBERS = 12;
const TEXTS = 8;
const lacks: readonly EvidenceLack[] = ['', 'inflight_limit', 'queue_full', 'body_off'];

/** Packs evidence one by one; `thread` is part of the ids of all that it packs. */
export class EvidencePacker {
  private readonly thread: string;
  private next = 0;
  /** How ids of requests of this millisecond begin. */
  private idStart = '';
  private idMs = -1;
  private numbers: number[] = [];
  private texts: string[] = [];
  private bytes = Buffer.allocUnsafeSlow(evidenceLimits.packBytes);
  private used = 0;
  /** Records that were added. */
  count = 0;

  constructor(thread: string) {
    this.thread = thread;
  }

  /** Bytes of what was added, and what the records weigh besides. */
  get weight(): number {
    return this.used + this.count * evidenceLimits.recordBytes;
  }

  add(record: RawEvidence): void {
    const { receivedAtMs, completedAtMs, headers, body, answerHead } = record;
    this.numbers.push(receivedAtMs, completedAtMs, record.headerBytes, headers.length);
    this.numbers.push(record.bodyBytes, body.length, record.status, answerHead.length);
    const security = record.reason === 'security' ? 1 : 0;
    this.numbers.push(record.answerBytesMax, lacks.indexOf(record.lack) * 2 + security);
    const { answerBody } = record;
    const lack = answerBody === undefined ? 0 : answerBodyLacks.indexOf(answerBody.lack) + 1;
    this.numbers.push(answerBody?.bytes.length ?? 0, lack);
    const { requestId, siteId, clientIp, httpVersion, method, host, target } = record;
    const id = this.nextId(receivedAtMs);
    this.texts.push(id, requestId, siteId, clientIp, httpVersion, method, host, target);
    this.append(headers);
    this.append(body);
    this.append(answerHead);
    if (answerBody !== undefined) this.append(answerBody.bytes);
    this.count++;
  }

  /** The batch; the packer is empty afterwards. */
  take(dropped: number): EvidenceBatch {
    const batch = {
      count: this.count,
      numbers: Float64Array.from(this.numbers),
      texts: this.texts.join('\0'),
      bytes: new Uint8Array(this.bytes.subarray(0, this.used)),
      dropped,
    };
    // What one large body took is not kept.
    const { packBytes } = evidenceLimits;
    if (this.used > packBytes) this.bytes = Buffer.allocUnsafeSlow(packBytes);
    this.numbers = [];
    this.texts = [];
    this.used = 0;
    this.count = 0;
    return batch;
  }

  private append(bytes: Uint8Array): void {
    const end = this.used + bytes.length;
    if (end > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, this.bytes.length * 2));
      this.bytes.copy(larger, 0, 0, this.used);
      this.bytes = larger;
    }
    this.bytes.set(bytes, this.used);
    this.used = end;
  }

  /** Sorts by time; unique among threads and runs. */
  private nextId(receivedAtMs: number): string {
    if (receivedAtMs !== this.idMs) {
      this.idMs = receivedAtMs;
      this.idStart = `ev-${String(receivedAtMs).padStart(14, '0')}-${this.thread}`;
    }
    return this.idStart + (this.next++).toString(16).padStart(8, '0');
  }
}

/** What an `EvidencePacker` packed; the records share the batch's bytes. */
export function unpackEvidence({ count, numbers, texts, bytes }: EvidenceBatch): EvidenceRecord[] {
  const text = texts.split('\0');
  let from = 0;
  const piece = (length: number): Uint8Array => bytes.subarray(from, (from += length));
  return Array.from({ length: count }, (_, index) => {
    const n = index * NUMBERS;
    const t = index * TEXTS;
    const number = (at: number): number => numbers[n + at]!;
    const flags = number(9);
    return {
      id: text[t]!,
      requestId: text[t + 1]!,
      siteId: text[t + 2]!,
      receivedAtMs: number(0),
      completedAtMs: number(1),
      clientIp: text[t + 3]!,
      httpVersion: text[t + 4]!,
      reason: (flags & 1) === 1 ? 'security' : 'access',
      method: text[t + 5]!,
      host: text[t + 6]!,
      target: text[t + 7]!,
      headerBytes: number(2),
      headers: piece(number(3)),
      bodyBytes: number(4),
      body: piece(number(5)),
      answer: answerOf(number(6), piece(number(7)), number(8)),
      lack: lacks[flags >> 1]!,
      ...answerBodyOf(piece(number(10)), number(11)),
    };
  });
}

/** `lack`: its place among the reasons, counted from 1; 0 for no body at all. */
function answerBodyOf(bytes: Uint8Array, lack: number): Pick<EvidenceRecord, 'answerBody'> {
  return lack === 0 ? {} : { answerBody: { bytes, lack: answerBodyLacks[lack - 1]! } };
}
