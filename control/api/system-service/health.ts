/** SystemService/Health. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { agents, sites } from '../../store/collections.ts';
import { localNodeId } from '../agent-service/known-nodes.ts';
import { callerOf, type ApiParts, type Uses } from '../context.ts';
import { deploymentOf } from '../deployment.ts';
import type { Method } from '../method.ts';
import { overloadFor, overloadSentences } from '../nodes/node-overload.ts';
import { checkStore } from '../metrics/store-check.ts';
import { unhealthyOrigins } from '../upstream-service/unhealthy-origins.ts';
import { unenforcedOf } from './unenforced.ts';

interface PartHealth {
  readonly component: string;
  /** Null where it cannot be known. */
  readonly ok: boolean | null;
  readonly message: string;
  /** True where its failure stops neither traffic nor management. */
  readonly optional?: true;
  readonly durationMs?: number;
}

/** The health of each part. */
export function health(parts: ApiParts): Method<typeof SystemService, 'health'> {
  return (_request, context) => {
    const checkedAt = timestampFromMs(parts.clock.nowMs());
    const found = [
      storeHealth(parts),
      engineHealth(parts),
      configurationHealth(parts),
      originHealth(parts, context),
      overloadHealth(parts, callerOf(context)),
      ...siemHealth(parts),
      ...sharingHealth(parts),
    ];
    const checks = found.map((part) => ({
      component: part.component,
      status: statusOf(part),
      message: part.message,
      checkedAt,
      durationMs: BigInt(Math.round(part.durationMs ?? 0)),
    }));
    const { controllerId, deploymentId } = parts.installation;
    return {
      status: overallStatus(checks),
      version: parts.build.version,
      controllerId,
      deploymentId,
      checks,
      checkedAt,
      configRevision: BigInt(parts.publisher.current()?.revision ?? 0),
      activeSites: parts.store
        .list(sites)
        .filter((site) => site.status === 'RESOURCE_STATUS_ACTIVE').length,
      warnings: unenforcedOf(parts.store, callerOf(context)),
      remoteAgentsConnected: parts.store
        .list(agents)
        .filter(({ id }) => parts.nodes.get(id)?.connected === true).length,
    };
  };
}

function statusOf({ ok, optional }: PartHealth): string {
  if (ok === null) return 'unknown';
  if (ok) return 'healthy';
  return optional === true ? 'degraded' : 'unhealthy';
}

/** The worst of the checks; what cannot be known makes nothing worse. */
function overallStatus(checks: readonly { readonly status: string }[]): string {
  const worst = ['unhealthy', 'degraded'].find((one) =>
    checks.some(({ status }) => status === one),
  );
  return worst ?? 'healthy';
}

function storeHealth(parts: Uses<'store' | 'events'>): PartHealth {
  const { ok, message, durationMs } = checkStore(parts);
  const failure = ok ? parts.store.lastWriteFailure() : message;
  return { component: 'store', ok: failure === '', message: failure, durationMs };
}

function engineHealth(parts: Uses<'nodes'>): PartHealth {
  const ok = parts.nodes.get(localNodeId)?.connected === true;
  return { component: 'engine', ok, message: ok ? '' : 'the local engine is not connected' };
}

/** What is being applied is no failure: the configuration from before serves meanwhile. */
function configurationHealth(parts: Uses<'publisher' | 'nodes'>): PartHealth {
  const component = 'configuration';
  if (parts.nodes.get(localNodeId)?.connected !== true) return { component, ok: null, message: '' };
  const { state, error } = deploymentOf(parts);
  if (state === 'applied') return { component, ok: true, message: '' };
  if (state === 'failed') return { component, ok: false, message: error };
  return { component, ok: false, message: 'the newest configuration is not applied yet' };
}

/** Nodes that shed inspection; requests meet the fail policy of their site meanwhile. */
function overloadHealth(parts: Uses<'store' | 'nodes'>, caller: Caller): PartHealth {
  const overloads = overloadFor(parts, caller);
  const found = overloadSentences(overloads);
  const ok = overloads.length === 0 ? null : found.length === 0;
  const named = found.slice(0, observationLimits.originsNamedMax);
  const rest = found.length - named.length;
  const message = [...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
  return { component: 'overload', ok, message };
}

/** Targets that cannot be reached; nothing is said where there are none. */
function siemHealth({ siem }: Uses<'siem'>): PartHealth[] {
  const targets = siem.stats();
  if (targets.length === 0) return [];
  const bad = targets.filter(({ lastError }) => lastError !== '');
  const message = bad
    .map(({ id, lastError, dropped }) => `${id}: ${lastError} (${dropped} events lost)`)
    .join('; ');
  return [{ component: 'siem', ok: bad.length === 0, message, optional: true }];
}

/** What several controllers do not share is no failure; nothing is said where there is one. */
function sharingHealth({ notShared }: Uses<'notShared'>): PartHealth[] {
  return notShared.map((message) => ({ component: 'controllers', ok: true, message }));
}

/** Origins that fail on any node, by their probes or by the requests to them. */
function originHealth(
  parts: Uses<'store' | 'clock' | 'nodes'>,
  context: Parameters<Method<typeof SystemService, 'health'>>[1],
): PartHealth {
  const component = 'origins';
  const connected = parts.nodes.list().some((node) => node.connected);
  if (!connected) return { component, ok: null, message: 'no node is connected' };
  const bad = unhealthyOrigins(parts, context);
  const named = bad.slice(0, observationLimits.originsNamedMax);
  const rest = bad.length - named.length;
  const message = [...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
  return { component, ok: bad.length === 0, message };
}
