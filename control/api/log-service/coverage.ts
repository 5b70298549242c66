/** What answers on access events report of gaps: which details nodes keep, what they still hold. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { LogDetailMode, LogPolicySource } from '../../../proto/gen/waf/v1/log_pb.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { resolvedLogPolicy } from '../../publish/parts/log-parts.ts';
import { sites } from '../../store/collections.ts';
import type { ApiParts, Uses } from '../context.ts';
import type { NodeState } from '../nodes/node-registry.ts';
import { ownedBy } from '../resource/owned.ts';

/** From good to bad. */
const states = ['healthy', 'backlog', 'coverage_gap', 'quarantined'];

/** Observations that nodes hold or gave up. */
export function observationCoverage({
  nodes,
}: {
  readonly nodes: Pick<ApiParts['nodes'], 'list'>;
}) {
  const healths = nodes.list().flatMap(({ id, load }) => {
    const health = load?.metrics.observationHealth;
    return health === undefined || states.indexOf(health.state) <= 0 ? [] : [{ id, ...health }];
  });
  const [worst] = healths.toSorted(
    (one, other) => states.indexOf(other.state) - states.indexOf(one.state),
  );
  const sum = (values: readonly bigint[]): bigint => values.reduce((all, one) => all + one, 0n);
  return {
    incomplete: healths.some(({ coverageIncomplete }) => coverageIncomplete),
    affectedNodes: healths.length,
    worstNodeId: worst?.id ?? '',
    worstNodeName: worst?.id ?? '',
    worstState: worst?.state ?? '',
    quarantinedStreams: [...new Set(healths.flatMap((one) => one.quarantinedStreams))],
    pendingBatches: sum(healths.map(({ pendingBatches }) => pendingBatches)),
    pendingBytes: sum(healths.map(({ pendingBytes }) => pendingBytes)),
    evictedBatches: sum(healths.map(({ evictedBatches }) => evictedBatches)),
    gapNotices: sum(healths.map(({ gapNotices }) => gapNotices)),
  };
}

/** Bytes of observations that nodes still hold. */
export function pendingBytesOf({ nodes }: Uses<'nodes'>): number {
  return nodes.list().reduce((total, { load }) => {
    return total + Number(load?.metrics.observationHealth?.pendingBytes ?? 0n);
  }, 0);
}

/** For each site ('' for all of the tenant) and node: which access details are kept, and why. */
export function detailAnnotations(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
  tenantId: string,
  siteId: string,
) {
  const meant = ownedBy(parts.store, { tenantId }, { collection: sites })
    .filter(({ id }) => siteId === '' || id === siteId)
    .slice(0, observationLimits.annotatedSitesMax);
  const nodes = parts.nodes.list();
  return meant.flatMap(({ id }) => {
    const policy = resolvedLogPolicy(parts.store, id);
    const configured = modeOf(policy.configured.accessMode);
    const bySite = policy.configuredSources.accessMode === 'LOG_POLICY_SOURCE_SITE';
    const stated = {
      siteId: id,
      configured,
      configuredSource: bySite ? LogPolicySource.SITE : LogPolicySource.GLOBAL,
      observedAt: timestampFromMs(parts.clock.nowMs()),
    };
    const none = {
      ...stated,
      effective: LogDetailMode.UNSPECIFIED,
      reason: 'no_node',
      agentId: '',
    };
    if (nodes.length === 0) return [none];
    return nodes.map((node) => {
      const reason = whyUnknown(parts, node);
      const known = modeOf(policy.effective.accessMode);
      const effective = reason === '' ? known : LogDetailMode.UNSPECIFIED;
      const pressed = reason === '' && effective !== configured ? 'storage_pressure' : reason;
      return { ...stated, effective, reason: pressed, agentId: node.id };
    });
  });
}

/** '' where the node serves the present configuration. */
function whyUnknown(
  { publisher }: Uses<'publisher'>,
  { connected, configHash }: NodeState,
): string {
  if (!connected) return 'node_offline';
  const { waiting } = publisher.progress();
  const applied = !waiting && publisher.current()?.signed.sha256 === configHash;
  return applied ? '' : 'not_applied';
}

function modeOf(name: string): LogDetailMode {
  if (name.endsWith('_NONE')) return LogDetailMode.NONE;
  return name.endsWith('_ALL') ? LogDetailMode.ALL : LogDetailMode.EXEMPLARS;
}
