/** Nodes that any controller of the store deletes, or enrolls again, while they are connected. */

import { expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { silentLogger } from '../../../base/log.ts';
import { agentIdentities, agents } from '../../store/collections.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore } from '../../store/store.ts';
import { localNodeId } from '../agent-service/known-nodes.ts';
import { openNodes } from './open-nodes.ts';

const secrets = { streamTokenSha256: 'first', certificatesSha256: [], keysSha256: [] };

/** A store with two nodes, which are connected here, as the built-in node is. */
async function openWithNodes() {
  const store = await openStore(openMemoryKv(), systemClock);
  const facts = { tenantId: 'default', createdAt: '', updatedAt: '' };
  await store.write((tx) => {
    for (const id of ['kept', 'gone']) {
      tx.put(agentIdentities, { id, ...secrets });
      tx.put(agents, { id, name: id, ...facts });
    }
  });
  const opened = await openNodes({
    ...{ store, clock: systemClock, logger: silentLogger, controllers: null },
  });
  const { nodes, streams } = opened.parts;
  const ended: string[] = [];
  const connect = (id: string, tokenSha256: string): void => {
    nodes.update(id, { connected: true });
    streams.enter({ id, tokenSha256 }, 'agent', (reason) => ended.push(`${id}: ${reason}`));
  };
  connect(localNodeId, '');
  for (const id of ['kept', 'gone']) connect(id, 'first');
  return { store, opened, nodes, ended, connect };
}

test('a node that is deleted loses its streams, wherever it was deleted; others keep theirs', async () => {
  const { store, opened, nodes, ended } = await openWithNodes();
  await store.write((tx) => tx.remove(agentIdentities, 'gone'));
  expect(ended).toEqual(['gone: the node was deleted']);
  expect(nodes.list().map(({ id }) => id)).toEqual([localNodeId, 'kept']);
  await opened.close();
});

test('a node that is enrolled again loses its streams once, and is known as offline', async () => {
  const { store, opened, nodes, ended, connect } = await openWithNodes();
  const secretsAgain = { ...secrets, streamTokenSha256: 'second' };
  await store.write((tx) => tx.put(agentIdentities, { id: 'gone', ...secretsAgain }));
  expect(ended).toEqual(['gone: the node was enrolled again']);
  expect(nodes.get('gone')).toMatchObject({ connected: false });

  // Its new stream is not that of the old token, whatever else changes in its identity.
  connect('gone', 'second');
  await store.write((tx) =>
    tx.put(agentIdentities, { id: 'gone', ...secretsAgain, keysSha256: ['renewed'] }),
  );
  expect(ended).toHaveLength(1);
  nodes.update('gone', { connected: false });
  await opened.close();
  expect(store.get(agents, 'gone')).toMatchObject({ status: 'AGENT_STATUS_OFFLINE' });
});
