/**
 * Reads addresses and networks as texts, and their sortable keys: family, bits in hex, prefix
 * length in hex. Keys of one family have one length and sort by address, then by prefix, so that a
 * network stands before what it contains. Never resolves names.
 */

/** Characters of a key by its family. */
export const keyWidth = { '4': 11, '6': 35 } as const;

/** Family of a key. */
export type IpFamily = keyof typeof keyWidth;

/** The family of a key. */
export function familyOf(key: string): IpFamily {
  return key.charCodeAt(0) === 0x34 ? '4' : '6';
}

/** The prefix length of a key. */
export function prefixOf(key: string): number {
  return Number.parseInt(key.slice(-2), 16);
}

/**
 * The key of an address or of a network in CIDR form; null for anything else. Bits after the
 * prefix are cleared; an IPv4 address mapped into IPv6 counts as IPv4. Zones are refused. Cost:
 * about 0.5 us for IPv4.
 */
export function parseNetwork(text: string): string | null {
  const slash = text.indexOf('/');
  const address = slash < 0 ? text : text.slice(0, slash);
  const prefix = slash < 0 ? -1 : parsePrefix(text, slash + 1);
  if (prefix === null) return null;
  if (!address.includes(':')) {
    const bits = parseIpv4(address);
    if (bits < 0 || prefix > 32) return null;
    return ipv4Key(bits, prefix < 0 ? 32 : prefix);
  }
  const groups = parseIpv6(address);
  if (groups === null || prefix > 128) return null;
  const length = prefix < 0 ? 128 : prefix;
  if (length >= 96 && isMapped(groups)) {
    return ipv4Key(groups[6]! * 0x10000 + groups[7]!, length - 96);
  }
  return ipv6Key(groups, length);
}

/** The key of one address; null for anything else, networks included. */
export function parseAddress(text: string): string | null {
  return text.includes('/') ? null : parseNetwork(text);
}

/** The text of a key: the address, and the prefix where it is shorter than the address. */
export function textOfKey(key: string): string {
  const prefix = prefixOf(key);
  if (familyOf(key) === '4') {
    const bits = Number.parseInt(key.slice(1, 9), 16);
    const address = `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`;
    return prefix === 32 ? address : `${address}/${prefix}`;
  }
  const address = ipv6Text(key);
  return prefix === 128 ? address : `${address}/${prefix}`;
}

/** The network of `prefix` bits that holds the address of `key`. */
export function maskKey(key: string, prefix: number): string {
  const width = key.length - 3;
  const kept = prefix >> 2;
  const rest = prefix & 3;
  let bits = key.slice(1, 1 + kept);
  if (rest > 0) {
    const digit = Number.parseInt(key.charAt(1 + kept), 16) & (0xf << (4 - rest)) & 0xf;
    bits += digit.toString(16);
  }
  return key.charAt(0) + bits.padEnd(width, '0') + prefixText(prefix);
}

/** Whether `network` holds all of `inner`. */
export function containsKey(network: string, inner: string): boolean {
  if (network.charCodeAt(0) !== inner.charCodeAt(0)) return false;
  const prefix = prefixOf(network);
  return prefix <= prefixOf(inner) && maskKey(inner, prefix) === network;
}

/** Bits of an IPv6 address that name a network: its holder has all addresses below. RFC 6177. */
const ipv6NetworkBits = 64;

/**
 * What one client is counted under: an IPv4 address by itself, an IPv6 address by its network, any
 * other text as it is. Cost: nothing for IPv4.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const key = parseAddress(address);
  if (key === null) return address;
  return familyOf(key) === '4' ? textOfKey(key) : maskKey(key, ipv6NetworkBits);
}

/** Bytes of one address, 4 or 16, mapped IPv4 as 16; null for anything else. */
export function addressBytes(text: string): Uint8Array | null {
  if (!text.includes(':')) {
    const bits = parseIpv4(text);
    return bits < 0
      ? null
      : Uint8Array.of(bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255);
  }
  const groups = parseIpv6(text);
  return groups && Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 255]));
}

/** An address as numbers, for look-ups that run with every request. */
export interface AddressBits {
  /** 0 for what is no address. */
  family: 0 | 4 | 6;
  /** The most significant first; one for IPv4, four for IPv6. */
  readonly words: Uint32Array;
}

