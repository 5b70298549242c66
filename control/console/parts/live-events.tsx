/**
 * The list that follows security events as they happen, with a bound on what it keeps. Every event
 * is counted, also those that are not shown.
 */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  LogService,
  type QuerySecurityEventsRequestSchema,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { messageOf } from '../call.ts';
import { said } from '../text/sentences.ts';
import { streamTransport } from '../session.ts';
import { exactNumber, t } from '../text/text.ts';
import { EventTable } from './event-table.tsx';
import type { Live } from './live-feed.ts';

const logs = createClient(LogService, streamTransport);
/** Events that a live view keeps; older ones leave it. */
const liveEventsMax = 1_000;

/** The filters, as calls take them. */
type Query = MessageInitShape<typeof QuerySecurityEventsRequestSchema>;

const nothing: Live = { events: [], count: 0, skipped: 0n };

/** Security events as they happen: those that the list of the query would show. */
export function LiveEvents({ query }: { readonly query: Query }): JSX.Element {
  const [live, setLive] = useState(nothing);
  const [error, setError] = useState('');
  const [paused, setPaused] = useState(false);
  const isPaused = useRef(paused);
  isPaused.current = paused;
  const drawSoon = useRef((): void => undefined);
  useEffect(() => {
    const fail = (thrown: unknown): void => setError(thrown === null ? '' : messageOf(thrown));
    let stop: (() => void) | null = () => undefined;
    const open = (signal: AbortSignal) => logs.tailSecurityEvents({ query }, { signal });
    // Few follow events, and the page is as large as it may be.
    import('./live-feed.ts').then(({ follow }) => {
      if (stop === null) return;
      stop = follow({ open, keptMax: liveEventsMax, isPaused, drawSoon, setLive, fail });
    }, fail);
    return () => {
      stop?.();
      stop = null;
    };
  }, []);
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
      <EventTable events={events} empty={t('attacks.noneYet')} margin={paused ? undefined : 150} />
    </>
  );
}
