/** Writes code points as UTF-8. */

/** Writes one code point at `at`; returns the offset after it. Cost: one to four bytes. */
export function writeUtf8(slab: Uint8Array, at: number, code: number): number {
  let out = at;
  if (code < 0x80) {
    slab[out++] = code;
  } else if (code < 0x800) {
    slab[out++] = 0xc0 | (code >> 6);
    slab[out++] = 0x80 | (code & 0x3f);
  } else if (code < 0x10000) {
    slab[out++] = 0xe0 | (code >> 12);
    slab[out++] = 0x80 | ((code >> 6) & 0x3f);
    slab[out++] = 0x80 | (code & 0x3f);
  } else {
    slab[out++] = 0xf0 | (code >> 18);
    slab[out++] = 0x80 | ((code >> 12) & 0x3f);
    slab[out++] = 0x80 | ((code >> 6) & 0x3f);
    slab[out++] = 0x80 | (code & 0x3f);
  }
  return out;
}
