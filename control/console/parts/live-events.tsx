/** Owns the list that follows security events as they happen, drawn once a frame at most. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { LogService, type SecurityEvent } from '../../../proto/gen/waf/v1/log_pb.ts';
import { messageOf } from '../call.ts';
import { transport } from '../session.ts';
import { exactNumber, t } from '../text/text.ts';
import { EventTable } from './event-table.tsx';

const logs = createClient(LogService, transport);
/** Events that a live view keeps; older ones leave it. */
const liveEventsMax = 200;

/** Security events of a site as they happen, of all sites for ''. */
export function LiveEvents({ siteId }: { readonly siteId: string }): JSX.Element {
  const [events, setEvents] = useState<readonly SecurityEvent[]>([]);
  const [skipped, setSkipped] = useState(0n);
  const [error, setError] = useState('');
  useEffect(() => {
    const stop = new AbortController();
    let fresh: SecurityEvent[] = [];
    let frame = 0;
    const draw = (): void => {
      const newest = fresh;
      fresh = [];
      frame = 0;
      setEvents((before) => [...newest, ...before].slice(0, liveEventsMax));
    };
    const arrived = (event: SecurityEvent): void => {
      fresh = [event, ...fresh].slice(0, liveEventsMax);
      if (frame === 0) frame = window.requestAnimationFrame(draw);
    };
    const follow = async (): Promise<void> => {
      for await (const part of logs.tailSecurityEvents({ siteId }, { signal: stop.signal })) {
        setError('');
        const { event, skippedEvents } = part;
        if (skippedEvents > 0n) setSkipped((before) => before + skippedEvents);
        if (event !== undefined) arrived(event);
      }
    };
    let timer = 0;
    const run = (): void => {
      follow()
        .catch((thrown: unknown) => {
          if (!stop.signal.aborted) setError(messageOf(thrown));
        })
        .finally(() => {
          if (!stop.signal.aborted) timer = window.setTimeout(run, 2000);
        });
    };
    run();
    return () => {
      stop.abort();
      window.cancelAnimationFrame(frame);
      window.clearTimeout(timer);
    };
  }, [siteId]);
  return (
    <>
      <p class="quiet" aria-live="polite">
        {error === '' ? t('attacks.liveOn') : error}
        {events.length === liveEventsMax &&
          ` ${t('attacks.liveMax', { count: exactNumber(liveEventsMax) })}`}
        {skipped > 0n && ` ${t('attacks.skipped', { count: exactNumber(skipped) })}`}
      </p>
      <EventTable events={events} empty={t('common.none')} />
    </>
  );
}
