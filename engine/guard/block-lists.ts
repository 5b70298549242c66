/**
 * Caches which addresses DNS block lists contain. Rules never wait: an unknown address counts as
 * not listed and is queried; the next request finds the answer. Only zones that the operator named
 * are queried. The number of concurrent queries is bounded, and answers expire.
 */

import { Resolver } from 'node:dns/promises';
import { familyOf, parseAddress, textOfKey } from '../../base/ip-address.ts';
import type { Clock } from '../../base/clock.ts';
import { blockListLimits } from '../../base/rule-limits.ts';

/** Addresses of a name; rejects where there are none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

interface Answer {
  readonly listed: boolean;
  readonly untilUs: number;
}

/** Answers by zone and address. */
export class DnsBlockLists {
  private readonly zones: ReadonlySet<string>;
  private readonly clock: Clock;
  private readonly resolve: ResolveName;
  private readonly answers = new Map<string, Answer>();
  private readonly asked = new Set<string>();

  constructor(zones: readonly string[], clock: Clock, resolve: ResolveName = systemResolver()) {
    this.zones = new Set(zones.map((zone) => zone.toLowerCase()));
    this.clock = clock;
    this.resolve = resolve;
  }

  /** True when the zone is known to list the address. */
  listed(ip: string, zone: string): boolean {
    const name = queryName(ip, zone.trim().toLowerCase(), this.zones);
    if (name === null) return false;
    const answer = this.answers.get(name);
    if (answer === undefined || answer.untilUs <= this.clock.monotonicUs()) this.ask(name);
    return answer?.listed ?? false;
  }

  private ask(name: string): void {
    if (this.asked.has(name) || this.asked.size >= blockListLimits.asksMax) return;
    this.asked.add(name);
    const keep = (listed: boolean): void => {
      this.asked.delete(name);
      this.keep(name, listed);
    };
    this.resolve(name).then(
      (addresses) => keep(addresses.some((address) => address.startsWith('127.'))),
      () => keep(false),
    );
  }

  private keep(name: string, listed: boolean): void {
    this.answers.delete(name);
    const untilUs = this.clock.monotonicUs() + blockListLimits.answerSeconds * 1_000_000;
    this.answers.set(name, { listed, untilUs });
    if (this.answers.size <= blockListLimits.answersMax) return;
    const [oldest] = this.answers.keys();
    if (oldest !== undefined) this.answers.delete(oldest);
  }
}

/** The name to ask for, RFC 5782; null for what is no address, and for zones nobody named. */
function queryName(ip: string, zone: string, zones: ReadonlySet<string>): string | null {
  if (!zones.has(zone)) return null;
  const key = parseAddress(ip);
  if (key === null) return null;
  const parts = familyOf(key) === '4' ? textOfKey(key).split('.') : [...key.slice(1, -2)];
  return `${parts.reverse().join('.')}.${zone}`;
}

function systemResolver(): ResolveName {
  const resolver = new Resolver({ timeout: blockListLimits.timeoutMs, tries: 1 });
  return (name) => resolver.resolve4(name);
}
