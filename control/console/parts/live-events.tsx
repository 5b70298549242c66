/**
 * The list that follows security events as they happen: drawn a few times a second at most, with a
 * bound on what it keeps. Every event is counted, also those that are not shown.
 */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { LogService, type SecurityEvent } from '../../../proto/gen/waf/v1/log_pb.ts';
import { messageOf } from '../call.ts';
import { said } from '../text/sentences.ts';
import { streamTransport } from '../session.ts';
import { exactNumber, t } from '../text/text.ts';
import { EventTable } from './event-table.tsx';
import { paced } from './paced.ts';

const logs = createClient(LogService, streamTransport);
/** Events that a live view keeps; older ones leave it. */
const liveEventsMax = 1_000;
const againMs = 2_000;
/** Nobody reads faster, and a table of rows that are all new is the dearest that is drawn. */
const drawEveryMs = 250;

interface Live {
  readonly events: readonly SecurityEvent[];
  /** Events since the view was opened: those that came, and those that the service left out. */
  readonly count: number;
  readonly skipped: bigint;
}

const nothing: Live = { events: [], count: 0, skipped: 0n };

/** Security events of a site as they happen, of all sites for ''. */
export function LiveEvents({ siteId }: { readonly siteId: string }): JSX.Element {
  const [live, setLive] = useState(nothing);
  const [error, setError] = useState('');
  const [paused, setPaused] = useState(false);
  const isPaused = useRef(paused);
  isPaused.current = paused;
  const drawSoon = useRef((): void => undefined);
  useEffect(() => follow(siteId, isPaused, drawSoon, setLive, setError), [siteId]);
  useEffect(() => drawSoon.current(), [paused]);
  const { events, count, skipped } = live;
  return (
    <>
      <p class="quiet" aria-live="polite">
        {error === '' ? t(paused ? 'attacks.paused' : 'attacks.liveOn') : said(error)}
      </p>
      <p class="actions live">
        <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {t('attacks.pause')}
        </button>
        <span class="quiet" data-count={count}>
          {t('attacks.liveCount', { count: exactNumber(count) })}
          {events.length === liveEventsMax &&
            ` ${t('attacks.liveMax', { count: exactNumber(liveEventsMax) })}`}
          {skipped > 0n && ` ${t('attacks.skipped', { count: exactNumber(skipped) })}`}
        </span>
      </p>
      <EventTable events={events} empty={t('attacks.noneYet')} live={!paused} />
    </>
  );
}

/** Reads the stream until it is stopped, and opens it again where it breaks. */
function follow(
  siteId: string,
  paused: { readonly current: boolean },
  drawSoon: { current: () => void },
  setLive: (next: (before: Live) => Live) => void,
  setError: (error: string) => void,
): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const counted = { count: 0, skipped: 0n };
  setLive(() => nothing);
  // The oldest first.
  let fresh: SecurityEvent[] = [];
  let frame = 0;
  let drawTimer = 0;
  let drawnMs = -drawEveryMs;
  let timer = 0;
  drawSoon.current = () => {
    if (drawTimer !== 0) return;
    const waitMs = Math.max(0, drawnMs + drawEveryMs - performance.now());
    drawTimer = window.setTimeout(() => (frame = window.requestAnimationFrame(draw)), waitMs);
  };
  const draw = (): void => {
    drawTimer = 0;
    drawnMs = performance.now();
    const now = { ...counted };
    if (paused.current) {
      setLive(({ events }) => ({ ...now, events }));
      return;
    }
    const newest = fresh.toReversed();
    fresh = [];
    setLive(({ events }) => ({
      ...now,
      events: [...newest, ...events.slice(0, liveEventsMax)].slice(0, liveEventsMax),
    }));
  };
  const read = async (): Promise<void> => {
    for await (const { event, skippedEvents } of paced(
      logs.tailSecurityEvents({ siteId }, { signal }),
    )) {
      setError('');
      counted.skipped += skippedEvents;
      counted.count += Number(skippedEvents);
      if (event !== undefined) {
        counted.count += 1;
        fresh.push(event);
        // A hidden page draws no frames.
        if (fresh.length >= 2 * liveEventsMax) fresh = fresh.slice(-liveEventsMax);
      }
      drawSoon.current();
    }
  };
  const run = (): void => {
    read()
      .catch((thrown: unknown) => {
        if (!signal.aborted) setError(messageOf(thrown));
      })
      .finally(() => {
        if (!signal.aborted) timer = window.setTimeout(run, againMs);
      });
  };
  run();
  return () => {
    stop.abort();
    window.clearTimeout(drawTimer);
    window.cancelAnimationFrame(frame);
    window.clearTimeout(timer);
  };
}
