/**
 * The wire of the fault soak: random requests as bytes, the contents that only one request has, and
 * reading a stream of messages to its end. Knows nothing of sockets.
 */

/** Small, repeatable randomness (mulberry32). */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** An integer from 0, below `bound`. */
  below(bound: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * bound);
  }

  one<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  /** True once in `times`. */
  chance(times: number): boolean {
    return this.below(times) === 0;
  }
}

/** Content that only this request, and in this direction, has. */
export function contentOf(mark: string, id: number, size: number): Buffer {
  return Buffer.alloc(size, `<${mark}${id}>`, 'latin1');
}

/** True when `bytes` is how the content of that request begins. */
export function isContentOf(bytes: Uint8Array, mark: string, id: number): boolean {
  return Buffer.from(bytes).equals(contentOf(mark, id, bytes.length));
}

/** `bytes` in chunks of odd sizes, with extensions and a trailer now and then. */
export function chunked(bytes: Buffer, random: Random, last = true): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = Math.min(bytes.length - at, 1 + random.below(random.one([3, 700, 9_000, 70_000])));
    const digits = random.chance(4) ? size.toString(16).toUpperCase() : size.toString(16);
    const zeros = random.chance(9) ? '00' : '';
    const extension = random.chance(7) ? ';a=1;b="x;y"' : '';
    parts.push(Buffer.from(`${zeros}${digits}${extension}\r\n`), bytes.subarray(at, at + size));
    parts.push(Buffer.from('\r\n'));
    at += size;
  }
  if (last) parts.push(Buffer.from(random.chance(5) ? '0\r\nX-T: 1\r\n\r\n' : '0\r\n\r\n'));
  return Buffer.concat(parts);
}

/** One message as far as it came. */
export interface ReadMessage {
  readonly head: string;
  readonly body: Buffer;
  readonly complete: boolean;
}

/** How the body of a message ends; null while there is none. */
export type Framing = 'none' | 'length' | 'chunked' | 'close';

/** Value of a field, or null. */
export function field(head: string, name: string): string | null {
  return new RegExp(`\\r\\n${name}: *([^\\r]*)`, 'i').exec(head)?.[1] ?? null;
}

/** Takes the first message off `bytes`; null while its head is not complete. */
export function takeMessage(
  bytes: Buffer,
  framingOf: (head: string) => Framing,
  closed: boolean,
): { message: ReadMessage; rest: Buffer } | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const head = bytes.toString('latin1', 0, headEnd + 2);
  const after = bytes.subarray(headEnd + 4);
  const framing = framingOf(head);
  if (framing === 'close') {
    return { message: { head, body: after, complete: closed }, rest: Buffer.alloc(0) };
  }
  if (framing === 'chunked') {
    const { body, next } = unchunk(after);
    return { message: { head, body, complete: next >= 0 }, rest: restOf(after, next) };
  }
  const length = framing === 'none' ? 0 : Number(field(head, 'Content-Length'));
  const complete = after.length >= length;
  const next = complete ? length : -1;
  const body = after.subarray(0, Math.min(length, after.length));
  return { message: { head, body, complete }, rest: restOf(after, next) };
}

function restOf(bytes: Buffer, next: number): Buffer {
  return next < 0 ? Buffer.alloc(0) : bytes.subarray(next);
}

/** `next` is where what follows begins, or -1 while the body is not complete. */
function unchunk(bytes: Buffer): { body: Buffer; next: number } {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return { body: Buffer.concat(parts), next: -1 };
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error('what should be a chunk is none');
    const from = lineEnd + 2;
    if (size === 0) {
      const done = bytes.length >= from + 2;
      return { body: Buffer.concat(parts), next: done ? from + 2 : -1 };
    }
    parts.push(bytes.subarray(from, from + size));
    if (bytes.length < from + size + 2) return { body: Buffer.concat(parts), next: -1 };
    at = from + size + 2;
  }
}
