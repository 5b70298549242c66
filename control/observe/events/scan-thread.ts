/**
 * Entry of the thread that answers long questions about events, beside the one that serves the API:
 * with a read transaction of its own, on the environment that the process has open.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { toAppError } from '../../../base/errors.ts';
import { openLmdbKv } from '../../store/lmdb-kv.ts';
import type { EventLane } from './event-kind.ts';
import {
  answerQuestion,
  eventKinds,
  type EventPlaces,
  type KindName,
  type Question,
} from './event-questions.ts';
import type { FromScanThread, ToScanThread } from './scan-messages.ts';
import { TailCache } from './tail.ts';

const { folder } = workerData as { readonly folder: string };
const port = parentPort!;
const kv = openLmdbKv({ folder, durable: false, readOnly: true, readsAhead: false });
const tails = new Map<EventLane, TailCache>(
  Object.values(eventKinds).flatMap(({ kind, lanes }) =>
    lanes.map((lane) => [lane, new TailCache(lane, kind.timeField)] as const),
  ),
);
const places: EventPlaces = {
  reader: kv,
  tail: (lane) => tails.get(lane)!.read(kv),
};
const asked = new Map<number, AbortController>();

port.on('message', (message: ToScanThread) => {
  if (message.type === 'ask') return void answer(message.id, message.question);
  if (message.type === 'cancel') return asked.get(message.id)?.abort();
  void kv.close().then(() => port.close());
});

async function answer(id: number, question: Question): Promise<void> {
  const control = new AbortController();
  asked.set(id, control);
  try {
    send({
      type: 'answer',
      id,
      value: await answerQuestion(places, question, { signal: control.signal }),
    });
  } catch (thrown) {
    const { code, message } = toAppError(thrown, 'events_unreadable');
    send({ type: 'answer', id, error: { code, message } });
  } finally {
    asked.delete(id);
  }
}

/**
 * Looks for what no event has: reads and indexes the tail, and walks over the segments, so that
 * the first question that waits for this thread finds it as later ones do.
 */
async function warmUp(): Promise<void> {
  for (const kind of Object.keys(eventKinds) as KindName[]) {
    const filter = {
      ...{ tenantId: '', startMs: 0, endMs: 8e13, networks: [], pathPrefix: '', contains: [] },
      anyOf: [{ field: 'site', values: ['\u0000'] }],
    };
    const page = { beforeId: '', offset: 0, limit: 1 } as const;
    await answerQuestion(places, { ask: 'page', kind, filter, ...page }, {});
  }
}

try {
  await warmUp();
} catch {
  // Who asks hears what is wrong; a thread that ended would leave long work to the API's.
}
send({ type: 'ready' });

function send(message: FromScanThread): void {
  port.postMessage(message);
}
