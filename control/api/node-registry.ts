/** Owns what is known of connected nodes: in memory, from their streams. */

import type { UpstreamHealthState } from '../../proto/gen/waf/v1/upstream_pb.ts';

/** What became of the latest configuration on a node. */
export interface NodeApply {
  readonly revision: string;
  readonly sha256: string;
  readonly success: boolean;
  readonly error: string;
  readonly atMs: number;
}

/** What is known of one node. */
export interface NodeState {
  readonly id: string;
  readonly version: string;
  readonly connected: boolean;
  readonly lastSeenMs: number;
  readonly configHash: string;
  readonly apply: NodeApply | null;
  /** When the configuration with this revision was sent to it; null when none was. */
  readonly delivery: { readonly revision: string; readonly atMs: number } | null;
  /** What it last reported of its origins. */
  readonly upstreamHealth: readonly UpstreamHealthState[];
}

/** Nodes by id. */
export class NodeRegistry {
  readonly #nodes = new Map<string, NodeState>();

  get(id: string): NodeState | undefined {
    return this.#nodes.get(id);
  }

  list(): NodeState[] {
    return [...this.#nodes.values()];
  }

  /** Merges what was learned into what is known. */
  update(id: string, change: Partial<Omit<NodeState, 'id'>>): void {
    const unknown: NodeState = {
      id,
      version: '',
      connected: false,
      lastSeenMs: 0,
      configHash: '',
      apply: null,
      delivery: null,
      upstreamHealth: [],
    };
    this.#nodes.set(id, { ...(this.#nodes.get(id) ?? unknown), ...change });
  }
}
