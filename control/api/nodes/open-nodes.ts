/** Puts together what control knows of its nodes. */

import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { DeliveryNotes } from '../../publish/publication-log.ts';
import type { Store } from '../../store/store.ts';
import type { ApiParts } from '../context.ts';
import { NodeRegistry } from './node-registry.ts';
import { AgentNotes } from './agent-notes.ts';
import { endDeleted } from './end-deleted.ts';
import { openNodeAuthority } from './node-authority.ts';
import { NodeStreams } from './node-streams.ts';
import { UpgradeRunner } from './upgrade-runner.ts';

/** What control knows of its nodes. */
export interface OpenNodes {
  readonly parts: Pick<
    ApiParts,
    'nodes' | 'authority' | 'streams' | 'agentNotes' | 'deliveryNotes' | 'upgrades'
  >;
  /** Keeps what is not kept yet; after the last stream has ended. */
  close(): Promise<void>;
}

/** Opens all of it. */
export async function openNodes(store: Store, clock: Clock, logger: Logger): Promise<OpenNodes> {
  const authority = await openNodeAuthority(store, clock, logger);
  const nodes = new NodeRegistry(clock);
  const agentNotes = new AgentNotes(store, nodes, clock, logger);
  const upgrades = new UpgradeRunner(store, nodes, clock, logger);
  const streams = new NodeStreams();
  const leave = endDeleted(store, streams, nodes);
  const close = async (): Promise<void> => {
    leave();
    authority.close();
    await upgrades.close();
    await agentNotes.close();
  };
  const deliveryNotes = new DeliveryNotes(store);
  return { parts: { nodes, authority, streams, agentNotes, deliveryNotes, upgrades }, close };
}
