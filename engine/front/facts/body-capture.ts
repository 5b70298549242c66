/**
 * Copies request bodies for evidence, within a bound for all requests of the thread that run. What
 * has no room is not captured; traffic never waits for it.
 */

import { evidenceLimits } from '../../base/observation-limits.ts';
import type { CapturedBody } from '../../contract/evidence.ts';
import {
  standardLogging,
  type EvidenceSettings,
  type LoggingConfig,
} from '../../contract/logging.ts';
import { HeldBytes } from '../wire/held-bytes.ts';

/** The copy of one body. */
export class BodyCapture {
  private readonly room: CaptureRoom;
  private readonly bytesMax: number;
  private readonly held = new HeldBytes();
  private length = 0;
  private crowded = false;
  /** True when there was more than the bound of one body. */
  cut = false;

  constructor(room: CaptureRoom, bytesMax: number) {
    this.room = room;
    this.bytesMax = bytesMax;
  }

  /** Copies bytes [start, end) as far as there is room. */
  add(bytes: Buffer, start: number, end: number): void {
    if (this.crowded) return;
    const stop = Math.min(end, start + this.bytesMax - this.length);
    if (stop < end) this.cut = true;
    if (stop <= start) return;
    if (!this.room.take(stop - start)) {
      this.crowded = true;
      return;
    }
    this.length += stop - start;
    this.held.add(bytes, start, stop, false);
  }

  /** What was copied; valid until `drop`. */
  captured(): CapturedBody {
    return { bytes: this.held.join(), crowded: this.crowded };
  }

  /** Gives up what is held. */
  drop(): void {
    this.room.give(this.length);
    this.length = 0;
    this.held.recycle();
  }
}

/** Room for captured bodies, and which requests get some. */
export class CaptureRoom {
  private config: LoggingConfig = standardLogging;
  private threads = 1;
  private used = 0;
  private bytesMax = 0;

  /** Uses these policies from now on; `threads` share what they allow. */
  use(config: LoggingConfig, threads: number): void {
    this.config = config;
    this.threads = Math.max(1, threads);
    this.bytesMax = (config.standard.evidence?.inflightBytesMax ?? 0) / this.threads;
    for (const { evidence } of config.sites.values()) {
      const share = (evidence?.inflightBytesMax ?? 0) / this.threads;
      if (share > this.bytesMax) this.bytesMax = share;
    }
  }

  /** What is kept of requests of a site; null for nothing. */
  settingsOf(siteId: string): EvidenceSettings | null {
    const own = this.config.sites.size === 0 ? undefined : this.config.sites.get(siteId);
    return (own ?? this.config.standard).evidence;
  }

  /** The copy of a body that begins; null where none is kept. */
  open(siteId: string): BodyCapture | null {
    const settings = this.settingsOf(siteId);
    if (settings === null || settings.body === 'none') return null;
    const prefix = settings.body === 'prefix';
    const bytesMax = prefix ? settings.bodyBytesMax : evidenceLimits.wholeBodyBytesMax;
    return bytesMax === 0 ? null : new BodyCapture(this, bytesMax);
  }

  /** The copy of an answer's body; null where none is wanted, or none is kept. */
  openAnswer(siteId: string): BodyCapture | null {
    if (!this.wantsAnswers || !this.keepsBodies(siteId)) return null;
    const { body, bodyBytesMax } = this.settingsOf(siteId)!;
    const { answerBodyBytesMax } = evidenceLimits;
    const own = body === 'prefix' ? bodyBytesMax : answerBodyBytesMax;
    return new BodyCapture(this, Math.min(own, answerBodyBytesMax));
  }

  /** True where other systems asked for bodies of answers. */
  get wantsAnswers(): boolean {
    return this.config.exportAnswerBodies;
  }

  /** True where the log policy of a site keeps bodies. */
  keepsBodies(siteId: string): boolean {
    const settings = this.settingsOf(siteId);
    return settings !== null && settings.body !== 'none';
  }

  /** False when there is no room for more bytes. */
  take(bytes: number): boolean {
    if (this.used + bytes > this.bytesMax) return false;
    this.used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.used -= bytes;
  }
}
