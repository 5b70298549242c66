/** Ends what a deleted node has open here, whichever controller deleted it, and forgets it. */

import { agentIdentities } from '../../store/collections.ts';
import type { Store } from '../../store/store.ts';
import { localNodeId } from '../agent-service/known-nodes.ts';
import type { NodeRegistry } from './node-registry.ts';
import type { NodeStreams } from './node-streams.ts';

/** Begins to watch the store; returns the undo. */
export function endDeleted(store: Store, streams: NodeStreams, nodes: NodeRegistry): () => void {
  return store.onChange((changed) => {
    if (!changed.has(agentIdentities.name)) return;
    for (const id of streams.nodeIds()) {
      if (id === localNodeId || store.get(agentIdentities, id) !== undefined) continue;
      streams.end(id, 'the node was deleted');
      nodes.remove(id);
    }
  });
}
