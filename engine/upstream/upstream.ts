/**
 * Owns the choice between a site's origin addresses, and the origins of a thread across
 * generations: an unchanged upstream keeps its connections when the configuration changes.
 */

import net from 'node:net';
import type tls from 'node:tls';
import type { Deadlines } from '../base/deadlines.ts';
import type { EndpointConfig, UpstreamConfig } from '../contract/site.ts';
import { EndpointPool } from './endpoint-pool.ts';

interface WeightedPool {
  readonly pool: EndpointPool;
  readonly weight: number;
  current: number;
}

/** The origins of one site. */
export class Upstream {
  private readonly pools: readonly WeightedPool[];

  constructor(deadlines: Deadlines, config: UpstreamConfig) {
    this.pools = config.endpoints.map((endpoint) => ({
      pool: new EndpointPool(deadlines, endpoint, tlsOptions(config, endpoint)),
      weight: endpoint.weight,
      current: 0,
    }));
  }

  /**
   * The address whose turn it is, by weight, spread evenly; `avoid` and addresses that just refused
   * come last. Null when there is none. Cost: one pass over the addresses.
   */
  pick(nowMs: number, avoid: EndpointPool | null): EndpointPool | null {
    const first = this.pools[0];
    if (this.pools.length === 1 && first !== undefined) return first.pool;
    return (
      this.turn((entry) => entry.pool !== avoid && entry.pool.downUntilMs <= nowMs) ??
      this.turn((entry) => entry.pool !== avoid) ??
      first?.pool ??
      null
    );
  }

  /** Every eligible address gains its weight, the richest is taken and pays the total. */
  private turn(eligible: (entry: WeightedPool) => boolean): EndpointPool | null {
    let best: WeightedPool | null = null;
    let total = 0;
    for (const entry of this.pools) {
      if (!eligible(entry)) continue;
      entry.current += entry.weight;
      total += entry.weight;
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

interface Held {
  readonly upstream: Upstream;
  holders: number;
}

/** All upstreams of a thread, shared by generations. */
export class UpstreamRegistry {
  private readonly deadlines: Deadlines;
  private readonly held = new Map<string, Held>();

  constructor(deadlines: Deadlines) {
    this.deadlines = deadlines;
  }

  /** The upstream for `config`; give it back with `release`. */
  hold(config: UpstreamConfig): Upstream {
    const key = keyOf(config);
    let entry = this.held.get(key);
    if (entry === undefined) {
      entry = { upstream: new Upstream(this.deadlines, config), holders: 0 };
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

  close(): void {
    for (const entry of this.held.values()) entry.upstream.close();
    this.held.clear();
  }
}

function keyOf(config: UpstreamConfig): string {
  const { id, scheme, endpoints, serverName, verifyTls, caPem } = config;
  const addresses = endpoints.map((endpoint) => [endpoint.host, endpoint.port, endpoint.weight]);
  return JSON.stringify([id, scheme, addresses, serverName, verifyTls, caPem]);
}

function tlsOptions(
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
