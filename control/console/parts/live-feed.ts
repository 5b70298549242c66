/**
 * Reads the stream of security events for a live view, and has it drawn a few times a second at
 * most. Imports nothing but types and what is its own: it is loaded when a view is opened, and
 * must not part the code that pages share.
 */

import type {
  SecurityEvent,
  TailSecurityEventsResponse,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { paced } from './paced.ts';

const againMs = 2_000;
/** Nobody reads faster, and a table of rows that are all new is the dearest that is drawn. */
const drawEveryMs = 250;

/** What a live view shows. */
export interface Live {
  readonly events: readonly SecurityEvent[];
  /** Events since the view was opened: those that came, and those that the service left out. */
  readonly count: number;
  readonly skipped: bigint;
}

/** What is read, and what becomes of it. */
interface Feed {
  readonly open: (signal: AbortSignal) => AsyncIterable<TailSecurityEventsResponse>;
  /** Events that the view keeps; older ones leave it. */
  readonly keptMax: number;
  readonly isPaused: { readonly current: boolean };
  /** Is set to what has the view drawn anew. */
  readonly drawSoon: { current: () => void };
  readonly setLive: (next: (before: Live) => Live) => void;
  /** Told why the stream broke, and null once it is read again. */
  readonly fail: (thrown: unknown) => void;
}

/** Reads the stream until it is stopped, and opens it again where it breaks. */
export function follow({ open, keptMax, isPaused, drawSoon, setLive, fail }: Feed): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const counted = { count: 0, skipped: 0n };
  // The oldest first.
  let fresh: SecurityEvent[] = [];
  let frame = 0;
  let drawTimer = 0;
  let drawnMs = -drawEveryMs;
  let againTimer = 0;
  drawSoon.current = () => {
    if (drawTimer !== 0) return;
    const waitMs = Math.max(0, drawnMs + drawEveryMs - performance.now());
    drawTimer = window.setTimeout(() => (frame = window.requestAnimationFrame(draw)), waitMs);
  };
  const draw = (): void => {
    drawTimer = 0;
    drawnMs = performance.now();
    const now = { ...counted };
    if (isPaused.current) {
      setLive(({ events }) => ({ ...now, events }));
      return;
    }
    const newest = fresh.toReversed();
    fresh = [];
    setLive(({ events }) => ({ ...now, events: [...newest, ...events].slice(0, keptMax) }));
  };
  const read = async (): Promise<void> => {
    for await (const { event, skippedEvents } of paced(open(signal))) {
      fail(null);
      counted.skipped += skippedEvents;
      counted.count += Number(skippedEvents);
      if (event !== undefined) {
        counted.count += 1;
        fresh.push(event);
        // A hidden page draws no frames.
        if (fresh.length >= 2 * keptMax) fresh = fresh.slice(-keptMax);
      }
      drawSoon.current();
    }
  };
  const run = (): void => {
    read()
      .catch((thrown: unknown) => {
        if (!signal.aborted) fail(thrown);
      })
      .finally(() => {
        if (!signal.aborted) againTimer = window.setTimeout(run, againMs);
      });
  };
  run();
  return () => {
    stop.abort();
    window.clearTimeout(drawTimer);
    window.cancelAnimationFrame(frame);
    window.clearTimeout(againTimer);
  };
}
