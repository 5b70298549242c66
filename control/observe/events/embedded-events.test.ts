/** Events in this process: what all drivers do; sealed, bounded, taken over, forgotten. */

import { expect, test } from 'vitest';
import { securityFactVersion } from '../../../base/protocol-versions.ts';
import {
  any,
  idsOf,
  keptSince,
  securityBatch,
  startMs,
  testEventStore,
} from '../../../test/support/event-store-suite.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { prefixRange } from '../../store/kv.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { securityKind } from '../security-event.ts';
import { openEventStore } from './embedded-events.ts';
import { EventLog } from './event-log.ts';

const { tenantId } = any;
const hourMs = 3_600_000;

testEventStore('embedded', () => {
  const kv = openMemoryKv();
  const log = new EventLog(kv, 'security', securityKind);
  return Promise.resolve({ store: openEventStore(kv), seal: () => log.seal() });
});

test('a full tail becomes a segment of a fraction of its size, and its rows go', async () => {
  const kv = openMemoryKv();
  const store = openEventStore(kv);
  const size = 512;
  for (let seq = 1; seq <= observationLimits.segmentEventsMin / size; seq++) {
    await store.ingest('security', securityBatch(seq, size), securityFactVersion);
  }
  const waiting = store.use().security.bytes;
  await store.settled();
  expect([...kv.range(prefixRange('evt\u0000'))]).toEqual([]);
  expect([...kv.range(prefixRange('evi\u0000'))]).toHaveLength(1);
  const { events, bytes } = store.use().security;
  expect(events).toBe(observationLimits.segmentEventsMin);
  expect(bytes).toBeLessThan(waiting);
  const stored = ['evs\u0000', 'evf\u0000'].flatMap((parts) => [...kv.range(prefixRange(parts))]);
  expect(stored.reduce((sum, { value }) => sum + value.length, 0)).toBe(bytes);
});

test('what is too old goes, a whole segment with all its parts; the rest stays', async () => {
  const kv = openMemoryKv();
  const store = openEventStore(kv);
  const log = new EventLog(kv, 'security', securityKind);
  for (const [seq, atMs] of [
    [1, startMs],
    [2, startMs + 10 * hourMs],
  ] as const) {
    await store.ingest('security', securityBatch(seq, 20, atMs), securityFactVersion);
    await log.seal();
  }
  const nothing = keptSince(0);
  const since = { security: nothing, access: nothing, access_sample: nothing, error: nothing };
  await store.forget({ ...since, security: keptSince(startMs + 5 * hourMs) });
  expect(store.count()).toBe(20);
  expect((await idsOf(store, 'security', {}))[0]).toBe('r-2-19');
  await store.forget({ ...since, security: keptSince(startMs + 20 * hourMs) });
  for (const parts of ['evs\u0000', 'evf\u0000']) {
    expect([...kv.range(prefixRange(parts))]).toEqual([]);
  }
  expect(store.use().security).toEqual({ events: 0, bytes: 0 });
});

test('rows of the layout before segments are taken over', async () => {
  const kv = openMemoryKv();
  const earlier = { tenantId, agentId: 'a', blocked: true, ruleIds: ['1'], clientIp: '192.0.2.1' };
  await kv.write((writer) => {
    for (let at = 1; at <= 3; at++) {
      const id = `0000170000000${at}-00000000000${at}`;
      const event = { ...earlier, id, requestId: `old-${at}`, uniqueId: `old-${at}` };
      writer.put(`e\u0000${id}`, Buffer.from(JSON.stringify(event)));
      writer.put(`r\u0000old-${at}\u0000${id}`, Uint8Array.of(1));
    }
  });
  const store = openEventStore(kv);
  await store.settled();
  expect(await idsOf(store, 'security', { networks: ['192.0.2.0/24'] })).toEqual([
    'old-3',
    'old-2',
    'old-1',
  ]);
  expect([...kv.range(prefixRange('e\u0000')), ...kv.range(prefixRange('r\u0000'))]).toEqual([]);
  expect(store.count()).toBe(3);
});
