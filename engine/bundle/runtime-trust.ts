/** The step from the trust profiles of a bundle to what the traffic path uses. Pure. */

import type {
  RuntimeIpList,
  RuntimeTrustProfile,
} from '../../proto/gen/waf/runtime/v1/access_pb.ts';
import { AppError } from '../../base/errors.ts';
import { trustLimits } from '../../base/guard-limits.ts';
import { plain } from '../contract/plain.ts';
import type { TrustConfig } from '../contract/trust.ts';

/** The fields of a bundle that say who is trusted. */
export interface TrustSource {
  readonly trustProfiles: readonly RuntimeTrustProfile[];
  readonly ipLists: readonly RuntimeIpList[];
}

/**
 * Finds the profile of a site: its own, else that of the deployment; undefined when neither honors
 * any header. Sites share the object. Errors: AppError bundle_invalid for a list that is missing.
 */
export function trustOf(source: TrustSource): (siteId: string) => TrustConfig | undefined {
  const profiles = new Map(
    source.trustProfiles.map((one) => [one.siteId, toTrustConfig(one, source.ipLists)]),
  );
  return (siteId) => {
    const found = profiles.get(siteId) ?? profiles.get('');
    return found === undefined || found.rules.length === 0 ? undefined : found;
  };
}

/** One profile with the content of its lists. */
export function toTrustConfig(
  profile: RuntimeTrustProfile,
  ipLists: readonly RuntimeIpList[],
): TrustConfig {
  const lists = new Map(ipLists.map((list) => [list.id, list]));
  let left: number = trustLimits.trustRangesMax;
  return {
    nodes: profile.nodes.map(({ id, ipListIds, xffMode }) => {
      const own = ipListIds.map((listId) => {
        const list = lists.get(listId);
        if (list === undefined) throw invalid(`trust node ${id}: its IP list is missing`);
        return list;
      });
      const count = own.reduce(
        (sum, { ipv4, ipv6 }) => sum + ipv4.length / 5 + ipv6.length / 17,
        0,
      );
      // A list may grow past what fits: then only its proxy is not trusted.
      if (count > left) return { id, ranges: [], xffMode };
      left -= count;
      return { id, ranges: own.flatMap(keysOfList), xffMode };
    }),
    edges: profile.edges.map(plain),
    rules: profile.rules.map(plain),
  };
}

/** Keys of the entries of a list, see base/ip-address.ts. */
function keysOfList({ ipv4, ipv6 }: RuntimeIpList): string[] {
  return [...keysOf(ipv4, '4', 5), ...keysOf(ipv6, '6', 17)];
}

function keysOf(packed: Uint8Array, family: string, width: number): string[] {
  const hex = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength).toString('hex');
  const keys: string[] = [];
  for (let at = 0; at + 2 * width <= hex.length; at += 2 * width) {
    keys.push(family + hex.slice(at, at + 2 * width));
  }
  return keys;
}

function invalid(message: string): AppError {
  return new AppError('bundle_invalid', message, { source: 'config' });
}
