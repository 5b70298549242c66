/**
 * Keeps what streams said of enrolled nodes, so that a controller that starts again, and others
 * that share the store, know of them. Many nodes that connect at once become one write.
 */

import { toAppError } from '../../../base/errors.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { nodeLimits } from '../../limits/node-limits.ts';
import { agents } from '../../store/collections.ts';
import type { Store } from '../../store/store.ts';
import type { NodeNote } from '../../domain/resource-records.ts';
import { statusOf, type NodeRegistry, type NodeState } from './node-registry.ts';

const statuses = {
  online: 'AGENT_STATUS_ONLINE',
  offline: 'AGENT_STATUS_OFFLINE',
  error: 'AGENT_STATUS_ERROR',
} as const;

/** Nodes of which something is to be kept. */
export class AgentNotes {
  readonly #store: Store;
  readonly #nodes: NodeRegistry;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #ownId: string;
  #waiting = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  /** `ownId`: of this controller, where several share the store. */
  constructor(store: Store, nodes: NodeRegistry, clock: Clock, logger: Logger, ownId = '') {
    this.#store = store;
    this.#nodes = nodes;
    this.#clock = clock;
    this.#logger = logger;
    this.#ownId = ownId;
  }

  /** As `note`, for what other controllers alone have no other way to know. */
  noteForOthers(nodeId: string): void {
    if (this.#ownId !== '') this.note(nodeId);
  }

  /** Keeps the present state of a node soon; nothing for nodes that are not enrolled. */
  note(nodeId: string): void {
    // Streams may end after the store is closed.
    if (this.#closed) return;
    this.#waiting.add(nodeId);
    this.#timer ??= setTimeout(() => void this.#keep(), nodeLimits.noteDelayMs).unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#keep();
  }

  async #keep(): Promise<void> {
    this.#timer = null;
    const ids = [...this.#waiting];
    this.#waiting = new Set();
    if (!ids.some((id) => this.#store.get(agents, id) !== undefined)) return;
    const updatedAt = new Date(this.#clock.nowMs()).toISOString();
    try {
      await this.#store.write((tx) => {
        for (const id of ids) {
          const [before, state] = [tx.get(agents, id), this.#nodes.get(id)];
          if (before === undefined || state === undefined) continue;
          // It moved to another controller of the store, which saw it later.
          if (!state.connected && Date.parse(before.lastHeartbeat ?? '') > state.lastSeenMs)
            continue;
          const applied = state.apply?.success === true ? state.apply.revision : undefined;
          tx.put(agents, {
            ...before,
            updatedAt,
            version: state.version || (before.version ?? ''),
            status: statuses[statusOf(state)],
            configHash: state.configHash,
            lastHeartbeat: new Date(state.lastSeenMs).toISOString(),
            ...(this.#ownId === '' ? {} : { noted: noteOf(state, this.#ownId) }),
            ...(applied === undefined ? {} : { configRevision: applied }),
          });
        }
      });
    } catch (error) {
      const reason = toAppError(error).message;
      this.#logger.error('what is known of nodes could not be kept', { reason });
    }
  }
}

function noteOf({ apply, fault }: NodeState, controller: string): NodeNote {
  return { controller, apply, fault };
}
