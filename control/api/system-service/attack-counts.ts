/**
 * Counts attacks by what was tried, by whom and from where, in one pass over security events. What
 * only passed with a notice is no attack.
 */

import type { SecurityEventJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { BoundedCounts } from '../../observe/bounded-counts.ts';
import { isAttack } from '../../observe/security-event.ts';
import { geoOf, type NetworkPlace } from '../../access/network-geo.ts';

const tagsShown = 3;

/** Says where an address is; null where it is not known. */
export type PlaceOf = (address: string) => NetworkPlace | null;

/** Families of attacks by events. */
export class AttackCounts {
  readonly #counts = new BoundedCounts();

  get limited(): boolean {
    return this.#counts.limited;
  }

  add(event: SecurityEventJson): void {
    if (isAttack(event)) for (const tag of tagsOf(event)) this.#counts.add(tag);
  }

  result(limit: number) {
    return this.#counts.top(limit).map(({ key, count }) => ({ tag: key, count: BigInt(count) }));
  }
}

/** Addresses by events, with what each tried most. */
export class AttackerCounts {
  readonly #tags = new Map<string, BoundedCounts>();
  readonly #counts = new BoundedCounts(undefined, (ip) => this.#tags.delete(ip));

  get limited(): boolean {
    return this.#counts.limited;
  }

  add(event: SecurityEventJson): void {
    const ip = event.clientIp ?? '';
    if (ip === '' || !isAttack(event)) return;
    this.#counts.add(ip);
    const own = this.#tags.get(ip) ?? new BoundedCounts(observationLimits.tagsOfAddressMax);
    this.#tags.set(ip, own);
    for (const tag of tagsOf(event)) own.add(tag);
  }

  result(limit: number, placeOf: PlaceOf) {
    return this.#counts.top(limit).map(({ key: clientIp, count }) => ({
      clientIp,
      count: BigInt(count),
      topTags: (this.#tags.get(clientIp)?.top(tagsShown) ?? []).map(({ key }) => key),
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
    else this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
  }

  result(): { readonly ranked: readonly (readonly [string, number])[]; readonly none: number } {
    const ranked = [...this.#counts].sort(
      ([one, left], [other, right]) => right - left || (one < other ? -1 : 1),
    );
    return { ranked, none: this.#none };
  }
}

function tagsOf({ attackTypes, attackType }: SecurityEventJson): readonly string[] {
  if (attackTypes !== undefined && attackTypes.length > 0) return attackTypes;
  return attackType === undefined || attackType === '' ? [] : [attackType];
}
