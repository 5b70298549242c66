/** Index values that stand for many: networks of an address, folders of a path. Pure. */

import { addressBytes } from '../../../base/ip-address.ts';

/** Bits of the networks that an address is found by, the address itself included. */
const networkBits = { 4: [8, 16, 24, 32], 6: [32, 48, 64, 128] } as const;
const foldersMax = 8;

/** Values of an address: each of its networks. None where it is no address. */
export function networkTerms(address: string): string[] {
  const hex = hexOf(address);
  return networksOf(hex).map((bits) => hex.slice(0, bits / 4));
}

/** The value that holds every address of a network; '' when none does. */
export function networkTerm(network: string): string {
  const [address = '', text] = network.split('/');
  const hex = hexOf(address);
  const bits = text === undefined ? hex.length * 4 : Number(text);
  const kept = networksOf(hex).findLast((one) => one <= bits);
  return kept === undefined ? '' : hex.slice(0, kept / 4);
}

/** Bits of the networks of an address by its digits; none for no address. */
function networksOf(hex: string): readonly number[] {
  if (hex === '') return [];
  return hex.length === 8 ? networkBits[4] : networkBits[6];
}

/** Folders of a path, itself included: `/a/b` has `/a` and `/a/b`. */
export function pathTerms(path: string): string[] {
  const terms: string[] = [];
  for (let at = path.indexOf('/', 1); terms.length < foldersMax; at = path.indexOf('/', at + 1)) {
    if (at < 0) {
      if (path.length > 1) terms.push(path);
      break;
    }
    terms.push(path.slice(0, at));
  }
  return terms;
}

/** The deepest folder that every path with this beginning lies in; '' when there is none. */
export function pathTerm(prefix: string): string {
  const last = prefix.lastIndexOf('/');
  if (last <= 0) return '';
  return pathTerms(prefix.slice(0, last)).at(-1) ?? '';
}

/** Hex digits of an address, eight or thirty-two, without its zone; '' where it is none. */
export function hexOf(address: string): string {
  const zone = address.includes(':') ? address.indexOf('%') : -1;
  const bytes = addressBytes(zone < 0 ? address : address.slice(0, zone));
  return bytes === null ? '' : Buffer.from(bytes.buffer).toString('hex');
}
