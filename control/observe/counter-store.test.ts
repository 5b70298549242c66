/** The proof that counts are exact: added up, taken once, shown as metrics. */

import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  CounterBatchSchema,
  CounterDeltaSchema,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { crc32c } from '../../base/crc32c.ts';
import { durationBoundsUs } from '../../engine/contract/counters.ts';
import { metricsText, trafficMetrics } from '../api/metrics/metrics-text.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { metricPayloadVersion } from '../../base/protocol-versions.ts';
import { durationBoundsSeconds, openCounterStore } from './counter-store.ts';
import { addGuardRuleHits, guardRuleFamily, readGuardRuleHits } from './guard-rule-hits.ts';

const delta = (siteId: string, requests: bigint, status: string) =>
  create(CounterDeltaSchema, {
    siteId,
    policyId: 'p',
    requests,
    bytesIn: 10n,
    durationUs: 2_000n * requests,
    durations: [0n, 0n, requests],
    entries: [{ family: 'status', key: status, count: requests }],
  });

function batchOf(batchSeq: bigint, deltas: ReturnType<typeof delta>[], toMs = 0n) {
  const payload = toBinary(CounterBatchSchema, create(CounterBatchSchema, { deltas, toMs }));
  const run = { agentId: 'local', tenantId: 't', bootId: 'ab' };
  return { ...run, batchSeq, crc32c: crc32c(payload), payload };
}

test('adds up by site and policy, and takes each batch once', async () => {
  const store = openCounterStore(openMemoryKv());
  const first = batchOf(1n, [delta('a', 3n, '200'), delta('b', 1n, '403')]);
  expect(await store.ingest(first, metricPayloadVersion)).toBe('stored');
  expect(await store.ingest(first, metricPayloadVersion)).toBe('repeated');
  await store.ingest(batchOf(2n, [delta('a', 2n, '403')]), metricPayloadVersion);
  const [a, b, none] = store.list();
  expect(a).toMatchObject({ tenantId: 't', siteId: 'a', requests: 5, bytesIn: 20 });
  expect(a?.entries['status']).toEqual({ 200: 3, 403: 2 });
  expect(a?.durations.slice(0, 4)).toEqual([0, 0, 5, 0]);
  expect(b?.requests).toBe(1);
  expect(none).toBeUndefined();
});

test('decisions of a guard are counted by rule, with the last time, apart from sites', async () => {
  const nowMs = 1_700_000_000_000;
  const store = openCounterStore(openMemoryKv(), undefined, { nowMs: () => nowMs });
  const decided = (count: bigint) => {
    const one = delta('a', count, '403');
    const entry = { family: 'guard_rule', key: 'binding', count };
    one.entries.push(create(CounterDeltaSchema, { entries: [entry] }).entries[0]!);
    return one;
  };
  const at = (batchSeq: bigint, toMs: number, count: bigint) =>
    store.ingest(batchOf(batchSeq, [decided(count)], BigInt(toMs)), metricPayloadVersion);
  await at(1n, nowMs - 2_000, 3n);
  await at(2n, nowMs - 5_000, 1n);
  expect(store.guardRuleHits('t', 'binding')).toEqual({ hits: 4, lastMs: nowMs - 2_000 });
  await at(3n, nowMs + 60_000, 1n);
  expect(store.guardRuleHits('t', 'binding')).toEqual({ hits: 5, lastMs: nowMs });
  expect(store.guardRuleHits('other', 'binding')).toBeNull();
  expect(store.guardRuleHits('t', 'another')).toBeNull();
  expect(store.list()[0]?.entries).toEqual({ status: { 403: 5 } });
});

test('the rule that decided nothing for longest gives its place to a new one', async () => {
  const store = openCounterStore(openMemoryKv());
  const { countedGuardRulesMax } = observationLimits;
  for (const from of [0, 1]) {
    const many = delta('a', 1n, '403');
    const keys = from === 0 ? Array.from({ length: countedGuardRulesMax }, (_, at) => at) : [-1];
    const entries = keys.map((key) => ({ family: 'guard_rule', key: `r${key}`, count: 1n }));
    many.entries.push(...create(CounterDeltaSchema, { entries }).entries);
    await store.ingest(batchOf(BigInt(from + 1), [many], BigInt(from + 1)), metricPayloadVersion);
  }
  const held = ['r-1', 'r0', 'r1'].map((id) => store.guardRuleHits('t', id)?.hits ?? 0);
  expect(held.toSorted((one, other) => one - other)).toEqual([0, 1, 1]);
  expect(held[0]).toBe(1);
});

test('many new rules cost one reading of those that are known', async () => {
  const kv = openMemoryKv();
  let ranges = 0;
  const entries = Array.from({ length: 500 }, (_, at) => {
    return { family: guardRuleFamily, key: `r${at}`, count: 1n };
  });
  await kv.write((writer) => {
    const range: typeof writer.range = (asked) => (ranges++, writer.range(asked));
    addGuardRuleHits({ ...writer, range }, 't', 1, create(CounterDeltaSchema, { entries }));
  });
  expect(ranges).toBe(1);
  expect(readGuardRuleHits(kv, 't', 'r499')).toEqual({ hits: 1, lastMs: 1 });
});

