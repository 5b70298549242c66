/** The setting by which an operator lets fetches go to special addresses. */

import { parseNetwork } from '../../../base/ip-address.ts';
import { invalidField } from '../errors.ts';

/** Key of the networks that fetches may go to although they are loopback, private or such. */
export const allowedNetworksKey = 'outgoing.allowed_networks';

const networksMax = 64;

/** Errors: invalid_argument under `at`. */
export function checkAllowedNetworks(value: unknown, at: string): void {
  if (!Array.isArray(value) || value.length > networksMax) {
    throw invalidField(at, `must be a list of at most ${networksMax} networks`);
  }
  value.forEach((network: unknown, index) => {
    if (typeof network === 'string' && parseNetwork(network) !== null) return;
    throw invalidField(`${at}[${index}]`, 'must be a network such as 10.20.0.0/16');
  });
}

/** The networks, from stored values. */
export function allowedNetworksOf(values: Readonly<Record<string, unknown>>): readonly string[] {
  const networks = values[allowedNetworksKey];
  return Array.isArray(networks) ? networks.filter((one) => typeof one === 'string') : [];
}
