/** Compares addresses with networks, byte by byte, as operators on addresses need it. */

import { addressBytes } from '../../../../base/ip-address.ts';

/** Address bytes (4 or 16) and how many leading bits count. */
export interface Network {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

/** True when the address lies in the network; an IPv4-mapped IPv6 address counts as IPv4 too. */
export function matchesNetwork(address: Uint8Array, network: Network): boolean {
  const { bytes, bits } = network;
  if (address.length === bytes.length) return equalBits(address, bytes, bits);
  return bytes.length === 4 && isMapped(address) && equalBits(address.subarray(12), bytes, bits);
}

/** `10.0.0.0/8`, `2001:db8::/32` or a lone address; null when it is something else. */
export function parseNetwork(text: string): Network | null {
  const slash = text.indexOf('/');
  const bytes = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (!bytes) return null;
  if (slash < 0) return { bytes, bits: 8 * bytes.length };
  const prefix = text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > 8 * bytes.length) return null;
  return { bytes, bits: Number(prefix) };
}

const last = { text: '', bytes: null as Uint8Array | null };

/** 4 or 16 bytes, not to be changed; null when the text is no address. The last one is kept. */
export function parseAddress(text: string): Uint8Array | null {
  if (text.length > 45) return null;
  if (text !== last.text) {
    last.bytes = addressBytes(text);
    last.text = text;
  }
  return last.bytes;
}

function isMapped(address: Uint8Array): boolean {
  for (let i = 0; i < 10; i++) if (address[i] !== 0) return false;
  return address[10] === 0xff && address[11] === 0xff;
}

function equalBits(a: Uint8Array, b: Uint8Array, bits: number): boolean {
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (a[i] !== b[i]) return false;
  const rest = bits & 7;
  if (rest === 0) return true;
  const mask = 0xff << (8 - rest);
  return (((a[whole] ?? 0) ^ (b[whole] ?? 0)) & mask & 0xff) === 0;
}
