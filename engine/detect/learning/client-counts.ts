/**
 * Counts distinct clients that show signs in a value, by hour, in one front thread and in bounded
 * memory: one bit of a sketch for each network, by 11 bits of a hash of site and network. Nothing
 * is done for requests without signs.
 */

import { createHash } from 'node:crypto';
import { maskKey, familyOf, parseAddress } from '../../../base/ip-address.ts';
import { learningSketchLimits as limits } from '../../base/learning-limits.ts';
import type { ClientsDelta, ContentPlace, SignFamily } from '../../contract/detection-content.ts';
import type { RequestEvent } from '../../contract/events.ts';
import type { SiteConfig } from '../../contract/site.ts';
import { isLearnable, pathPattern, plainPath } from './content-name.ts';

/** The rule under which the score of detection refuses. */
const scoreRuleId = 198_000;
const hourMs = 3_600_000;

interface Counted {
  readonly siteId: string;
  readonly generation: number;
  readonly place: ContentPlace;
  readonly family: SignFamily;
  readonly hour: number;
  /** Bits that were seen in this hour. */
  readonly seen: Uint8Array;
  seenCount: number;
  /** Bits that were not reported. */
  pending: number[];
  requests: number;
  sample: string;
}

/** What counting reads of a request that ended. */
export type CountedRequest = Pick<
  RequestEvent,
  | 'requestId'
  | 'siteId'
  | 'receivedAtMs'
  | 'clientIp'
  | 'method'
  | 'target'
  | 'outcome'
  | 'status'
  | 'transaction'
>;

/** What counting reads of a site. */
type LearningSite = Pick<SiteConfig, 'detectionLearning' | 'detectionContent'>;

/** What a thread counts; see the header. */
export class ClientCounts {
  private readonly counted = new Map<string, Counted>();
  /** By bit of a network the values that it was the first to show in an hour. */
  private readonly firstShown = new Uint8Array(limits.sketchBits);
  private firstShownHour = 0;
  /** Values for which there was no place. */
  leftOut = 0;

  /** Counts a finished request of a site that learns. Cost: with signs, a hash, a look-up each. */
  count(event: CountedRequest, site: LearningSite): void {
    const signs = event.transaction?.valueSigns;
    if (signs === undefined || site.detectionLearning === undefined || !teaches(event)) return;
    const generation = site.detectionContent?.generation ?? 0;
    const path = plainPath(event.target);
    const network = networkOf(event.clientIp);
    if (path === null || network === null || !/^[A-Z]{1,16}$/.test(event.method)) return;
    const hour = Math.floor(event.receivedAtMs / hourMs);
    const pattern = pathPattern(path);
    const bit = bitOf(`${event.siteId} ${generation} ${network}`);
    for (const { name, family } of signs) {
      if (!isLearnable(name)) continue;
      const place = { method: event.method, path: pattern, name };
      const one = this.find({ siteId: event.siteId, generation, place, family, hour }, bit);
      if (one === null) this.leftOut++;
      else add(one, bit, event.requestId);
    }
  }

  /** What was counted since the last call; hours that are over are given up. */
  drain(nowMs: number): ClientsDelta[] {
    const hour = Math.floor(nowMs / hourMs);
    const deltas: ClientsDelta[] = [];
    for (const [key, one] of this.counted) {
      if (one.requests > 0 || one.pending.length > 0) deltas.push(deltaOf(one));
      if (one.hour < hour && one.pending.length === 0) this.counted.delete(key);
    }
    return deltas;
  }

  private find(
    what: Pick<Counted, 'siteId' | 'generation' | 'place' | 'family' | 'hour'>,
    bit: number,
  ): Counted | null {
    const { siteId, generation, place, family, hour } = what;
    const key = JSON.stringify([siteId, generation, hour, family, ...Object.values(place)]);
    const known = this.counted.get(key);
    if (known !== undefined) return known;
    if (!this.mayShowFirst(bit, hour)) return null;
    if (this.counted.size >= limits.valuesPerThread && !this.evictOne()) return null;
    this.firstShown[bit]!++;
    const made: Counted = {
      ...what,
      seen: new Uint8Array(limits.sketchBits / 8),
      ...{ seenCount: 0, pending: [], requests: 0, sample: '' },
    };
    this.counted.set(key, made);
    return made;
  }

  private mayShowFirst(bit: number, hour: number): boolean {
    // Requests of the hour before may still end.
    if (hour > this.firstShownHour) {
      this.firstShown.fill(0);
      this.firstShownHour = hour;
    }
    return this.firstShown[bit]! < limits.newValuesPerNetwork;
  }

  /** One client alone keeps no place: names that somebody makes up do not drive out others. */
  private evictOne(): boolean {
    for (const [key, { seenCount }] of this.counted) {
      if (seenCount > 1) continue;
      this.leftOut++;
      return this.counted.delete(key);
    }
    return false;
  }
}

/** Served well, or refused by the score alone: what others refused shows nothing of a site. */
function teaches({ outcome, status, transaction }: CountedRequest): boolean {
  if (transaction === null || transaction.failure !== undefined) return false;
  if (outcome === 'served') return status >= 200 && status <= 399;
  return outcome === 'blocked' && transaction.verdict.ruleId === scoreRuleId;
}

function add(one: Counted, bit: number, requestId: string): void {
  one.requests++;
  one.sample = requestId;
  const mask = 1 << (bit & 7);
  if ((one.seen[bit >> 3]! & mask) !== 0) return;
  one.seen[bit >> 3]! |= mask;
  one.seenCount++;
  one.pending.push(bit);
}

function deltaOf(one: Counted): ClientsDelta {
  const { siteId, generation, place, family, hour, requests, sample } = one;
  const bits = one.pending.slice(0, limits.bitsPerDelta);
  one.pending = one.pending.slice(limits.bitsPerDelta);
  one.requests = 0;
  return { siteId, generation, place, family, hour, bits, requests, sample };
}

/** One client: an IPv4 /24, an IPv6 /48. */
function networkOf(address: string): string | null {
  const key = parseAddress(address);
  if (key === null) return null;
  return maskKey(key, familyOf(key) === '4' ? limits.ipv4Bits : limits.ipv6Bits);
}

function bitOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt16BE(0) % limits.sketchBits;
}
