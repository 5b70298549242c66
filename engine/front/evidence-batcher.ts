/**
 * Makes evidence of finished requests and hands it over in batches; never blocks a request, and
 * never holds more than its bound: then without content, and at last nothing.
 */

import { randomBytes } from 'node:crypto';
import { evidenceLimits } from '../base/observation-limits.ts';
import type { RequestEvent } from '../contract/events.ts';
import type { EvidenceLack, EvidenceRecord, EvidenceSource } from '../contract/evidence.ts';
import { exportBit, type EvidenceSettings, type EventSelection } from '../contract/logging.ts';
import { answerOf } from './evidence-answer.ts';
import { isSecurity } from './log-sampler.ts';
import { wholeLines } from './whole-lines.ts';

const nothing = new Uint8Array();

/** Gathers evidence of one thread. */
export class EvidenceBatcher {
  private readonly send: (records: readonly EvidenceRecord[], dropped: number) => void;
  private readonly thread = randomBytes(6).toString('hex');
  private next = 0;
  private open: EvidenceRecord[] = [];
  private openBytes = 0;
  /** Bytes of batches on their way, in their order. */
  private readonly sent: number[] = [];
  private sentBytes = 0;
  private dropped = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(send: (records: readonly EvidenceRecord[], dropped: number) => void) {
    this.send = send;
  }

  /** Keeps evidence of a request, if its policy asks for some. */
  add(
    event: RequestEvent,
    settings: EvidenceSettings | null,
    selection: EventSelection | null,
    source: EvidenceSource,
  ): void {
    if (settings === null) return;
    const secure = isSecurity(event);
    const retained = settings.mode === 'retained' && ((selection?.access ?? 0) & ~exportBit) !== 0;
    if (!secure && !retained) return;
    const waiting = this.openBytes + this.sentBytes;
    const { threadBytesMax } = evidenceLimits;
    if (waiting > threadBytesMax * 2) {
      this.dropped++;
      return;
    }
    const bare = waiting > threadBytesMax;
    const record = this.record(event, settings, source, secure, bare);
    this.open.push(record);
    const { headers, body, answer } = record;
    this.openBytes += headers.length + body.length + answer.headers.length;
    this.openBytes += evidenceLimits.recordBytes;
    const full = this.openBytes >= evidenceLimits.batchBytesMax;
    if (full || this.open.length >= evidenceLimits.batchRecordsMax) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), evidenceLimits.batchDelayMs);
  }

  /** The receiver has taken a batch. */
  taken(): void {
    this.sentBytes -= this.sent.shift() ?? 0;
  }

  /** Sends what there is. */
  flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.open.length === 0) return;
    const records = this.open;
    this.sent.push(this.openBytes);
    this.sentBytes += this.openBytes;
    this.open = [];
    this.openBytes = 0;
    this.send(records, this.dropped);
    this.dropped = 0;
  }

  private record(
    event: RequestEvent,
    settings: EvidenceSettings,
    source: EvidenceSource,
    secure: boolean,
    bare: boolean,
  ): EvidenceRecord {
    const lines = source.headerLines();
    const body = bare ? null : source.capturedBody();
    const crowded: EvidenceLack = body?.crowded === true ? 'inflight_limit' : '';
    const { requestId, siteId, receivedAtMs, method, host, target, clientIp, httpVersion } = event;
    return {
      id: this.nextId(receivedAtMs),
      ...{ requestId, siteId, receivedAtMs, method, host, target, clientIp, httpVersion },
      completedAtMs: receivedAtMs + Math.round(event.durationUs / 1000),
      reason: secure ? 'security' : 'access',
      headerBytes: lines.length,
      headers: bare ? nothing : new Uint8Array(wholeLines(lines, settings.headerBytesMax)),
      bodyBytes: event.bytesIn,
      body: body?.bytes ?? nothing,
      answer: answerOf(event.status, source.answerHead(), bare ? 0 : settings.headerBytesMax),
      lack: bare ? 'queue_full' : crowded,
    };
  }

  /** Sorts by time; unique among threads and runs. */
  private nextId(receivedAtMs: number): string {
    const time = String(receivedAtMs).padStart(14, '0');
    return `ev-${time}-${this.thread}${(this.next++).toString(16).padStart(8, '0')}`;
  }
}
