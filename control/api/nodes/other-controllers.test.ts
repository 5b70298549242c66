/** What controllers of one store make of a node that is connected to one of them. */

import { expect, test } from 'vitest';
import { silentLogger } from '../../../base/log.ts';
import { agents } from '../../store/collections.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore, type Store } from '../../store/store.ts';
import { alertFactsReader } from '../alert-facts.ts';
import { AgentNotes } from './agent-notes.ts';
import type { Controllers } from '../../store/shared/write-log.ts';
import { NodeRegistry, statusOf } from './node-registry.ts';
import { nodesElsewhere } from './nodes-elsewhere.ts';

const time = { nowMs: 1_000_000 };
const clock = { nowMs: () => time.nowMs, monotonicUs: () => time.nowMs * 1_000 };
const [createdAt, id, tenantId] = ['2026-01-01T00:00:00Z', 'node', 'default'];

/** A store with one enrolled node. */
async function storeWithNode(): Promise<Store> {
  const store = await openStore(openMemoryKv(), clock);
  const agent = { id, tenantId, createdAt, updatedAt: createdAt, name: 'edge' };
  await store.write((tx) => tx.put(agents, agent));
  return store;
}

/** What a controller hears of the node, kept at once. */
async function hear(
  store: Store,
  nodes: NodeRegistry,
  connected: boolean,
  controller = '',
): Promise<void> {
  nodes.update(id, connected ? { connected, lastSeenMs: time.nowMs } : { connected });
  const notes = new AgentNotes(store, nodes, clock, silentLogger, controller);
  notes.note(id);
  await notes.close();
}

test('a node that moved to another controller is not noted as offline by the first', async () => {
  const store = await storeWithNode();
  const [first, second] = [new NodeRegistry(clock), new NodeRegistry(clock)];
  await hear(store, first, true);
  time.nowMs += 1_000;
  await hear(store, second, true);
  const online = store.get(agents, id);
  expect(online).toMatchObject({ status: 'AGENT_STATUS_ONLINE' });
  time.nowMs += 1_000;
  await hear(store, first, false);
  expect(store.get(agents, id)).toEqual(online);
  await hear(store, second, false);
  expect(store.get(agents, id)).toMatchObject({ status: 'AGENT_STATUS_OFFLINE' });
});

test.each([
  ['several controllers', true, null],
  ['one controller', false, false],
])('alerts of %s: a node that is not connected here, and noted as online', async (...row) => {
  const [, sharesStore, expected] = row;
  const store = await storeWithNode();
  const [here, elsewhere] = [new NodeRegistry(clock), new NodeRegistry(clock)];
  const publisher = { current: () => null } as never;
  const storage = { health: () => ({}) } as never;
  const facts = { store, clock, nodes: here, publisher, storage, sharesStore };
  const online = (): boolean | null | undefined =>
    alertFactsReader(facts, 0)(tenantId).nodes.find((one) => one.id === id)?.online;
  await hear(store, elsewhere, true);
  expect(online()).toBe(expected);
  await hear(store, elsewhere, false);
  expect(online()).toBe(false);
  await hear(store, here, true);
  expect(online()).toBe(true);
});

test('what one controller noted of a node is what another one knows, until the first ends', async () => {
  const store = await storeWithNode();
  const first = new NodeRegistry(clock);
  const life = { isAlive: true, atMs: 0 };
  const controllers: Controllers = {
    ownId: 'second',
    heard: (controller) => (controller === 'first' ? life : null),
  };
  const second = new NodeRegistry(clock, nodesElsewhere(store, controllers));
  expect(second.get(id)).toBeUndefined();
  const served = { revision: '7', sha256: 'aa', success: true, error: '', atMs: 5 };
  first.update(id, { apply: served, configHash: 'aa', version: '1.2' });
  await hear(store, first, true, 'first');
  const known = { connected: true, configHash: 'aa', version: '1.2', apply: served };
  expect(second.get(id)).toMatchObject({ ...known, lastSeenMs: time.nowMs });
  expect(second.isElsewhere(id)).toBe(true);
  expect(second.list()).toEqual([]);

  first.update(id, { apply: { ...served, success: false, error: 'no room' } });
  life.atMs = time.nowMs += 1_000;
  await hear(store, first, true, 'first');
  expect(statusOf(second.get(id)!)).toBe('error');
  expect(second.get(id)).toMatchObject({ apply: { error: 'no room' } });

  life.atMs = time.nowMs + 60_000;
  life.isAlive = false;
  const gone = { connected: false, lost: true, lastSeenMs: life.atMs };
  expect(second.get(id)).toMatchObject(gone);
  const publisher = { current: () => null } as never;
  const storage = { health: () => ({}) } as never;
  const facts = { store, clock, nodes: second, publisher, storage, sharesStore: true };
  expect(alertFactsReader(facts, 0)(tenantId).nodes[1]).toMatchObject({ id, online: false });

  time.nowMs += 70_000;
  await hear(store, second, true, 'second');
  expect(second.get(id)).toMatchObject({ connected: true, lost: false });
  expect(second.isElsewhere(id)).toBe(false);
});
