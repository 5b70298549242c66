/** What is known of nodes: in memory, from their streams, and what other controllers noted. */

import { createHash } from 'node:crypto';
import { toJson } from '@bufbuild/protobuf';
import type { Clock } from '../../../base/clock.ts';
import {
  AgentCapabilitiesSchema,
  type AgentCapabilities,
  type AgentMetrics,
} from '../../../proto/gen/waf/v1/agent_pb.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { callLimits } from '../../limits/call-limits.ts';
import type { UpstreamHealthState } from '../../../proto/gen/waf/v1/upstream_pb.ts';

/** What became of the latest configuration on a node. */
export interface NodeApply {
  readonly revision: string;
  readonly sha256: string;
  readonly success: boolean;
  readonly error: string;
  readonly atMs: number;
}

/** A configuration that a node serves but for some sites. */
export interface NodeInterim {
  readonly revision: string;
  readonly sha256: string;
  readonly waitingSiteIds: ReadonlySet<string>;
  readonly atMs: number;
}

/** What is known of one node. */
export interface NodeState {
  readonly id: string;
  readonly version: string;
  readonly connected: boolean;
  /** Whether the controller that it was connected to ended, and noted nothing. */
  readonly lost: boolean;
  readonly lastSeenMs: number;
  readonly configHash: string;
  readonly apply: NodeApply | null;
  /** The configuration that it serves in part, on its present connection; null for none. */
  readonly interim: NodeInterim | null;
  /** When the configuration with this revision was sent to it; null when none was. */
  readonly delivery: { readonly revision: string; readonly atMs: number } | null;
  /** What it said it can do on its present connection; null when it said nothing. */
  readonly capabilities: AgentCapabilities | null;
  /** How often it connected. */
  readonly connections: number;
  /** What it last told of its load, and when; null when it told nothing. */
  readonly load: {
    readonly metrics: AgentMetrics;
    readonly atMs: number;
    /** When it first told the state of overload that it tells now. */
    readonly overloadSinceMs: number;
  } | null;
  /** What it last reported of its origins. */
  readonly upstreamHealth: readonly UpstreamHealthState[];
  /** The grant that it was sent last, and the one that it confirmed; null for none. */
  readonly grant: NodeGrant | null;
  readonly acknowledged: NodeGrant | null;
  /** What it did against the protocol since its last good report; '' for nothing. */
  readonly fault: string;
}

/** Names a grant. */
export interface NodeGrant {
  readonly revision: string;
  readonly sha256: string;
}

/** Something that happened to a node. */
export interface NodeEvent {
  readonly nodeId: string;
  readonly kind: NodeEventKind;
  readonly atMs: number;
  readonly payload: Readonly<Record<string, string>>;
  /** Of a node that is gone from the store. */
  readonly tenantId?: string;
}

/** What can happen to a node. */
export type NodeEventKind =
  | 'enrolled'
  | 'connected'
  | 'disconnected'
  | 'status_changed'
  | 'config_delivered'
  | 'config_applied'
  | 'config_failed'
  | 'command_sent'
  | 'command_succeeded'
  | 'command_failed'
  | 'deleted';

type Listener = (event: NodeEvent) => void;

/** Nodes by id. */
export class NodeRegistry {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #nodes = new Map<string, NodeState>();
  readonly #listeners = new Set<Listener>();
  readonly #awaitedSinceMs = new Map<string, number>();
  readonly #elsewhere: (id: string) => NodeState | undefined;

  /** `elsewhere`: what other controllers know of a node; undefined for nothing. */
  constructor(
    clock: Pick<Clock, 'nowMs'>,
    elsewhere: (id: string) => NodeState | undefined = () => undefined,
  ) {
    this.#clock = clock;
    this.#elsewhere = elsewhere;
  }

