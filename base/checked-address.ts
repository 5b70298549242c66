/**
 * Resolves names that an operator wrote to addresses of the public internet, or to special ones
 * that are allowed. A name is resolved once, so that what is connected to is what was checked.
 */

import { lookup as resolveName } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { containsKey, parseAddress, parseNetwork } from './ip-address.ts';
import { isPublicAddress } from './special-networks.ts';

/** A look-up that answers with checked addresses, or why there is none. */
export type CheckedAddress = LookupFunction | 'unresolved' | 'blocked';

interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * Resolves a name or an address, `[::1]` too. `blocked`: one of its addresses is special and not
 * within `allowedNetworks`, in CIDR form. Never rejects.
 */
export async function checkedAddress(
  hostname: string,
  allowedNetworks: readonly string[],
): Promise<CheckedAddress> {
  const addresses = await resolve(hostname);
  if (addresses.length === 0) return 'unresolved';
  const allowed = allowedNetworks.flatMap((text) => parseNetwork(text) ?? []);
  if (!addresses.every((one) => isFine(one, allowed))) return 'blocked';
  return (_name, options, done) => {
    if (options.all === true) done(null, [...addresses]);
    else done(null, addresses[0]!.address, addresses[0]!.family);
  };
}

async function resolve(hostname: string): Promise<readonly Address[]> {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  if (parseAddress(bare) !== null) return [{ address: bare, family: bare.includes(':') ? 6 : 4 }];
  try {
    const found = await resolveName(bare, { all: true });
    return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
  } catch {
    return [];
  }
}

function isFine({ address }: Address, allowed: readonly string[]): boolean {
  const key = parseAddress(address);
  if (key === null) return false;
  return allowed.some((network) => containsKey(network, key)) || isPublicAddress(key);
}
