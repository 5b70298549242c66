/**
 * The choice between a site's origin addresses, and the origins of a thread across generations: an
 * unchanged upstream keeps its connections when the configuration changes.
 */

import net from 'node:net';
import type tls from 'node:tls';
import type { Deadlines } from '../base/deadlines.ts';
import type { OriginNote } from '../contract/health.ts';
import type { EndpointConfig, UpstreamConfig } from '../contract/site.ts';
import { upstreamLimits } from '../../base/delivery-limits.ts';
import { EndpointPool } from './endpoint-pool.ts';
import { OriginNames } from './origin-names.ts';
import { originFields, type OriginFields } from './origin-fields.ts';

interface WeightedPool {
  readonly pool: EndpointPool;
  readonly weight: number;
  current: number;
}

/** The origins of one site. */
export class Upstream {
  /** Header fields set on every request; null for none. */
  readonly fields: OriginFields | null;
  /** How long a request that reached no address is tried again, and the pause before each time. */
  readonly retryDurationMs: number;
  readonly retryIntervalMs: number;
  private readonly pools: readonly WeightedPool[];
  readonly scheme: 'http' | 'https';

  constructor(deadlines: Deadlines, config: UpstreamConfig, names: OriginNames | null = null) {
    const { resilience } = config;
    this.scheme = config.scheme;
    this.fields = originFields(config.requestHeaders);
    this.retryDurationMs = resilience?.retryDurationMs ?? 0;
    this.retryIntervalMs = Math.max(
      resilience?.retryIntervalMs ?? 0,
      upstreamLimits.retryIntervalMsMin,
    );
    const tolerance = resilience && {
      failsMax: resilience.passiveMaxFails,
      downMs: resilience.passiveFailDurationSeconds * 1000,
    };
    this.pools = config.endpoints.map((endpoint) => ({
      pool: new EndpointPool(
        ...([deadlines, endpoint, tlsOptions(config, endpoint), tolerance, names] as const),
      ),
      weight: endpoint.weight,
      current: 0,
    }));
  }

  /**
   * The address whose turn it is, by weight, spread evenly. `avoid`, addresses that failed of late
   * and those that their probes found unhealthy come last, in this order: a request is never
   * refused while there is one to try. Null when there is none. Cost: some passes over them.
   */
  pick(nowMs: number, avoid: EndpointPool | null): EndpointPool | null {
    const first = this.pools[0];
    if (this.pools.length === 1 && first !== undefined) return first.pool;
    return (
      this.turn(nowMs, ({ pool }) => {
        return pool !== avoid && pool.answers(nowMs);
      }) ??
      this.turn(nowMs, ({ pool }) => pool !== avoid && pool.healthy) ??
      this.turn(nowMs, ({ pool }) => pool !== avoid) ??
      first?.pool ??
      null
    );
  }

  /** All addresses. */
  get addresses(): readonly EndpointPool[] {
    return this.pools.map(({ pool }) => pool);
  }

  /** Takes over what probes found: names of the addresses that are unhealthy. */
  setUnhealthy(names: ReadonlySet<string>): void {
    for (const { pool } of this.pools) pool.healthy = !names.has(pool.name);
  }

  /** What became of requests to its addresses since the last call. Cost: a look at each. */
  drainNotes(id: string, notes: OriginNote[]): void {
    for (const { pool } of this.pools) {
      const note = pool.drainNote();
      if (note !== null) notes.push({ upstreamId: id, scheme: this.scheme, ...note });
    }
  }

  /** Takes over which addresses fail, as all threads saw it. */
  setFailing(names: ReadonlySet<string>): void {
    for (const { pool } of this.pools) pool.failing = names.has(pool.name);
  }

  /** Every eligible address gains its weight, the richest is taken and pays the total. */
  private turn(nowMs: number, eligible: (entry: WeightedPool) => boolean): EndpointPool | null {
    let best: WeightedPool | null = null;
    let total = 0;
    for (const entry of this.pools) {
      if (!eligible(entry)) continue;
      const weight = entry.weight * entry.pool.share(nowMs);
      entry.current += weight;
      total += weight;
      if (best === null || entry.current > best.current) best = entry;
    }
    if (best === null) return null;
    best.current -= total;
    return best.pool;
  }

