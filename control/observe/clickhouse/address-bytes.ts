/** Addresses as sixteen bytes that sort as numbers do; those of IPv4 as IPv6 maps them. Pure. */

import { hexOf } from '../events/event-terms.ts';

const mapped = '00000000000000000000ffff';
const none = Buffer.alloc(16);

/** The bytes of an address; zeros where it is none. */
export function addressBytes(address: string): Buffer {
  const hex = fullHex(address);
  return hex === '' ? none : Buffer.from(hex, 'hex');
}

/** The first and the last address of a network, or of a single address. */
export function networkBounds(network: string): readonly [first: Buffer, last: Buffer] {
  const [address = '', bits] = network.split('/');
  const own = hexOf(address).length * 4;
  const fixed = 128 - own + Number(bits ?? own);
  const first = addressBytes(address);
  const last = Buffer.from(first);
  const firstBytes = Buffer.from(first);
  for (let byte = 0; byte < 16; byte++) {
    const free = Math.min(8, Math.max(0, (byte + 1) * 8 - fixed));
    const mask = (1 << free) - 1;
    firstBytes[byte]! &= 0xff ^ mask;
    last[byte]! |= mask;
  }
  return [firstBytes, last];
}

function fullHex(address: string): string {
  const hex = hexOf(address);
  return hex.length === 8 ? mapped + hex : hex;
}
