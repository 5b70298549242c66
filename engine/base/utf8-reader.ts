/** Checks UTF-8 that comes in pieces (RFC 3629 section 4). Keeps no bytes. */

/** Reads one text. */
export class Utf8Reader {
  /** Bytes of the current character that are still to come. */
  private missing = 0;
  /** Bounds of the next of them. */
  private low = 0x80;
  private high = 0xbf;

  /** True when no character is left unfinished. */
  get whole(): boolean {
    return this.missing === 0;
  }

  /** Reads bytes [start, end); false when no text has them at this place. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    for (let p = start; p < end; p++) {
      const byte = bytes[p]!;
      if (this.missing === 0) {
        if (byte >= 0x80 && !this.begin(byte)) return false;
        continue;
      }
      if (byte < this.low || byte > this.high) return false;
      this.missing--;
      this.low = 0x80;
      this.high = 0xbf;
    }
    return true;
  }

  /** The first byte of a character says how long it is, and what may follow. */
  private begin(byte: number): boolean {
    if (byte < 0xc2 || byte > 0xf4) return false;
    this.missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    // Neither longer forms than needed, nor surrogates, nor past U+10FFFF.
    if (byte === 0xe0) this.low = 0xa0;
    else if (byte === 0xed) this.high = 0x9f;
    else if (byte === 0xf0) this.low = 0x90;
    else if (byte === 0xf4) this.high = 0x8f;
    return true;
  }
}