  close(): void {
    for (const entry of this.pools) entry.pool.close();
  }
}

/** Addresses that probes found unhealthy, by upstream id; what is not named is healthy. */
export type UnhealthyAddresses = ReadonlyMap<string, ReadonlySet<string>>;

interface Held {
  readonly id: string;
  readonly upstream: Upstream;
  holders: number;
}

/** All upstreams of a thread, shared by generations. */
export class UpstreamRegistry {
  private readonly deadlines: Deadlines;
  private readonly held = new Map<string, Held>();
  private readonly names = new OriginNames();
  private unhealthy: UnhealthyAddresses = new Map();
  private failing: UnhealthyAddresses = new Map();

  constructor(deadlines: Deadlines) {
    this.deadlines = deadlines;
  }

  /** The upstream for `config`; give it back with `release`. */
  hold(config: UpstreamConfig): Upstream {
    const key = keyOf(config);
    let entry = this.held.get(key);
    if (entry === undefined) {
      entry = {
        id: config.id,
        upstream: new Upstream(this.deadlines, config, this.names),
        holders: 0,
      };
      entry.upstream.setUnhealthy(this.unhealthy.get(config.id) ?? none);
      entry.upstream.setFailing(this.failing.get(config.id) ?? none);
      this.held.set(key, entry);
    }
    entry.holders++;
    return entry.upstream;
  }

  /** Closes the upstream when nobody holds it any more. */
  release(config: UpstreamConfig): void {
    const key = keyOf(config);
    const entry = this.held.get(key);
    if (entry === undefined || --entry.holders > 0) return;
    this.held.delete(key);
    entry.upstream.close();
  }

  /** Takes over what probes found, for present and future upstreams. */
  setUnhealthy(unhealthy: UnhealthyAddresses): void {
    this.unhealthy = unhealthy;
    for (const { id, upstream } of this.held.values()) {
      upstream.setUnhealthy(unhealthy.get(id) ?? none);
    }
  }

  /** Takes over which addresses fail, as all threads saw it, for present and future upstreams. */
  setFailing(failing: UnhealthyAddresses): void {
    this.failing = failing;
    for (const { id, upstream } of this.held.values()) {
      upstream.setFailing(failing.get(id) ?? none);
    }
  }

  /** Addresses that failed since the last call, or answer again. */
  drainNotes(): OriginNote[] {
    const notes: OriginNote[] = [];
    for (const { id, upstream } of this.held.values()) upstream.drainNotes(id, notes);
    return notes;
  }

  close(): void {
    for (const entry of this.held.values()) entry.upstream.close();
    this.held.clear();
  }
}

const none: ReadonlySet<string> = new Set();

/** Equal keys share connections; how an upstream is probed makes no difference to them. */
function keyOf(config: UpstreamConfig): string {
  const { id, scheme, endpoints, serverName, verifyTls, caPem } = config;
  const { requestHeaders, resilience } = config;
  const addresses = endpoints.map((endpoint) => [endpoint.host, endpoint.port, endpoint.weight]);
  const behavior = [requestHeaders, resilience];
  return JSON.stringify([id, scheme, addresses, serverName, verifyTls, caPem, behavior]);
}

/** What a TLS connection to an address is verified against; null for plain text. */
export function tlsOptions(
  config: UpstreamConfig,
  endpoint: EndpointConfig,
): tls.ConnectionOptions | null {
  if (config.scheme === 'http') return null;
  const name = config.serverName ?? endpoint.host;
  const options: tls.ConnectionOptions = {
    // RFC 6066: an address is not a server name; it is still verified against the certificate.
    ...(net.isIP(name) === 0 ? { servername: name } : {}),
    rejectUnauthorized: config.verifyTls !== false,
    ALPNProtocols: ['http/1.1'],
  };
  if (config.caPem !== undefined) options.ca = config.caPem;
  return options;
}
