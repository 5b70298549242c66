/** Nodes that another controller of the store deletes while they are connected to this one. */

import { expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { silentLogger } from '../../../base/log.ts';
import { agentIdentities } from '../../store/collections.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore } from '../../store/store.ts';
import { localNodeId } from '../agent-service/known-nodes.ts';
import { openNodes } from './open-nodes.ts';

test('a node that is deleted loses its streams, wherever it was deleted; others keep theirs', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  const secrets = { streamTokenSha256: '', certificatesSha256: [], keysSha256: [] };
  await store.write((tx) => {
    for (const id of ['kept', 'gone']) tx.put(agentIdentities, { id, ...secrets });
  });
  const opened = await openNodes({
    ...{ store, clock: systemClock, logger: silentLogger, controllers: null },
  });
  const ended: string[] = [];
  for (const id of [localNodeId, 'kept', 'gone']) {
    opened.parts.nodes.update(id, { connected: true });
    opened.parts.streams.enter(id, 'agent', (reason) => ended.push(`${id}: ${reason}`));
  }
  await store.write((tx) => tx.remove(agentIdentities, 'gone'));
  expect(ended).toEqual(['gone: the node was deleted']);
  expect(opened.parts.nodes.list().map(({ id }) => id)).toEqual([localNodeId, 'kept']);
  await opened.close();
});
