/** Compares and classifies ASCII bytes in the slab. Makes no strings. */

/** Lower-case byte of every byte; only A-Z change. */
export const lowerByte: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

/** True when [start, end) of `bytes` equals `name` (lower case), ignoring ASCII case. */
export function nameIs(bytes: Uint8Array, start: number, end: number, name: string): boolean {
  return end - start === name.length && startsWithName(bytes, start, end, name);
}

/** True when [start, end) of `bytes` begins with `name` (lower case), ignoring ASCII case. */
export function startsWithName(
  bytes: Uint8Array,
  start: number,
  end: number,
  name: string,
): boolean {
  if (end - start < name.length) return false;
  for (let i = 0; i < name.length; i++) {
    if (lowerByte[bytes[start + i]!] !== name.charCodeAt(i)) return false;
  }
  return true;
}

/** True for the six bytes that C's isspace accepts. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