  /** Calls `listener` with every event from now on; returns the undo. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What is known of a node that is, or was last, connected here, or to another controller. */
  get(id: string): NodeState | undefined {
    const here = this.#nodes.get(id);
    const elsewhere = here?.connected === true ? undefined : this.#elsewhere(id);
    if (here === undefined || elsewhere === undefined) return here ?? elsewhere;
    return elsewhere.connected || elsewhere.lastSeenMs > here.lastSeenMs ? elsewhere : here;
  }

  /** Whether a node is connected to another controller. */
  isElsewhere(id: string): boolean {
    return this.#nodes.get(id)?.connected !== true && this.get(id)?.connected === true;
  }

  /** Nodes that are or were connected here. */
  list(): NodeState[] {
    return [...this.#nodes.values()];
  }

  /** Merges what was learned into what is known. */
  update(id: string, change: Partial<Omit<NodeState, 'id'>>): void {
    const before = this.#nodes.get(id) ?? unknownNode(id);
    const joined = change.connected === true && !before.connected;
    const connections = before.connections + (joined ? 1 : 0);
    if (change.connected === false && before.connected) this.awaitNode(id);
    const after = { ...before, ...change, connections };
    this.#nodes.set(id, after);
    if (this.#listeners.size === 0) return;
    for (const event of eventsOf(before, after, this.#clock.nowMs())) this.note(event);
  }

  /** Expects a node for some time: something starts it, or its stream just ended. */
  awaitNode(id: string): void {
    this.#awaitedSinceMs.set(id, this.#clock.nowMs());
  }

  /** Whether a node is connected or may soon be. */
  isExpected(id: string): boolean {
    if (this.#nodes.get(id)?.connected === true) return true;
    const sinceMs = this.#awaitedSinceMs.get(id);
    return sinceMs !== undefined && this.#clock.nowMs() < sinceMs + callLimits.nodeReturnMs;
  }

  /** Tells listeners what happened to a node. */
  note(event: NodeEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Forgets a node. */
  remove(id: string): void {
    this.#awaitedSinceMs.delete(id);
    this.#nodes.delete(id);
  }
}

/** A node of which nothing is known. */
export function unknownNode(id: string): NodeState {
  return {
    id,
    version: '',
    connected: false,
    lost: false,
    lastSeenMs: 0,
    configHash: '',
    apply: null,
    interim: null,
    delivery: null,
    capabilities: null,
    connections: 0,
    load: null,
    upstreamHealth: [],
    grant: null,
    acknowledged: null,
    fault: '',
  };
}

/** The state of a node by its stream: error after a failed apply or a breach of the protocol. */
export function statusOf({ connected, apply, fault }: NodeState): 'online' | 'offline' | 'error' {
  if (!connected) return 'offline';
  return fault !== '' || apply?.success === false ? 'error' : 'online';
}

/** What happened between two states of a node, in order. */
function eventsOf(before: NodeState, after: NodeState, nowMs: number): NodeEvent[] {
  const events: NodeEvent[] = [];
  const add = (kind: NodeEvent['kind'], atMs: number, payload: NodeEvent['payload'] = {}): void => {
    events.push({ nodeId: after.id, kind, atMs, payload });
  };
  const { delivery, apply } = after;
  if (after.connected && !before.connected) add('connected', after.lastSeenMs);
  if (delivery !== null && delivery !== before.delivery) {
    add('config_delivered', delivery.atMs, { revision: delivery.revision });
  }
  if (apply !== null && apply !== before.apply) {
    const { revision, sha256, error, success } = apply;
    if (success) add('config_applied', apply.atMs, { revision, sha256 });
    else add('config_failed', apply.atMs, { revision, sha256, error });
  }
  if (!after.connected && before.connected) add('disconnected', nowMs);
  const [was, is] = [statusOf(before), statusOf(after)];
  if (was !== is) add('status_changed', nowMs, { from: was, to: is });
  return events;
}

/** SHA-256 of a capability report, hex: the same for a node and for intents that require it. */
export function capabilitiesSha256(reported: AgentCapabilities): string {
  const text = canonicalJson(toJson(AgentCapabilitiesSchema, reported));
  return createHash('sha256').update(text).digest('hex');
}
