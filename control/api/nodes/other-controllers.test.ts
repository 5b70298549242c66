/** What controllers of one store make of a node that is connected to one of them. */

import { expect, test } from 'vitest';
import { silentLogger } from '../../../base/log.ts';
import { agents } from '../../store/collections.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore, type Store } from '../../store/store.ts';
import { alertFactsReader } from '../alert-facts.ts';
import { AgentNotes } from './agent-notes.ts';
import { NodeRegistry } from './node-registry.ts';

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
async function hear(store: Store, nodes: NodeRegistry, connected: boolean): Promise<void> {
  nodes.update(id, connected ? { connected, lastSeenMs: time.nowMs } : { connected });
  const notes = new AgentNotes(store, nodes, clock, silentLogger);
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
