/**
 * Makes evidence of finished requests and hands it over in batches; never blocks a request, and
 * never holds more than its bound: then without content, and at last nothing.
 */

import { randomBytes } from 'node:crypto';
import { evidenceLimits } from '../../base/observation-limits.ts';
import type { RequestEvent } from '../../contract/events.ts';
import type {
  AnswerBody,
  CapturedBody,
  EvidenceLack,
  EvidenceSource,
} from '../../contract/evidence.ts';
import { exportBit, type EvidenceSettings, type EventSelection } from '../../contract/logging.ts';
import { EvidencePacker, type EvidenceBatch, type RawEvidence } from './evidence-wire.ts';
import { isSecurity } from './log-sampler.ts';
import { wholeLines } from '../wire/whole-lines.ts';

const nothing = new Uint8Array();
const withoutRoom: AnswerBody = { bytes: nothing, lack: 'queue_full' };

/** Gathers evidence of one thread. */
export class EvidenceBatcher {
  private readonly send: (batch: EvidenceBatch) => void;
  private open = newPacker();
  /** Bytes of batches on their way, in their order. */
  private readonly sent: number[] = [];
  private sentBytes = 0;
  private dropped = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(send: (batch: EvidenceBatch) => void) {
    this.send = send;
  }

  /**
   * Keeps evidence of a request, if its policy asks for some. Throws for what cannot be packed;
   * what waited in the same batch is lost: half of a record may be among it.
   */
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
    const waiting = this.open.weight + this.sentBytes;
    const { threadBytesMax } = evidenceLimits;
    if (waiting > threadBytesMax * 2) {
      this.dropped++;
      return;
    }
    const bare = waiting > threadBytesMax;
    try {
      this.open.add(rawEvidence(event, settings, source, secure, bare));
    } catch (thrown) {
      this.dropped += this.open.count + 1;
      this.open = newPacker();
      throw thrown;
    }
    const full = this.open.weight >= evidenceLimits.batchBytesMax;
    if (full || this.open.count >= evidenceLimits.batchRecordsMax) this.flush();
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
    if (this.open.count === 0) return;
    const { weight } = this.open;
    this.sent.push(weight);
    this.sentBytes += weight;
    this.send(this.open.take(this.dropped));
    this.dropped = 0;
  }
}

function lackOf(
  { body }: EvidenceSettings,
  bodyBytes: number,
  captured: CapturedBody | null,
): EvidenceLack {
  if (captured?.crowded === true) return 'inflight_limit';
  return body === 'none' && bodyBytes > 0 ? 'body_off' : '';
}

/** A part of the ids of all that it packs is its own. */
function newPacker(): EvidencePacker {
  return new EvidencePacker(randomBytes(6).toString('hex'));
}

function rawEvidence(
  event: RequestEvent,
  settings: EvidenceSettings,
  source: EvidenceSource,
  secure: boolean,
  bare: boolean,
): RawEvidence {
  const lines = source.headerLines();
  const body = bare ? null : source.capturedBody();
  const answerBody = source.answerBody();
  const lack = bare ? 'queue_full' : lackOf(settings, event.bytesIn, body);
  const { requestId, siteId, receivedAtMs, method, host, target, clientIp, httpVersion } = event;
  return {
    requestId,
    siteId,
    receivedAtMs,
    method,
    host,
    target,
    clientIp,
    httpVersion,
    completedAtMs: receivedAtMs + Math.round(event.durationUs / 1000),
    reason: secure ? 'security' : 'access',
    headerBytes: lines.length,
    headers: bare ? nothing : wholeLines(lines, settings.headerBytesMax),
    bodyBytes: event.bytesIn,
    body: body?.bytes ?? nothing,
    status: event.status,
    answerHead: source.answerHead(),
    answerBytesMax: bare ? 0 : settings.headerBytesMax,
    ...(answerBody && { answerBody: bare ? withoutRoom : answerBody }),
    lack,
  };
}
