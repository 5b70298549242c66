/**
 * Puts together what is known of the origins of one generation: probes, which are made once, here,
 * and what front threads notice of requests. A report always names the generation it is of.
 */

import type { Logger } from '../../base/log.ts';
import type { HealthReport, OriginNote, ProbedAddress } from '../contract/health.ts';
import {
  noConfiguration,
  upstreamsOf,
  type RoutesConfig,
  type UpstreamConfig,
} from '../contract/site.ts';
import { upstreamLimits } from '../../base/delivery-limits.ts';
import { endpointName } from './endpoint-pool.ts';
import { HealthProber, unhealthyOf } from './health-prober.ts';
import { joinHealth, OriginWatch } from './origin-watch.ts';
import { connectAddress, probeAddress } from './probe-address.ts';
import type { UnhealthyAddresses } from './upstream.ts';

/** Who hears of changes. */
export interface OriginHealthOptions {
  readonly logger: Logger;
  /** Front threads ask these addresses last. */
  readonly onUnhealthy: (unhealthy: UnhealthyAddresses) => void;
  /** Threads say when one of these addresses answers again. */
  readonly onFailing: (failing: UnhealthyAddresses) => void;
  /** There is something new to report. */
  readonly onChange: () => void;
}

/** Health of the origins of the present generation. */
export class OriginHealth {
  private readonly options: OriginHealthOptions;
  private readonly prober: HealthProber;
  private readonly requests: OriginWatch;
  private serving = { revision: noConfiguration, sha256: '' };

  constructor(options: OriginHealthOptions) {
    this.options = options;
    const { logger, onChange, onFailing, onUnhealthy } = options;
    this.requests = new OriginWatch({
      logger,
      onChange: () => {
        onFailing(unhealthyOf(this.requests.health()));
        onChange();
      },
    });
    this.prober = new HealthProber({
      onChange: (health) => {
        onUnhealthy(unhealthyOf(health));
        onChange();
      },
    });
  }

  /** These routes serve from now on, of the generation that was applied last. */
  watch(routes: RoutesConfig, of: { readonly revision: string; readonly sha256: string }): void {
    this.serving = { revision: of.revision, sha256: of.sha256 };
    const configured = new Set<string>();
    for (const { id, endpoints } of upstreamsOf(routes)) {
      for (const endpoint of endpoints) configured.add(keyOf(id, endpointName(endpoint)));
    }
    this.requests.keepOnly((id, name) => configured.has(keyOf(id, name)));
    this.prober.watch(upstreamsOf(routes));
    this.options.onChange();
  }

  /** What a front thread noticed. */
  receive(notes: readonly OriginNote[]): void {
    this.requests.receive(notes);
  }

  report(): HealthReport {
    const addresses = joinHealth(this.prober.health(), this.requests.health());
    return { ...this.serving, addresses };
  }

  close(): void {
    this.requests.close();
    this.prober.close();
  }
}

/** Asks every address of a pool once: its probe, or where it has none a connection. */
export function probePool(upstream: UpstreamConfig): Promise<ProbedAddress[]> {
  const timeoutMs = upstreamLimits.firstProbeTimeoutMs;
  const { healthCheck } = upstream;
  return Promise.all(
    upstream.endpoints.map(async (endpoint) => {
      const address = endpointName(endpoint);
      const finding =
        healthCheck === undefined
          ? await connectAddress(upstream, address, timeoutMs)
          : await probeAddress(upstream, address, {
              ...healthCheck,
              timeoutSeconds: Math.min(healthCheck.timeoutSeconds, timeoutMs / 1000),
            });
      return { address, ...finding };
    }),
  );
}

function keyOf(id: string, name: string): string {
  return JSON.stringify([id, name]);
}
