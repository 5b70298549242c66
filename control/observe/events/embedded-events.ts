/**
 * The driver that keeps events in this process, in LMDB: security, access and error events, each in
 * lanes of their own, found by what filters name. Takes each batch once, however often it comes.
 * Long questions are answered by a thread of their own.
 */

import type { SecurityEventJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { prefixRange, type Kv } from '../../store/kv.ts';
import { accessKind } from '../access-event.ts';
import { errorKind } from '../error-event.ts';
import type { EventStore } from '../event-store.ts';
import { paced } from '../paced.ts';
import { securityKind } from '../security-event.ts';
import { unpackEvent } from '../stored-event.ts';
import { askBriefly } from './ask-briefly.ts';
import { entryForm, type Entry } from './entry.ts';
import { eventLanes } from './event-kind.ts';
import { EventListeners } from './event-listeners.ts';
import { EventLog, passOn } from './event-log.ts';
import { answerQuestion, type EventPlaces } from './event-questions.ts';
import { canScanInThread, ScanClient } from './scan-client.ts';

/** Opens the events in `kv`; `folder` is where its LMDB environment lies, if it has one. */
export function openEventStore(kv: Kv, folder: string | null = null): EventStore {
  const logs = {
    security: new EventLog(kv, 'security', securityKind),
    access: new EventLog(kv, 'access', accessKind),
    access_sample: new EventLog(kv, 'access_sample', accessKind),
    error: new EventLog(kv, 'error', errorKind),
  } as const;
  const places: EventPlaces = { reader: kv, tail: (lane) => logs[lane].tail() };
  const thread = folder !== null && canScanInThread ? new ScanClient(folder) : null;
  const listeners = new EventListeners();
  const ended = new AbortController();
  const taking = adoptRows(kv, logs.security, ended.signal);
  for (const lane of eventLanes) logs[lane].indexTail();
  const settled = async (): Promise<void> => {
    await taking;
    for (const lane of eventLanes) await logs[lane].settled();
  };
  return {
    ingest: (lane, batch, schemaVersion) => {
      if (lane !== 'security' && lane !== 'error') return logs[lane].ingest(batch, schemaVersion);
      return logs[lane].ingest(batch, schemaVersion, (entries) => listeners.tell(lane, entries));
    },
    passAccess: (batch, schemaVersion) =>
      passOn(kv, 'access_export', accessKind, batch, schemaVersion, (entries) =>
        listeners.tell('access', entries),
      ),
    ask: (question, signal) => {
      if (thread === null) return answerQuestion(places, question, { signal });
      return askBriefly(places, thread, question, signal);
    },
    subscribe: (listener) => listeners.subscribe(listener),
    onFacts: (listener) => listeners.onFacts(listener),
    problem: () => '',
    count: () => logs.security.use().events,
    use: () => ({
      security: logs.security.use(),
      access: logs.access.use(),
      access_sample: logs.access_sample.use(),
      error: logs.error.use(),
    }),
    forget: async (since) => {
      for (const lane of eventLanes) {
        const { eventsMax, bytesMax } = observationLimits.eventLanes[lane];
        await logs[lane].forget(since[lane], eventsMax, bytesMax);
      }
    },
    settled,
    close: async () => {
      ended.abort();
      await settled();
      await thread?.close();
      await kv.close();
    },
  };
}

/**
 * Takes over rows of the layout before segments, some thousand a transaction, the newest first. A
 * process that ends meanwhile continues with its next start.
 */
async function adoptRows(
  kv: Kv,
  log: EventLog<SecurityEventJson>,
  signal: AbortSignal,
): Promise<void> {
  const rows = prefixRange('e\u0000');
  for (;;) {
    if (signal.aborted) return;
    const limit = observationLimits.segmentEventsMin;
    const found = [...kv.range({ ...rows, reverse: true, limit })].reverse();
    if (found.length === 0) return;
    const events: (readonly [string, SecurityEventJson])[] = [];
    for await (const { key, value } of paced(found)) events.push([key, unpackEvent(value)]);
    await log.adopt(
      events.map(([, event]) => entryOfJson(event)),
      (writer) => {
        for (const [key, { id = '', requestId = '' }] of events) {
          writer.remove(key);
          writer.remove(['r', requestId.slice(0, 256), id].join('\u0000'));
        }
      },
    );
  }
}

function entryOfJson(event: SecurityEventJson): Entry {
  const { id = '', agentId = '', tenantId = '' } = event;
  const bytes = Buffer.from(JSON.stringify(event));
  return { id, agentId, tenantId, form: entryForm.json, bytes };
}
