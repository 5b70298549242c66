/**
 * HalfSipHash-2-4 with 64 bits of output: a keyed hash of short byte strings, so that nobody who
 * does not know the key finds values that meet. Source: Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF", and the reference code's halfsiphash.c.
 */

import type { ByteString } from '../../base/byte-string.ts';

/** Two words of 32 bits. */
export type HashKey = readonly [number, number];

/** Hashes under one key; the result of the last call stands in `low` and `high`. */
export class HalfSipHash {
  low = 0;
  high = 0;
  private readonly k0: number;
  private readonly k1: number;
  private v0 = 0;
  private v1 = 0;
  private v2 = 0;
  private v3 = 0;

  constructor([k0, k1]: HashKey) {
    this.k0 = k0;
    this.k1 = k1;
  }

  /** Cost: some 2 ns a byte; allocates nothing. */
  hash(text: ByteString): this {
    const { k0, k1 } = this;
    const { length } = text;
    this.v0 = k0;
    this.v1 = k1 ^ 0xee;
    this.v2 = 0x6c796765 ^ k0;
    this.v3 = 0x74656462 ^ k1;
    const whole = length & ~3;
    for (let at = 0; at < whole; at += 4) {
      this.absorb(
        (text.charCodeAt(at) & 255) |
          ((text.charCodeAt(at + 1) & 255) << 8) |
          ((text.charCodeAt(at + 2) & 255) << 16) |
          ((text.charCodeAt(at + 3) & 255) << 24),
      );
    }
    let last = length << 24;
    for (let at = length - 1; at >= whole; at--) {
      last |= (text.charCodeAt(at) & 255) << (8 * (at - whole));
    }
    this.absorb(last);
    this.v2 ^= 0xee;
    for (let round = 0; round < 4; round++) this.round();
    this.low = this.v1 ^ this.v3;
    this.v1 ^= 0xdd;
    for (let round = 0; round < 4; round++) this.round();
    this.high = this.v1 ^ this.v3;
    return this;
  }

  private absorb(word: number): void {
    this.v3 ^= word;
    this.round();
    this.round();
    this.v0 ^= word;
  }

  private round(): void {
    let { v0, v1, v2, v3 } = this;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    this.v0 = v0;
    this.v1 = v1;
    this.v2 = v2;
    this.v3 = v3;
  }
}
