/**
 * Puts the requests of one front thread into traces, and chooses those whose spans are sent. A
 * client that no trust profile proves cannot make it send more, nor fewer: its flags and its choice
 * of ids decide nothing. Does nothing while tracing is off.
 */

import { randomFillSync } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import { SPAN } from '../../contract/message.ts';
import type { TracingSettings } from '../../contract/logging.ts';
import type { RequestTrace } from '../../contract/request-trace.ts';
import { KIND_MASK, type HeadScanner } from '../../http/head-scanner.ts';
import { FIELD } from '../../http/tables.ts';
import { readTraceParent, readTraceState, traceLines, type TraceParent } from './trace-context.ts';

/** One request in its trace. */
export interface TracedRequest extends Omit<RequestTrace, 'origin'> {
  readonly sampled: boolean;
  /** Span of the request to the origin. */
  readonly originSpanId: string;
  /** Ready lines for the origin, in place of the client's. */
  readonly lines: string;
}

const idBytes = 8;
const pooledIds = 512;

/** The tracer of one thread. */
export class Tracer {
  private readonly clock: Clock;
  private readonly onDropped: () => void;
  private readonly random: () => number;
  private readonly pool = Buffer.alloc(idBytes * pooledIds);
  private poolAt = this.pool.length;
  private settings: TracingSettings | null = null;
  private perSecond = 0;
  private tokens = 0;
  private filledUs = 0;

  /** `onDropped` is called where the bound of a second leaves spans out; `random` gives 0 to 1. */
  constructor(clock: Clock, onDropped: () => void, random: () => number = Math.random) {
    this.clock = clock;
    this.onDropped = onDropped;
    this.random = random;
  }

  /** Uses these settings from now on; the bound of a second is shared by `threads`. */
  use(settings: TracingSettings | null, threads: number): void {
    const perSecond = settings === null ? 0 : Math.max(1, settings.perSecond / threads);
    if (settings !== null && (this.settings === null || perSecond !== this.perSecond)) {
      this.tokens = perSecond;
      this.filledUs = this.clock.monotonicUs();
    }
    this.settings = settings;
    this.perSecond = perSecond;
  }

  /**
   * The place of a request in its trace; null while tracing is off. `proved`: a trust profile
   * proves who sent it. `startedUs`: when it came, by the clock that only goes forward.
   */
  begin(
    head: HeadScanner,
    bytes: Buffer,
    proved: boolean,
    startedUs: number,
  ): TracedRequest | null {
    const { settings } = this;
    if (settings === null) return null;
    const { parent, state } = readContext(head, bytes);
    const follows = settings.parents && proved && parent !== null;
    const wanted = follows ? parent.sampled : this.random() < settings.ratio;
    const sampled = wanted && this.takeToken();
    const traceId = parent?.traceId ?? this.nextId() + this.nextId();
    const spanId = this.nextId();
    // The span of the request to the origin; what is not sent needs one id only.
    const originSpanId = sampled ? this.nextId() : spanId;
    const ageUs = this.clock.monotonicUs() - startedUs;
    return {
      traceId,
      spanId,
      parentId: parent?.spanId ?? '',
      state,
      startUs: Math.round(this.clock.nowMs() * 1000 - ageUs),
      sampled,
      originSpanId,
      lines: traceLines({ traceId, spanId: originSpanId, sampled }, state),
    };
  }

  /** A bucket that fills evenly and holds one second. */
  private takeToken(): boolean {
    const nowUs = this.clock.monotonicUs();
    const filled = ((nowUs - this.filledUs) * this.perSecond) / 1_000_000;
    this.tokens = Math.min(this.perSecond, this.tokens + filled);
    this.filledUs = nowUs;
    if (this.tokens < 1) {
      this.onDropped();
      return false;
    }
    this.tokens--;
    return true;
  }

  /** 16 hexadecimal digits. Cost: one call for random bytes per 512 ids. */
  private nextId(): string {
    if (this.poolAt === this.pool.length) {
      randomFillSync(this.pool);
      this.poolAt = 0;
    }
    const start = this.poolAt;
    this.poolAt += idBytes;
    const id = this.pool.toString('hex', start, this.poolAt);
    // All zero is no id.
    return id === noId ? this.nextId() : id;
  }
}

const noId = '0'.repeat(16);

/** What the client sent: a second `traceparent`, or none, makes a new trace without a state. */
function readContext(
  { spans, kinds, fieldCount }: HeadScanner,
  bytes: Buffer,
): { readonly parent: TraceParent | null; readonly state: string } {
  let parents = 0;
  let text = '';
  let states: string[] | null = null;
  for (let i = 0; i < fieldCount; i++) {
    const kind = kinds[i]! & KIND_MASK;
    if (kind !== FIELD.TRACEPARENT && kind !== FIELD.TRACESTATE) continue;
    const at = SPAN.fields + 4 * i;
    const value = bytes.toString('latin1', spans[at + 2]!, spans[at + 3]!);
    if (kind === FIELD.TRACESTATE) (states ??= []).push(value);
    else if (++parents === 1) text = value;
  }
  const parent = parents === 1 ? readTraceParent(text) : null;
  const state = parent === null || states === null ? '' : readTraceState(states);
  return { parent, state };
}
