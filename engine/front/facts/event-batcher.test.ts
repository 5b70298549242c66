/** Events in batches: bounded in bytes, shortened before they are lost, every loss told. */

import { expect, test } from 'vitest';
import { frontLimits } from '../../../base/delivery-limits.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { passVerdict, type MatchedRule } from '../../contract/verdict.ts';
import { EventBatcher, type EventFate } from './event-batcher.ts';
import { unpackEvents, type EventBatch } from './event-wire.ts';

function match(ruleId: number, change: Partial<MatchedRule> = {}): MatchedRule {
  return {
    ...{ ruleId, phase: 2, message: 'm', data: 'd'.repeat(100), severity: 4, tags: ['t'] },
    ...{ operator: '@rx x', disruptive: false, file: 'f', line: 1, rev: '', ver: '' },
    ...{ maturity: 0, accuracy: 0, log: true, auditLog: true },
    matched: Array.from({ length: 3 }, (_, at) => ({ name: `ARGS:${at}`, value: 'v' })),
    ...change,
  };
}

const rules = [
  ...Array.from({ length: 20 }, (_, at) => match(at + 1)),
  match(21, { severity: 2, score: 5 }),
  match(22, { disruptive: true }),
  match(23, { log: false }),
];

function event(number: number): RequestEvent {
  return {
    ...{ requestId: String(number), siteId: 's', receivedAtMs: 1, durationUs: 1, originUs: -1 },
    ...{ clientIp: '::1', clientPort: 1, method: 'GET', host: 'h', target: '/', endpoint: null },
    ...{ httpVersion: 'HTTP/1.1', userAgent: '', status: 403, outcome: 'blocked' as const },
    ...{ blocked: true, refusal: null, bytesIn: 0, bytesOut: 0 },
    transaction: {
      verdict: { action: 'block', status: 403, ruleId: 22, phase: 2 },
      ...{ matchedRules: rules, inboundScore: 5, outboundScore: 0, detectionOnly: false },
      inspectionUs: 1,
    },
  };
}

const weigh = ({ records, texts, words, numbers }: EventBatch): number =>
  records.length + texts.length + words.length + numbers.byteLength;

test('what waits for a busy receiver is bounded in bytes; first detail goes, then events', () => {
  const sent: EventBatch[] = [];
  const fates: EventFate[] = [];
  const batcher = new EventBatcher((batch) => sent.push(batch));
  for (let number = 0; number < 20_000; number++) fates.push(batcher.add(event(number)));

  expect(sent).toHaveLength(frontLimits.eventBatchesSentMax);
  const counted = (fate: EventFate): number => fates.filter((one) => one === fate).length;
  expect(fates.indexOf('shortened')).toBeGreaterThan(fates.lastIndexOf('kept'));
  expect(fates.indexOf('lost')).toBeGreaterThan(fates.lastIndexOf('shortened'));
  // More events find room in the second half than in the first.
  expect(counted('shortened')).toBeGreaterThan(counted('kept') * 1.5);

  while (batcher.add(event(-1)) === 'lost') batcher.taken();
  batcher.flush(true);
  const events = sent.flatMap((batch) => unpackEvents(batch));
  expect(events).toHaveLength(counted('kept') + counted('shortened') + 1);
  expect(sent.reduce((sum, { dropped }) => sum + dropped, 0)).toBeGreaterThanOrEqual(
    counted('lost'),
  );
  const bytes = sent.reduce((sum, batch) => sum + weigh(batch), 0);
  expect(bytes).toBeLessThan(frontLimits.eventQueueBytesMax * 1.2);
  expect(events[0]?.transaction?.matchedRules).toEqual(rules);

  const short = events[counted('kept')]?.transaction;
  const kept = short?.matchedRules ?? [];
  expect(kept.map(({ ruleId }) => ruleId)).toEqual([1, 2, 3, 4, 5, 6, 21, 22]);
  expect(short?.matchesLeftOut).toBe(14);
  expect(kept.every(({ matched }) => matched.length === 1)).toBe(true);
});

test('an event that says little is not shortened, and one that waits alone leaves in time', async () => {
  const sent: EventBatch[] = [];
  const batcher = new EventBatcher((batch) => sent.push(batch));
  const tls = { version: 'TLSv1.3', ja4: 't13d1516h2_8daaf6152771_e5627efa2ab1' };
  const place = { upstreamId: 'pool', routeId: 'route' };
  const plain = { ...event(1), transaction: null, tls, ...place };
  expect(batcher.add(plain)).toBe('kept');
  expect(sent).toEqual([]);
  await expect.poll(() => sent.length).toBe(1);
  expect(unpackEvents(sent[0]!)).toEqual([plain]);
});

test('a record of a request that passed keeps the limits that it reached', () => {
  const sent: EventBatch[] = [];
  const batcher = new EventBatcher((batch) => sent.push(batch));
  const passed = event(1);
  const transaction = {
    ...passed.transaction!,
    ...{ verdict: passVerdict, matchedRules: [], inboundScore: 0, limitsReached: ['body-bytes'] },
  };
  batcher.add({ ...passed, transaction });
  batcher.flush(true);
  const [read] = sent.flatMap((batch) => unpackEvents(batch));
  expect(read?.transaction?.limitsReached).toEqual(['body-bytes']);
});
