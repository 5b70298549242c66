/**
 * Snappy's block format, in which Prometheus, Loki and their agents send: a length, then elements
 * that are literals or copies of what came before. Source: format_description.txt of Snappy.
 */

const tooLarge = (): Error =>
  Object.assign(new Error('the decoded body is larger than the bound'), {
    code: 'ERR_BUFFER_TOO_LARGE',
  });
const notSnappy = (): Error => new Error('no block of Snappy');

/** One element: how long it is in the output, and where it is found. */
interface Element {
  readonly length: number;
  /** Distance back in the output; 0 for a literal. */
  readonly offset: number;
  /** Where the literal, or the next element, begins. */
  readonly next: number;
}

/**
 * The content of a block, of one that is cut off what there is. Errors: code ERR_BUFFER_TOO_LARGE
 * for more than `bytesMax`; any other for what is no such block. Cost: some 5 us a KB.
 */
export function decodeSnappy(bytes: Uint8Array, bytesMax: number): Buffer {
  const { value: declared, next: start } = readLength(bytes);
  const output = Buffer.allocUnsafe(Math.min(declared, bytesMax));
  let written = 0;
  for (let at = start; at < bytes.length;) {
    const element = readElement(bytes, at);
    if (element === null) break;
    const { length, offset, next } = element;
    const there = offset === 0 ? Math.min(length, bytes.length - next) : length;
    if (written + length > declared || offset > written) throw notSnappy();
    if (written + there > bytesMax) throw tooLarge();
    if (offset === 0) output.set(bytes.subarray(next, next + there), written);
    else repeat(output, written, offset, length);
    written += there;
    at = next + (offset === 0 ? length : 0);
  }
  return output.subarray(0, written);
}

/** A copy may overlap what it writes. */
function repeat(output: Buffer, written: number, offset: number, length: number): void {
  for (let at = written; at < written + length; at++) output[at] = output[at - offset]!;
}

/** Seven bits a byte, the lowest first, at most 32 bits. */
function readLength(bytes: Uint8Array): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let at = 0; at < Math.min(bytes.length, 5); at++) {
    value += (bytes[at]! & 0x7f) * 2 ** (7 * at);
    if (bytes[at]! < 0x80) {
      if (value > 0xffff_ffff) break;
      return { value, next: at + 1 };
    }
  }
  throw notSnappy();
}

/** The element at a place; null when it is cut off before its content. */
function readElement(bytes: Uint8Array, at: number): Element | null {
  const tag = bytes[at]!;
  const kind = tag & 3;
  const upper = tag >> 2;
  // A literal of more than 60 bytes has its length in up to four bytes, less one.
  const extra = kind === 0 ? Math.max(0, upper - 59) : [0, 1, 2, 4][kind]!;
  const next = at + 1 + extra;
  if (next > bytes.length) return null;
  let number = 0;
  for (let i = 0; i < extra; i++) number += bytes[at + 1 + i]! * 2 ** (8 * i);
  if (kind === 0) return { length: (extra === 0 ? upper : number) + 1, offset: 0, next };
  const offset = kind === 1 ? number + ((tag >> 5) << 8) : number;
  if (offset === 0) throw notSnappy();
  return { length: kind === 1 ? (upper & 7) + 4 : upper + 1, offset, next };
}
