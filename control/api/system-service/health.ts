/** Owns SystemService/Health. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { sites } from '../../store/collections.ts';
import { callerOf, type ApiParts } from '../context.ts';
import type { Method } from '../method.ts';
import { unenforcedOf } from './unenforced.ts';

/** The health of each part. */
export function health(parts: ApiParts): Method<typeof SystemService, 'health'> {
  return (_request, context) => {
    const checkedAt = timestampFromMs(parts.clock.nowMs());
    const startedMs = performance.now();
    const active = parts.store
      .list(sites)
      .filter((site) => site.status === 'RESOURCE_STATUS_ACTIVE').length;
    const durationMs = BigInt(Math.round(performance.now() - startedMs));
    const current = parts.publisher.current();
    const local = parts.nodes.get('local');
    const connected = local?.connected === true;
    const applied = connected && local.configHash === current?.signed.sha256;
    const check = (component: string, ok: boolean | null, message: string) => ({
      component,
      status: ok === null ? 'unknown' : ok ? 'healthy' : 'unhealthy',
      message,
      checkedAt,
      durationMs,
    });
    const failure = local?.apply?.success === false ? local.apply.error : '';
    const checks = [
      check('store', true, ''),
      check('engine', connected, connected ? '' : 'the local engine is not connected'),
      check('configuration', connected ? applied : null, applied ? '' : failure),
    ];
    const unhealthy = checks.some(({ status }) => status === 'unhealthy');
    return {
      status: unhealthy ? 'unhealthy' : 'healthy',
      version: parts.version,
      controllerId: 'control',
      deploymentId: 'default',
      checks,
      checkedAt,
      configRevision: BigInt(current?.revision ?? 0),
      activeSites: active,
      warnings: unenforcedOf(parts.store, callerOf(context)),
      remoteAgentsConnected: parts.nodes
        .list()
        .filter(({ id, connected: up }) => up && id !== 'local').length,
    };
  };
}