test('what has no place of its own is counted among the others', async () => {
  const store = openCounterStore(openMemoryKv());
  const many = delta('a', 1n, '200');
  const { countedKeysMax } = observationLimits;
  for (let at = 0; at < countedKeysMax + 5; at++) {
    const entry = { family: 'reason', key: `reason-${at}`, count: 2n };
    many.entries.push(create(CounterDeltaSchema, { entries: [entry] }).entries[0]!);
  }
  await store.ingest(batchOf(1n, [many]), metricPayloadVersion);
  const reasons = store.list()[0]?.entries['reason'] ?? {};
  expect(reasons['(other)']).toBe(10);
  const sum = Object.values(reasons).reduce((all, one) => all + one, 0);
  expect(sum).toBe(2 * (countedKeysMax + 5));
});

test('another run of a node counts from one again', async () => {
  const store = openCounterStore(openMemoryKv());
  const batch = batchOf(1n, [delta('a', 1n, '200')]);
  await store.ingest(batch, metricPayloadVersion);
  expect(await store.ingest({ ...batch, bootId: 'cd' }, metricPayloadVersion)).toBe('stored');
  expect(store.list()[0]?.requests).toBe(2);
});

test('refuses what is damaged or not understood', async () => {
  const store = openCounterStore(openMemoryKv());
  const batch = batchOf(1n, [delta('a', 1n, '200')]);
  expect(await store.ingest({ ...batch, crc32c: 1 }, metricPayloadVersion)).toBe('crc');
  expect(await store.ingest(batch, metricPayloadVersion + 1)).toBe('schema');
  const noise = Buffer.from('noise');
  const noisy = { ...batch, payload: noise, crc32c: crc32c(noise) };
  expect(await store.ingest(noisy, metricPayloadVersion)).toBe('schema');
  expect(store.list()).toEqual([]);
});

test('nodes and control mean the same by the classes of durations', () => {
  expect(durationBoundsSeconds.map((bound) => Math.round(bound * 1e6))).toEqual(durationBoundsUs);
});

test('shows how many requests reached each limit of inspection', async () => {
  const store = openCounterStore(openMemoryKv());
  const limits = [
    { family: 'limit', key: 'json-name-bytes', count: 2n },
    { family: 'limit', key: 'cookies', count: 1n },
  ];
  const one = create(CounterDeltaSchema, {
    siteId: 'a',
    policyId: 'p',
    requests: 3n,
    entries: limits,
  });
  await store.ingest(batchOf(1n, [one]), metricPayloadVersion);
  await store.ingest(batchOf(2n, [one]), metricPayloadVersion);
  const text = metricsText(trafficMetrics(store.list(), () => 'A'));
  const labels = 'site_id="a",site="A",policy_id="p"';
  expect(text).toContain('# TYPE waf_inspection_limits counter\n');
  expect(text).toContain(`waf_inspection_limits_total{${labels},limit="json-name-bytes"} 4\n`);
  expect(text).toContain(`waf_inspection_limits_total{${labels},limit="cookies"} 2\n`);
});

test('shows them as OpenMetrics, with labels escaped and buckets that add up', async () => {
  const store = openCounterStore(openMemoryKv());
  await store.ingest(batchOf(1n, [delta('a', 3n, '200')]), metricPayloadVersion);
  const text = metricsText(trafficMetrics(store.list(), () => 'say "hi"\n'));
  const labels = String.raw`site_id="a",site="say \"hi\"\n",policy_id="p"`;
  expect(text).toContain(`waf_requests_total{${labels}} 3\n`);
  expect(text).toContain(`waf_responses_total{${labels},status="200"} 3\n`);
  expect(text).toContain(`waf_request_duration_seconds_bucket{${labels},le="0.001"} 0\n`);
  expect(text).toContain(`waf_request_duration_seconds_bucket{${labels},le="+Inf"} 3\n`);
  expect(text).toContain(`waf_request_duration_seconds_sum{${labels}} 0.006\n`);
  expect(text.endsWith('# EOF\n')).toBe(true);
});

test('a node whose clock is fast makes nothing too old that others counted', async () => {
  const nowMs = 1_760_000_000_000;
  const store = openCounterStore(openMemoryKv(), () => null, { nowMs: () => nowMs });
  const start = nowMs - 60_000;
  const api = {
    family: 'api_counts',
    key: `${start} contract binding path valid GET /a`,
    count: 1n,
  };
  const alert = { family: 'alert', key: 'b 2 sqli 942100', count: 1n };
  const send = (agentId: string, toMs: number) => {
    const one = create(CounterDeltaSchema, {
      ...{ siteId: 'a', requests: 1n },
      entries: [alert, api],
    });
    const message = create(CounterBatchSchema, { toMs: BigInt(toMs), deltas: [one] });
    const payload = toBinary(CounterBatchSchema, message);
    const head = { agentId, tenantId: 't', bootId: 'ab', batchSeq: 1n, crc32c: crc32c(payload) };
    return store.ingest({ ...head, payload }, metricPayloadVersion);
  };
  await send('local', nowMs);
  await send('fast', nowMs + 10 * 365 * 86_400_000);
  expect(store.traffic('minute', 't', 'a', start, nowMs + 1)).toHaveLength(1);
  expect(store.traffic('hour', 't', 'a', start - 3_600_000, nowMs + 1)).toHaveLength(1);
  expect([...store.walkAlertCounts('t', start, nowMs)]).toHaveLength(1);
  expect(store.detection('t', 'a', 'contract', start, nowMs)).toHaveLength(1);
});
