/**
 * Counts attacks by what was tried, by whom and from where, in one pass over security events. What
 * only passed with a notice is no attack.
 */

import type { SecurityEventJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { isAttack } from '../../observe/security-event.ts';
import { geoOf, type NetworkPlace } from '../../access/network-geo.ts';

const tagsShown = 3;

/** Says where an address is; null where it is not known. */
export type PlaceOf = (address: string) => NetworkPlace | null;

/** Families of attacks by events. */
export class AttackCounts {
  readonly #counts = new Map<string, number>();

  add(event: SecurityEventJson): void {
    if (isAttack(event)) for (const tag of tagsOf(event)) raise(this.#counts, tag);
  }

  result(limit: number) {
    return highest(this.#counts, limit).map(([tag, count]) => ({ tag, count: BigInt(count) }));
  }
}

/** Addresses by events, with what each tried most. */
export class AttackerCounts {
  readonly #counts = new Map<string, number>();
  readonly #tags = new Map<string, Map<string, number>>();

  add(event: SecurityEventJson): void {
    const ip = event.clientIp ?? '';
    if (ip === '' || !isAttack(event) || !raise(this.#counts, ip)) return;
    const own = this.#tags.get(ip) ?? new Map<string, number>();
    this.#tags.set(ip, own);
    for (const tag of tagsOf(event)) raise(own, tag);
  }

  result(limit: number, placeOf: PlaceOf) {
    return highest(this.#counts, limit).map(([clientIp, count]) => ({
      clientIp,
      count: BigInt(count),
      topTags: highest(this.#tags.get(clientIp) ?? new Map<string, number>(), tagsShown).map(
        ([tag]) => tag,
      ),
      ...geoOf(placeOf(clientIp)),
    }));
  }
}

/** Countries by events; `none` counts addresses that no country is known of. */
export class CountryCounts {
  readonly #placeOf: PlaceOf;
  readonly #counts = new Map<string, number>();
  readonly #codes = new Map<string, string>();
  #none = 0;

  constructor(placeOf: PlaceOf) {
    this.#placeOf = placeOf;
  }

  add({ clientIp = '' }: SecurityEventJson): void {
    let code = this.#codes.get(clientIp);
    if (code === undefined) {
      code = this.#placeOf(clientIp)?.countryCode ?? '';
      if (this.#codes.size < observationLimits.summaryKeysMax) this.#codes.set(clientIp, code);
    }
    if (code === '') this.#none++;
    else raise(this.#counts, code);
  }

  result(): { readonly ranked: readonly (readonly [string, number])[]; readonly none: number } {
    return { ranked: highest(this.#counts, this.#counts.size), none: this.#none };
  }
}

function tagsOf({ attackTypes, attackType }: SecurityEventJson): readonly string[] {
  if (attackTypes !== undefined && attackTypes.length > 0) return attackTypes;
  return attackType === undefined || attackType === '' ? [] : [attackType];
}

/** Counts `key`; false when there are too many keys to begin another. */
function raise(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key);
  if (count === undefined && counts.size >= observationLimits.summaryKeysMax) return false;
  counts.set(key, (count ?? 0) + 1);
  return true;
}

function highest(counts: ReadonlyMap<string, number>, limit: number): [string, number][] {
  return [...counts]
    .sort(([one, left], [other, right]) => right - left || (one < other ? -1 : 1))
    .slice(0, limit);
}
