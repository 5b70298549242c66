/** How a pool behaves where its settings are silent: probes, retries, failing addresses. */

import type { UpstreamEndpointJson } from '../../../proto/gen/waf/v1/common_pb.ts';
import type {
  UpstreamHealthCheckJson,
  UpstreamResiliencePolicyJson,
} from '../../../proto/gen/waf/v1/upstream_pb.ts';

/** What happens with failing addresses; 0 turns a part off. */
export interface Resilience {
  readonly passiveMaxFails: number;
  readonly passiveFailDurationSeconds: number;
  readonly retryDurationMs: number;
  readonly retryIntervalMs: number;
}

/** A health check with the standard values where it states none. */
export function withProbeDefaults(check: UpstreamHealthCheckJson): UpstreamHealthCheckJson {
  if ((check.path ?? '') === '') return check;
  const timeoutSeconds = check.timeoutSeconds || Math.min(5, check.intervalSeconds || 5);
  return {
    ...check,
    method: check.method || 'GET',
    expectedStatus: check.expectedStatus || 200,
    intervalSeconds: check.intervalSeconds || 30,
    timeoutSeconds,
    unhealthyThreshold: check.unhealthyThreshold || 3,
    healthyThreshold: check.healthyThreshold || 2,
  };
}

/** A resilience policy with the standard values where it states none; absent stays absent. */
export function withResilienceDefaults(
  policy: UpstreamResiliencePolicyJson,
): UpstreamResiliencePolicyJson {
  return {
    ...policy,
    passiveFailDurationSeconds: policy.passiveFailDurationSeconds || 30,
    passiveMaxFails: policy.passiveMaxFails || 2,
    retryDurationSeconds: policy.retryDurationSeconds || 5,
    retryIntervalMilliseconds: policy.retryIntervalMilliseconds || 250,
  };
}

/**
 * How a pool's addresses are probed; null for not at all. The pool's own check wins over the path
 * of an endpoint.
 */
export function probeOf(
  check: UpstreamHealthCheckJson | undefined,
  endpoints: readonly UpstreamEndpointJson[],
): UpstreamHealthCheckJson | null {
  const path = check?.path || endpoints.find((one) => one.healthCheckPath)?.healthCheckPath || '';
  return path === '' ? null : withProbeDefaults({ ...check, path });
}

/** What happens with failing addresses, in the units of nodes. */
export function resilienceOf(policy: UpstreamResiliencePolicyJson): Resilience {
  const full = withResilienceDefaults(policy);
  const passive = full.passiveHealthEnabled === true;
  const retry = full.retryEnabled === true;
  return {
    passiveMaxFails: passive ? (full.passiveMaxFails ?? 2) : 0,
    passiveFailDurationSeconds: full.passiveFailDurationSeconds ?? 30,
    retryDurationMs: retry ? (full.retryDurationSeconds ?? 5) * 1000 : 0,
    retryIntervalMs: full.retryIntervalMilliseconds ?? 250,
  };
}
