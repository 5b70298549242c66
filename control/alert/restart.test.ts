/**
 * Control that ends at any moment: its next process finds what was stored, opens no alert twice and
 * loses none. A clock of its own; each round here is a process that begins anew.
 */

import { create, toBinary } from '@bufbuild/protobuf';
import { afterAll, expect, test } from 'vitest';
import { crc32c } from '../../base/crc32c.ts';
import { silentLogger } from '../../base/log.ts';
import { metricPayloadVersion } from '../../base/protocol-versions.ts';
import { CounterBatchSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { startReceiver } from '../../test/support/alert-receivers.ts';
import { eventually } from '../../test/support/eventually.ts';
import type { AlertRuleRecord } from '../domain/alert/alert-records.ts';
import { openCounterStore } from '../observe/counter-store.ts';
import {
  alertChannels,
  alertChannelStates,
  alertDeliveries,
  alertRules,
  alerts,
  settingsId,
  systemSettings,
} from '../store/collections.ts';
import { ownDuties, sharedDuties } from '../store/duties.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openStore, type Store } from '../store/store.ts';
import { startDeliveries } from './deliver.ts';
import { startEvaluator } from './evaluator.ts';

const receiver = await startReceiver();
afterAll(() => receiver.close());

const base = { tenantId: 'default', createdAt: '', updatedAt: '' };
const ruleOf = (expression: object): AlertRuleRecord => ({
  ...{ ...base, id: 'rule', name: 'rule', enabled: true, severity: 'ALERT_SEVERITY_WARNING' },
  ...{ expression: JSON.stringify(expression), channelIds: ['channel'] },
});

/** Control's stores, a clock, and processes that begin anew. */
async function makeWorld(expression: object) {
  const time = { nowMs: Date.UTC(2030, 0, 1) };
  const clock = { nowMs: () => time.nowMs, monotonicUs: () => time.nowMs * 1000 };
  const store = await openStore(openMemoryKv(), clock);
  const counters = openCounterStore(openMemoryKv());
  const offline = { now: false };
  await store.write((tx) => {
    tx.put(alertRules, ruleOf(expression));
    tx.put(alertChannels, {
      ...{ ...base, id: 'channel', name: 'channel', enabled: true },
      ...{ kind: 'ALERT_CHANNEL_KIND_WEBHOOK', config: { url: `${receiver.url}/restart` } },
    });
    const values = { 'outgoing.allowed_networks': ['127.0.0.0/8'] };
    tx.put(systemSettings, { id: settingsId, values, updatedAt: '' });
  });
  const node = { id: 'n', name: 'n', lastSeenAt: '', current: true, applyError: '' };
  const facts = () => ({
    nodes: [{ ...node, online: !offline.now, applyFailed: false, revision: '' }],
    ...{ certificates: [], origins: [], names: new Map<string, string>() },
    storage: {
      ...{ status: 'healthy' as const, availableBytes: '0' },
      estimatedRemainingSeconds: '0',
    },
  });
  const parts = { clock, logger: silentLogger, counters, facts };
  return {
    ...{ time, store, counters, offline },
    /** One round of a new process; `dies` before anything of it is stored. */
    round: async (dies = false): Promise<void> => {
      const dead: Store = { ...store, write: () => Promise.reject(new Error('killed')) };
      const evaluator = startEvaluator({ ...parts, store: dies ? dead : store }, 0);
      await evaluator.evaluate();
      await evaluator.close();
    },
    deliver: async (duties = ownDuties(store)): Promise<void> => {
      const deliveries = startDeliveries({ store, clock, logger: silentLogger, duties }, 0);
      await deliveries.deliver();
      await deliveries.close();
    },
    messages: () => store.list(alertDeliveries).map(({ event }) => event),
    states: () => store.list(alerts).map(({ state }) => state),
    count: async (batchSeq: bigint, atMs: number, count: bigint): Promise<void> => {
      const entries = [{ family: 'alert', key: 'b 2 sqli 942100', count }];
      const batch = { toMs: BigInt(atMs), deltas: [{ siteId: 's', requests: count, entries }] };
      const payload = toBinary(CounterBatchSchema, create(CounterBatchSchema, batch));
      const header = { agentId: 'local', tenantId: 'default', bootId: '00', batchSeq };
      const whole = { ...header, crc32c: crc32c(payload), payload };
      expect(await counters.ingest(whole, metricPayloadVersion)).toBe('stored');
    },
  };
}

test('a new process each round gives each message once', async () => {
  const world = await makeWorld({ kind: 'node_offline', forSeconds: 20, repeatSeconds: 60 });
  for (let second = 0; second <= 150; second += 5) {
    world.offline.now = second >= 20 && second < 120;
    // Every other process dies before it has stored anything.
    await world.round(true);
    await world.round();
    world.time.nowMs += 5_000;
  }
  expect(world.messages()).toEqual(['firing', 'repeat', 'resolved']);
  expect(world.states()).toEqual(['resolved']);
});

test('counts that come late fire once, also when control starts anew', async () => {
  const condition = { kind: 'security_threshold', threshold: 100, windowSeconds: 60 };
  const world = await makeWorld(condition);
  await world.round();
  const pastMs = world.time.nowMs + 10_000;
  world.time.nowMs += 3_600_000;
  await world.round();
  expect(world.messages()).toEqual([]);
  await world.count(1n, pastMs, 60n);
  await world.count(2n, pastMs + 30_000, 60n);
  await world.round(true);
  await world.round();
  expect(world.messages()).toEqual(['firing']);
  for (let at = 0; at < 5; at++) {
    world.time.nowMs += 5_000;
    await world.round();
  }
  expect(world.messages()).toEqual(['firing', 'resolved']);
  expect(world.states()).toEqual(['resolved']);
});

test('a threshold counts a window and no more', async () => {
  const condition = { kind: 'security_threshold', threshold: 100, windowSeconds: 60 };
  const world = await makeWorld(condition);
  await world.round();
  for (let batch = 1n; batch <= 20n; batch++) {
    // Sixty in any minute: never a hundred.
    await world.count(batch, world.time.nowMs, 10n);
    world.time.nowMs += 10_000;
    await world.round();
  }
  expect(world.messages()).toEqual([]);
  await world.count(21n, world.time.nowMs, 60n);
  await world.round();
  expect(world.messages()).toEqual(['firing']);
});

test('a failed message is sent again after its wait, under its id; then the next one', async () => {
  const world = await makeWorld({ kind: 'node_offline', forSeconds: 0 });
  receiver.answer('/restart', { status: 503 }, { status: 429 }, {});
  world.offline.now = true;
  await world.round();
  await world.deliver();
  world.offline.now = false;
  world.time.nowMs += 5_000;
  await world.round();
  await world.deliver();
  const ids = () => receiver.of('/restart').map(({ headers }) => headers['waf-delivery']);
  expect(ids()).toHaveLength(1);
  world.time.nowMs += 5_000;
  await world.deliver();
  expect(ids()).toHaveLength(2);
  world.time.nowMs += 10_000;
  await world.deliver();
  expect(ids()).toHaveLength(2);
  world.time.nowMs += 10_000;
  await world.deliver();
  const sent = ids();
  expect(sent).toHaveLength(4);
  expect(new Set(sent.slice(0, 3)).size).toBe(1);
  expect(sent[3]).not.toBe(sent[0]);
  const events = receiver.of('/restart').map(({ headers }) => headers['waf-event']);
  expect(events).toEqual(['firing', 'firing', 'firing', 'resolved']);
  expect(world.store.list(alertDeliveries).map(({ state }) => state)).toEqual(['sent', 'sent']);
});

test('a controller that hangs while it sends: the next sends again, under the id, and is right', async () => {
  const world = await makeWorld({ kind: 'node_offline', forSeconds: 0 });
  const { store } = world;
  let [holder, hangs, resume] = ['first', false, () => {}];
  const hung = new Promise<void>((resolve) => (resume = resolve));
  const slow: Store = {
    ...store,
    write: (change) => (hangs ? hung : Promise.resolve()).then(() => store.write(change)),
  };
  const first = sharedDuties(slow, () => holder === 'first', silentLogger);
  const second = sharedDuties(store, () => holder === 'second', silentLogger);
  world.offline.now = true;
  await world.round();
  const before = receiver.of('/restart').length;
  const sent = () => receiver.of('/restart').slice(before);
  await first.begin();
  hangs = true;
  const late = world.deliver(first);
  await eventually(() => sent().length === 1);
  holder = 'second';
  await world.deliver(second);
  resume();
  await late;
  expect(sent()).toHaveLength(2);
  expect(new Set(sent().map(({ headers }) => headers['waf-delivery'])).size).toBe(1);
  expect(store.get(alertChannelStates, 'channel')).toMatchObject({ sent: 1, failed: 0 });
  expect(store.list(alertDeliveries)).toMatchObject([{ state: 'sent', attempts: 1 }]);
});
