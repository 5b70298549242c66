/** Under which key attempts from an address are counted. Never says who is let in. */

import { maskKey, parseNetwork, textOfKey } from '../../base/ip-address.ts';

/** One household or server has at least so much of IPv6, and may use all of it. */
const ipv6Prefix = 64;

/**
 * The address of a peer as limits count it: an IPv4 address, also one mapped into IPv6; the /64 of
 * an IPv6 address. What is no address counts as it is.
 */
export function originKey(address: string): string {
  const [bare = ''] = address.split('%', 1);
  const key = parseNetwork(bare);
  if (key === null) return address;
  return key.startsWith('6') ? textOfKey(maskKey(key, ipv6Prefix)) : textOfKey(key);
}
