/** Puts together what control knows of its nodes. */

import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { DeliveryNotes } from '../../publish/publication-log.ts';
import type { Controllers } from '../../store/shared/write-log.ts';
import type { Store } from '../../store/store.ts';
import type { ApiParts } from '../context.ts';
import { NodeRegistry } from './node-registry.ts';
import { AgentNotes } from './agent-notes.ts';
import { endReplaced } from './end-replaced.ts';
import { openNodeAuthority } from './node-authority.ts';
import { nodesElsewhere } from './nodes-elsewhere.ts';
import { NodeStreams } from './node-streams.ts';
import { UpgradeRunner } from './upgrade-runner.ts';

/** What it is put together from. */
interface NodesOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Those that share the store; null for one that is alone. */
  readonly controllers: Controllers | null;
}

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
export async function openNodes({
  store,
  clock,
  logger,
  controllers,
}: NodesOptions): Promise<OpenNodes> {
  const authority = await openNodeAuthority(store, clock, logger);
  const elsewhere = controllers === null ? undefined : nodesElsewhere(store, controllers);
  const nodes = new NodeRegistry(clock, elsewhere);
  const agentNotes = new AgentNotes(store, nodes, clock, logger, controllers?.ownId);
  const upgrades = new UpgradeRunner(store, nodes, clock, logger);
  const streams = new NodeStreams();
  const leave = endReplaced(store, streams, nodes, agentNotes);
  const close = async (): Promise<void> => {
    leave();
    authority.close();
    await upgrades.close();
    await agentNotes.close();
  };
  const deliveryNotes = new DeliveryNotes(store);
  return { parts: { nodes, authority, streams, agentNotes, deliveryNotes, upgrades }, close };
}
