/** Index values that stand for many: networks of an address, folders of a path. Pure. */

import { isIP } from 'node:net';

/** Bits of the networks that an address is found by, the address itself included. */
const networkBits = { 4: [8, 16, 24, 32], 6: [32, 48, 64, 128] } as const;
const foldersMax = 8;

/** Values of an address: each of its networks. None where it is no address. */
export function networkTerms(address: string): string[] {
  const digits = hexOfPlainIpv4(address);
  if (digits !== '') {
    return [digits.slice(0, 2), digits.slice(0, 4), digits.slice(0, 6), digits];
  }
  const version = isIP(address);
  const hex = hexOf(address);
  if (hex === '' || (version !== 4 && version !== 6)) return [];
  return networkBits[version].map((bits) => hex.slice(0, bits / 4));
}

/** The value that holds every address of a network; '' when none does. */
export function networkTerm(network: string): string {
  const [address = '', text] = network.split('/');
  const version = isIP(address);
  const hex = hexOf(address);
  if (hex === '' || (version !== 4 && version !== 6)) return '';
  const bits = text === undefined ? hex.length * 4 : Number(text);
  const kept = networkBits[version].findLast((one) => one <= bits);
  return kept === undefined ? '' : hex.slice(0, kept / 4);
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

const bytesInHex = Array.from({ length: 256 }, (_, byte) => hex(byte, 2));
const ipv4CharsMax = 15;

/** Hex digits of an IPv4 address, each number without needless zeros; '' for all else. */
function hexOfPlainIpv4(address: string): string {
  if (address.length > ipv4CharsMax) return '';
  let digits = '';
  let parts = 0;
  let value = -1;
  for (let at = 0; at <= address.length; at++) {
    const code = at === address.length ? 0x2e : address.charCodeAt(at);
    if (code === 0x2e) {
      if (value < 0 || ++parts > 4) return '';
      digits += bytesInHex[value]!;
      value = -1;
    } else if (code < 0x30 || code > 0x39 || value === 0) return '';
    else {
      value = Math.max(value, 0) * 10 + code - 0x30;
      if (value > 255) return '';
    }
  }
  return parts === 4 ? digits : '';
}

/** Hex digits of an address, eight or thirty-two; '' where it is none. */
export function hexOf(address: string): string {
  const version = isIP(address);
  if (version === 4)
    return address
      .split('.')
      .map((part) => hex(Number(part), 2))
      .join('');
  if (version !== 6) return '';
  const [plain = ''] = address.split('%', 1);
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(plain);
  const [, before = '', a, b, c, d] = dotted ?? [];
  const all =
    dotted === null
      ? plain
      : `${before}${hex(Number(a) * 256 + Number(b), 4)}:${hex(Number(c) * 256 + Number(d), 4)}`;
  const [left = '', right] = all.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const gap = right === undefined ? 0 : 8 - head.length - tail.length;
  const parts = [...head, ...Array<string>(Math.max(0, gap)).fill('0'), ...tail];
  return parts.map((part) => part.padStart(4, '0').toLowerCase()).join('');
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0');
}
