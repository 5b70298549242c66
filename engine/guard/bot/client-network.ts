/** The network by which a clearance may be bound: /24 of IPv4, /56 of IPv6. */

import type { AddressBits } from '../../../base/ip-address.ts';

/** The network as a text, never empty. */
export function boundNetwork({ family, words }: AddressBits): string {
  if (family === 4) return `4:${(words[0]! >>> 8).toString(16)}`;
  if (family === 6) return `6:${words[0]!.toString(16)}:${(words[1]! >>> 8).toString(16)}`;
  return 'none';
}
