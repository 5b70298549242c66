/**
 * Asks origin addresses whether they are well, on a thread that serves nobody: who is probed when,
 * and after how many answers the opinion of an address turns. What is done about it is the business
 * of whoever listens.
 */

import { upstreamLimits } from '../../base/delivery-limits.ts';
import type { AddressHealth, ProbeFinding } from '../contract/health.ts';
import type { HealthCheckConfig, UpstreamConfig } from '../contract/site.ts';
import { endpointName } from './endpoint-pool.ts';
import { probeAddress } from './probe-address.ts';

/** How a prober reports. */
export interface ProberOptions {
  /** Called when a status changed, and when addresses come or go. */
  readonly onChange: (health: readonly AddressHealth[]) => void;
  readonly now?: () => number;
}

interface Watched {
  health: AddressHealth;
  readonly upstream: UpstreamConfig;
  readonly check: HealthCheckConfig;
  /** Answers in a row that speak against the status. */
  against: number;
  timer: NodeJS.Timeout | null;
  stopped: boolean;
}

/** Probes the addresses of all upstreams that ask for it. */
export class HealthProber {
  private readonly options: ProberOptions;
  private readonly now: () => number;
  private watched = new Map<string, Watched>();
  private running = 0;

  constructor(options: ProberOptions) {
    this.options = options;
    this.now = options.now ?? Date.now;
  }

  /** The upstreams of the present generation; what stays as it was keeps its history. */
  watch(upstreams: Iterable<UpstreamConfig>): void {
    const next = new Map<string, Watched>();
    for (const upstream of upstreams) {
      const check = upstream.healthCheck;
      if (check === undefined) continue;
      for (const endpoint of upstream.endpoints) {
        const name = endpointName(endpoint);
        const key = JSON.stringify([
          upstream.id,
          name,
          upstream.scheme,
          upstream.serverName,
          upstream.verifyTls,
          upstream.caPem,
          check,
        ]);
        if (next.has(key)) continue;
        const known = this.watched.get(key);
        next.set(key, known ?? this.begin(upstream, check, name));
      }
    }
    let changed = false;
    for (const [key, old] of this.watched) {
      if (next.has(key)) continue;
      changed = true;
      old.stopped = true;
      if (old.timer !== null) clearTimeout(old.timer);
    }
    changed ||= next.size !== this.watched.size;
    this.watched = next;
    if (changed) this.options.onChange(this.health());
  }

  /** What is known of every address that is probed. */
  health(): AddressHealth[] {
    return [...this.watched.values()].map(({ health }) => health);
  }

  close(): void {
    this.watch([]);
  }

  private begin(upstream: UpstreamConfig, check: HealthCheckConfig, name: string): Watched {
    const watched: Watched = {
      health: {
        upstreamId: upstream.id,
        url: new URL(`${upstream.scheme}://${name}`).origin,
        name,
        status: 'unknown',
        probedAtMs: 0,
        changedAtMs: 0,
        error: '',
      },
      upstream,
      check,
      against: 0,
      timer: null,
      stopped: false,
    };
    this.plan(watched, 0);
    return watched;
  }

  private plan(watched: Watched, afterMs: number): void {
    watched.timer = setTimeout(() => void this.probe(watched), afterMs);
    watched.timer.unref();
  }

  private async probe(watched: Watched): Promise<void> {
    const { check } = watched;
    if (this.running >= upstreamLimits.probesAtOnceMax) {
      return this.plan(watched, upstreamLimits.probeWaitMs);
    }
    this.running++;
    const finding = await probeAddress(watched.upstream, watched.health.name, check);
    this.running--;
    if (watched.stopped) return;
    this.receive(watched, finding);
    this.plan(watched, check.intervalSeconds * 1000);
  }

  /** The first answer decides at once; a change needs the configured number in a row. */
  private receive(watched: Watched, { healthy, error }: ProbeFinding): void {
    const { check, health } = watched;
    const probedAtMs = this.now();
    const status = healthy ? ('healthy' as const) : ('unhealthy' as const);
    const needed = healthy ? check.healthyThreshold : check.unhealthyThreshold;
    watched.against = status === health.status ? 0 : watched.against + 1;
    if (status === health.status || (health.status !== 'unknown' && watched.against < needed)) {
      const latest = status === health.status ? error : health.error;
      watched.health = { ...health, probedAtMs, error: latest };
      return;
    }
    watched.against = 0;
    watched.health = { ...health, status, probedAtMs, changedAtMs: probedAtMs, error };
    this.options.onChange(this.health());
  }
}

/** Names of the unhealthy addresses by upstream, as front threads want them. */
export function unhealthyOf(health: readonly AddressHealth[]): Map<string, Set<string>> {
  const unhealthy = new Map<string, Set<string>>();
  for (const { upstreamId, name, status } of health) {
    if (status !== 'unhealthy') continue;
    const names = unhealthy.get(upstreamId) ?? new Set();
    unhealthy.set(upstreamId, names.add(name));
  }
  return unhealthy;
}