/** Sixteen bits of an address from `bit` on; its words begin at `at`. */
export function sixteenBits(words: Uint32Array, at: number, bit: number): number {
  const place = at + (bit >>> 5);
  const offset = bit & 31;
  const word = words[place]!;
  if (offset <= 16) return (word >>> (16 - offset)) & 0xffff;
  return ((word << (offset - 16)) | (words[place + 1]! >>> (48 - offset))) & 0xffff;
}

/** Fills `into`; an IPv4 address mapped into IPv6 counts as IPv4. Cost: 0.1 us for IPv4. */
export function readAddressBits(text: string, into: AddressBits): AddressBits {
  const { words } = into;
  into.family = 0;
  if (!text.includes(':')) {
    const bits = parseIpv4(text);
    if (bits < 0) return into;
    words[0] = bits;
    into.family = 4;
    return into;
  }
  const groups = parseIpv6(text);
  if (groups === null) return into;
  const mapped = isMapped(groups);
  into.family = mapped ? 4 : 6;
  if (mapped) words[0] = groups[6]! * 0x10000 + groups[7]!;
  else for (let at = 0; at < 4; at++) words[at] = groups[2 * at]! * 0x10000 + groups[2 * at + 1]!;
  return into;
}

function parsePrefix(text: string, start: number): number | null {
  const digits = text.slice(start);
  return /^(?:0|[1-9]\d{0,2})$/.test(digits) ? Number(digits) : null;
}

/** Four decimal parts without leading zeros; -1 for anything else. */
function parseIpv4(text: string): number {
  let bits = 0;
  let part = -1;
  let parts = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? 0x2e : text.charCodeAt(at);
    if (code === 0x2e) {
      if (part < 0 || ++parts > 4) return -1;
      bits = bits * 256 + part;
      part = -1;
      continue;
    }
    if (code < 0x30 || code > 0x39 || part === 0) return -1;
    part = (part < 0 ? 0 : part * 10) + code - 0x30;
    if (part > 255) return -1;
  }
  return parts === 4 ? bits : -1;
}

function ipv4Key(bits: number, prefix: number): string {
  const kept = prefix === 0 ? 0 : (bits >>> (32 - prefix)) * 2 ** (32 - prefix);
  return `4${kept.toString(16).padStart(8, '0')}${prefixText(prefix)}`;
}

/**
 * RFC 4291 section 2.2: eight groups, one `::`, perhaps IPv4 at the end; null for anything else.
 */
function parseIpv6(text: string): number[] | null {
  if (text.length > 45 || !/^[0-9a-fA-F:.]+$/.test(text)) return null;
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const left = readGroups(halves[0] ?? '', halves.length === 1);
  const right = halves.length === 2 ? readGroups(halves[1] ?? '', true) : [];
  if (left === null || right === null) return null;
  const missing = 8 - left.length - right.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  return [...left, ...new Array<number>(missing).fill(0), ...right];
}

function readGroups(text: string, isEnd: boolean): number[] | null {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [at, part] of parts.entries()) {
    if (part.includes('.')) {
      const bits = isEnd && at === parts.length - 1 ? parseIpv4(part) : -1;
      if (bits < 0) return null;
      groups.push(Math.floor(bits / 0x10000), bits % 0x10000);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return null;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups;
}

function isMapped(groups: readonly number[]): boolean {
  return groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
}

function ipv6Key(groups: readonly number[], prefix: number): string {
  const bits = groups.map((group) => group.toString(16).padStart(4, '0')).join('');
  return maskKey(`6${bits}80`, prefix);
}

/** RFC 5952: lower case, no leading zeros, the first longest run of zero groups left out. */
function ipv6Text(key: string): string {
  const groups: string[] = [];
  for (let at = 1; at < 33; at += 4) {
    groups.push(Number.parseInt(key.slice(at, at + 4), 16).toString(16));
  }
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === '0') length++;
    if (length > best.length) best = { start, length };
  }
  if (best.start < 0) return groups.join(':');
  const left = groups.slice(0, best.start).join(':');
  return `${left}::${groups.slice(best.start + best.length).join(':')}`;
}

function prefixText(prefix: number): string {
  return prefix < 16 ? `0${prefix.toString(16)}` : prefix.toString(16);
}
