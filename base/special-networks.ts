/**
 * Which addresses belong to the public internet. A product that fetches what an operator names must
 * not be sent to its own machine, its cloud's metadata service or a private network. Source: IANA
 * special-purpose address registries (RFC 6890), RFC 4291.
 */

import { containsKey, familyOf, parseNetwork } from './ip-address.ts';

const special = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
].map(keyOf);

/** IPv6 that is assigned to hosts of the internet; the rest is local, mapped or unassigned. */
const globalUnicast = keyOf('2000::/3');

/** True for an address, by its key, that the public internet routes. Cost: below 2 us. */
export function isPublicAddress(key: string): boolean {
  if (familyOf(key) === '6' && !containsKey(globalUnicast, key)) return false;
  return !special.some((network) => containsKey(network, key));
}

function keyOf(network: string): string {
  const key = parseNetwork(network);
  if (key === null) throw new Error(`not a network: ${network}`);
  return key;
}
