/**
 * Ends what a node has open here when its identity is gone, or another one took its place,
 * whichever controller deleted it or enrolled it again.
 */

import { agentIdentities } from '../../store/collections.ts';
import type { Store } from '../../store/store.ts';
import { localNodeId } from '../agent-service/known-nodes.ts';
import type { AgentNotes } from './agent-notes.ts';
import type { NodeRegistry } from './node-registry.ts';
import type { NodeStreams } from './node-streams.ts';

/** Begins to watch the store; returns the undo. */
export function endReplaced(
  store: Store,
  streams: NodeStreams,
  nodes: NodeRegistry,
  notes: AgentNotes,
): () => void {
  return store.onChange((changed) => {
    if (!changed.has(agentIdentities.name)) return;
    for (const id of streams.nodeIds()) {
      if (id === localNodeId) continue;
      const identity = store.get(agentIdentities, id);
      if (identity === undefined) {
        streams.end(id, 'the node was deleted');
        nodes.remove(id);
      } else if (streams.tokenOf(id) !== identity.streamTokenSha256) {
        streams.end(id, 'the node was enrolled again');
        nodes.update(id, { connected: false });
        notes.note(id);
      }
    }
  });
}
