/** The queue of records: what one request holds, and what becomes of the rest at the end. */

import { afterEach, expect, test, vi } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { otlpLimits } from '../../limits/otlp-limits.ts';
import { RecordExporter } from './record-exporter.ts';
import type { PostResult } from './otlp-post.ts';

afterEach(() => vi.useRealTimers());

type Send = (count: number, ending: AbortSignal) => Promise<PostResult>;

const taken: PostResult = { state: 'taken', rejected: 0 };

function exporter(send: Send, batchRecords = 512): RecordExporter {
  return new RecordExporter({
    ...{ queueRecords: 4_096, batchRecords, scheduleDelayMs: 0 },
    send: (records, ending) => send(records.length, ending),
    onState: () => undefined,
  });
}

test('a request holds a bounded number of bytes, but one record at least', async () => {
  const sent: number[] = [];
  const one = exporter((count) => {
    sent.push(count);
    return Promise.resolve(taken);
  });
  const { batchBytesMax } = otlpLimits;
  for (const bytes of [2 * batchBytesMax, batchBytesMax / 2, batchBytesMax / 2, 1]) {
    one.offer(() => ({}), bytes);
  }
  expect(await eventually(() => one.stats().written === 4)).toBe(true);
  expect(sent).toEqual([1, 2, 1]);
});

test('all that waits is sent at the end', async () => {
  const one = exporter(() => Promise.resolve(taken), 10);
  for (let at = 0; at < 35; at++) one.offer(() => ({}), 1);
  await one.close();
  expect(one.stats()).toMatchObject({ written: 35, dropped: 0, pendingItems: 0 });
});

test('a collector that answers nothing before the end is given up, and what waits is counted', async () => {
  const one = exporter(
    (_count, ending) =>
      new Promise((resolve) => {
        const late: PostResult = { state: 'busy', problem: 'late', waitMs: 0 };
        ending.addEventListener('abort', () => resolve(late));
      }),
  );
  for (let at = 0; at < 5; at++) one.offer(() => ({}), 1);
  await one.close();
  expect(one.stats()).toMatchObject({ written: 0, dropped: 5, pendingItems: 0 });
});

test('a record that comes when the queue was just emptied is sent, too', async () => {
  let one: RecordExporter | null = null;
  let late = 3;
  const made = exporter(() => {
    const answer = Promise.resolve(taken);
    // After the exporter has noted the answer, before the next turn of the event loop.
    const offer = (hops: number): void => {
      if (hops > 0) queueMicrotask(() => offer(hops - 1));
      else one?.offer(() => ({}), 1);
    };
    if (late-- > 0) offer(late + 1);
    return answer;
  });
  one = made;
  made.offer(() => ({}), 1);
  expect(await eventually(() => made.stats().written === 4)).toBe(true);
});
