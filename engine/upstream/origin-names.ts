/**
 * The addresses of origins that are configured by name, for one thread: asked of the system, kept
 * as long as DNS says, and asked again while requests come. Who holds a connection learns whether
 * its address still stands for the name.
 */

import dns from 'node:dns';
import net from 'node:net';
import type { LookupFunction } from 'node:net';
import { originNameLimits } from '../../base/delivery-limits.ts';

/** An address as the system answers it. */
export type FoundAddress = dns.LookupAddress;

/** How names are asked; replaced in tests. */
export interface NameSources {
  /** All addresses of a name, in the system's order (hosts file, search domains, DNS). */
  readonly lookup: (name: string) => Promise<readonly FoundAddress[]>;
  /** How long DNS says that they hold, in seconds; null where it does not say. */
  readonly ttlSeconds: (name: string) => Promise<number | null>;
  readonly nowMs: () => number;
}

type Waiting = (error: Error | null, addresses: readonly FoundAddress[]) => void;

interface Known {
  addresses: readonly FoundAddress[];
  error: Error | null;
  /** Asked again from then on. */
  expiresMs: number;
  /** When it was answered last. */
  answeredMs: number;
  /** Who waits for an answer that is on its way; null while nothing is asked. */
  waiting: Waiting[] | null;
}

/** Names of one thread; see the header. */
export class OriginNames {
  private readonly sources: NameSources;
  private readonly known = new Map<string, Known>();

  constructor(sources: NameSources = systemSources()) {
    this.sources = sources;
  }

  /** In place of the system's, for `net.connect`. */
  readonly lookup: LookupFunction = (name, options, done) => {
    this.find(name, (error, addresses) => {
      const wanted = addresses.filter(({ family }) => !options.family || options.family === family);
      const first = wanted[0];
      if (error !== null || first === undefined) return done(error ?? notFound(name), '', 0);
      if (options.all === true) done(null, [...wanted]);
      else done(null, first.address, first.family);
    });
  };

  /**
   * Whether a connection to `address` still leads to the name; true while nothing else is known.
   * Asks again in the background when the last answer is too old. Cost: one look-up in a map.
   */
  holds(name: string, address: string | undefined): boolean {
    const known = this.known.get(name);
    if (known === undefined || address === undefined) return true;
    if (known.waiting === null && known.expiresMs <= this.sources.nowMs()) this.ask(name, known);
    const { addresses } = known;
    return addresses.length === 0 || addresses.some((one) => one.address === address);
  }

  private find(name: string, done: Waiting): void {
    const known = this.known.get(name) ?? this.add(name);
    const nowMs = this.sources.nowMs();
    if (known.waiting === null && known.expiresMs > nowMs) {
      return done(known.error, known.addresses);
    }
    // An answer from before is better than waiting for a server that may not answer.
    const old = nowMs - known.answeredMs <= originNameLimits.staleMs;
    if (known.addresses.length > 0 && old) done(null, known.addresses);
    if (known.waiting === null) this.ask(name, known);
    if (known.addresses.length === 0 || !old) known.waiting!.push(done);
  }

  private add(name: string): Known {
    if (this.known.size >= originNameLimits.namesMax) {
      this.known.delete(this.known.keys().next().value!);
    }
    const made = { addresses: [], error: null, expiresMs: 0, answeredMs: -Infinity, waiting: null };
    this.known.set(name, made);
    return made;
  }

  private ask(name: string, known: Known): void {
    known.waiting = [];
    const { lookup, ttlSeconds, nowMs } = this.sources;
    const settle = (seconds: number): void => {
      known.expiresMs = nowMs() + seconds * 1000;
      const waiting = known.waiting ?? [];
      known.waiting = null;
      for (const done of waiting) done(known.error, known.addresses);
    };
    lookup(name).then(
      (addresses) => {
        known.addresses = addresses;
        known.error = addresses.length === 0 ? notFound(name) : null;
        known.answeredMs = nowMs();
        settle(originNameLimits.ttlSecondsDefault);
        ttlSeconds(name).then(
          (seconds) => {
            if (seconds !== null) known.expiresMs = known.answeredMs + clamp(seconds) * 1000;
          },
          () => undefined,
        );
      },
      (error: Error) => {
        known.error = error;
        if (nowMs() - known.answeredMs > originNameLimits.staleMs) known.addresses = [];
        settle(originNameLimits.failureSeconds);
      },
    );
  }
}

function clamp(seconds: number): number {
  const { ttlSecondsMin, ttlSecondsMax } = originNameLimits;
  return Math.min(Math.max(seconds, ttlSecondsMin), ttlSecondsMax);
}

function notFound(name: string): Error {
  return Object.assign(new Error(`no address for ${name}`), { code: 'ENOTFOUND' });
}

function systemSources(): NameSources {
  const timeout = originNameLimits.ttlTimeoutMs;
  const resolver = new dns.promises.Resolver({ timeout, tries: 1 });
  return {
    lookup: (name) => dns.promises.lookup(name, { all: true }),
    ttlSeconds: async (name) => {
      // Names without a dot come from the hosts file or a search domain.
      if (!name.includes('.') || net.isIP(name) !== 0) return null;
      const records = await resolver.resolve4(name, { ttl: true });
      return records.length === 0 ? null : Math.min(...records.map(({ ttl }) => ttl));
    },
    nowMs: () => performance.now(),
  };
}
