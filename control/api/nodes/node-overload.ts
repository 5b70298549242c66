/** What connected nodes say of their overload. Reads only. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Caller } from '../../auth/permissions.ts';
import { isNodeOf } from '../agent-service/known-nodes.ts';
import type { Uses } from '../context.ts';
import type { NodeState } from './node-registry.ts';

/** One node that told its state. */
export interface NodeOverload {
  readonly nodeId: string;
  readonly state: string;
  readonly action: string;
  /** Percent of requests that are inspected. */
  readonly probePercent: number;
  /** When control learned of the state. */
  readonly sinceMs: number;
  /** True while not every request is inspected. */
  readonly active: boolean;
}

/** Connected nodes that told their state, the one that inspects least first. */
export function overloadOf(nodes: readonly NodeState[]): NodeOverload[] {
  return nodes
    .flatMap(({ id, connected, load }): NodeOverload[] => {
      if (!connected || load === null || load.metrics.wafOverloadState === '') return [];
      const { wafOverloadState: state, wafOverloadAction: action } = load.metrics;
      const { wafProbePercent: probePercent } = load.metrics;
      const active = action !== '' && action !== 'none';
      return [{ nodeId: id, state, action, probePercent, sinceMs: load.overloadSinceMs, active }];
    })
    .sort(
      (left, right) =>
        left.probePercent - right.probePercent || (left.nodeId < right.nodeId ? -1 : 1),
    );
}

/** As `overloadOf`, of the built-in node and those of the caller's tenant. */
export function overloadFor(
  { nodes, store }: Uses<'store' | 'nodes'>,
  caller: Caller,
): NodeOverload[] {
  return overloadOf(nodes.list().filter(({ id }) => isNodeOf(store, caller, id)));
}

/** Since when a node has told its present state: what it told before says nothing else. */
export function overloadSince(before: NodeState['load'], state: string, nowMs: number): number {
  if (before?.metrics.wafOverloadState === state) return before.overloadSinceMs;
  return nowMs;
}

/** A sentence for each node that does not inspect every request. */
export function overloadSentences(overloads: readonly NodeOverload[]): string[] {
  return overloads
    .filter(({ active }) => active)
    .map(
      ({ nodeId, probePercent }) =>
        `node ${nodeId} is overloaded: ${probePercent} percent of requests are inspected, ` +
        'the others follow the fail policy of their site',
    );
}

/** The fields of DashboardFreshness; `nameOf` gives the name of a node. */
export function overloadFreshness(
  overloads: readonly NodeOverload[],
  nameOf: (nodeId: string) => string,
) {
  const worst = overloads[0];
  if (worst === undefined) return {};
  return {
    wafOverloadState: worst.state,
    wafOverloadAction: worst.action,
    wafProbePercent: worst.probePercent,
    wafOverloadLastTransitionAt: timestampFromMs(worst.sinceMs),
    wafOverloadNodeId: worst.nodeId,
    wafOverloadNodeName: nameOf(worst.nodeId),
    wafOverloadActiveNodes: overloads.filter(({ active }) => active).length,
  };
}
