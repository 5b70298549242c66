/** Owns SystemService/Health. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { sites } from '../../store/collections.ts';
import { localNodeId } from '../agent-service/known-nodes.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { deploymentOf } from '../deployment.ts';
import type { Method } from '../method.ts';
import { checkStore } from '../store-check.ts';
import { unhealthyOrigins } from '../upstream-service/unhealthy-origins.ts';
import { unenforcedOf } from './unenforced.ts';

interface PartHealth {
  readonly component: string;
  /** Null where it cannot be known. */
  readonly ok: boolean | null;
  readonly message: string;
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
    ];
    const checks = found.map(({ component, ok, message, durationMs = 0 }) => ({
      component,
      status: ok === null ? 'unknown' : ok ? 'healthy' : 'unhealthy',
      message,
      checkedAt,
      durationMs: BigInt(Math.round(durationMs)),
    }));
    const { controllerId, deploymentId } = parts.installation;
    const nodes = parts.nodes.list();
    return {
      status: found.some(({ ok }) => ok === false) ? 'unhealthy' : 'healthy',
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
      remoteAgentsConnected: nodes.filter(({ id, connected }) => connected && id !== localNodeId)
        .length,
    };
  };
}

function storeHealth(parts: ApiParts): PartHealth {
  const { ok, message, durationMs } = checkStore(parts);
  const failure = ok ? parts.store.lastWriteFailure() : message;
  return { component: 'store', ok: failure === '', message: failure, durationMs };
}

function engineHealth(parts: ApiParts): PartHealth {
  const ok = parts.nodes.get(localNodeId)?.connected === true;
  return { component: 'engine', ok, message: ok ? '' : 'the local engine is not connected' };
}

/** What is being applied is no failure: the configuration from before serves meanwhile. */
function configurationHealth(parts: ApiParts): PartHealth {
  const component = 'configuration';
  if (parts.nodes.get(localNodeId)?.connected !== true) return { component, ok: null, message: '' };
  const { state, error } = deploymentOf(parts);
  if (state === 'applied') return { component, ok: true, message: '' };
  if (state === 'failed') return { component, ok: false, message: error };
  return { component, ok: false, message: 'the newest configuration is not applied yet' };
}

/** Origins that fail on any node, by their probes or by the requests to them. */
function originHealth(
  parts: ApiParts,
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
