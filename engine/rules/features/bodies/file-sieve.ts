/**
 * Takes a long multipart body piece by piece and keeps all of it but the content of its files, of
 * which it keeps the beginnings. Leaves out only what every reader takes for content of a file:
 * where the boundary stands in any other way than on a line of its own, everything after it is
 * kept up to the next part that is clear. What is left out can therefore hold no part.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import { readDisposition } from '../../../base/multipart-disposition.ts';
import { headerOf } from './multipart-headers.ts';

const LF = 0x0a;
const CR = 0x0d;
const DASH = 0x2d;
const SPACE = 0x20;

/** A header section that is not read to its end by then is kept as it is. */
const headBytesMax = 16_384;
/** Bytes in front of a boundary that are kept: its dashes and its line end among them. */
const contextBytes = 64;
/** Bytes after a boundary that tell whether it ends a line. */
const tailBytes = 4;
const headEnd = Buffer.from('\r\n\r\n');
/** Lines without folding and control characters, as all readers cut them. */
const clearHead = /^(?:[!#$%&'*+\-.0-9A-Z^_`a-z|~]+:[\t\x20-\x7e\x80-\xff]*(?:\r\n|$))+$/;

/** `keep`: all is kept; `head`: a part began; `file`: its content is left out. */
type State = 'keep' | 'head' | 'file';

/** One body; see the header. Cost: one copy and one native search of all bytes. */
export class FileSieve {
  /** Pairs: an offset in what is kept, and the bytes that are left out there. */
  readonly gaps: number[] = [];
  /** True once something was kept that is no content of a file; who inspects it sets it back. */
  changed = false;
  private readonly boundary: Buffer;
  private buffer = Buffer.allocUnsafe(131_072);
  private length = 0;
  private state: State = 'keep';
  /** Where the next boundary is looked for. */
  private scan = 0;
  /** Where the head of the part begins, then what is left out of its content. */
  private from = 0;
  /** True once something of the file was left out: the gap is the last one. */
  private open = false;
  /** Where the content of the file begins. */
  private content = 0;
  private headsLeft: number = valueLimits.fileHeadsBytesMax;

  /** `boundary`: empty where readers may find different ones; then everything is kept. */
  constructor(boundary: ByteString) {
    this.boundary = Buffer.from(boundary, 'latin1');
  }

  /** What is kept; valid until the next `push`. */
  get kept(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  /** Takes the next bytes; `last` says that nothing follows. */
  push(piece: Uint8Array, last: boolean): void {
    this.append(piece);
    if (this.boundary.length > 0) while (this.step(last)) continue;
    if (this.state !== 'file' || last) this.changed = true;
  }

  /** False where more bytes are needed, or nothing is left to do. */
  private step(last: boolean): boolean {
    if (this.state === 'head') return this.readHead(last);
    const at = this.kept.indexOf(this.boundary, this.scan);
    if (at < 0) {
      this.scan = Math.max(this.scan, this.length - this.boundary.length + 1);
      if (this.state === 'file') this.leaveOut(this.length - this.boundary.length - contextBytes);
      return false;
    }
    if (at + this.boundary.length + tailBytes > this.length && !last) {
      this.scan = at;
      return false;
    }
    const found = this.state === 'file' ? at - this.leaveOut(at - contextBytes) : at;
    this.endSection(found);
    return true;
  }

  /** Decides what the boundary at `at` begins. */
  private endSection(at: number): void {
    const { buffer } = this;
    if (this.state === 'file') {
      const head = Math.min(this.from, at) - this.content;
      this.headsLeft = Math.max(0, this.headsLeft - head);
    }
    const after = at + this.boundary.length;
    const line = at - 2;
    const dashed = line >= 0 && buffer[line] === DASH && buffer[line + 1] === DASH;
    const begins = line === 0 || (line > 1 && buffer[line - 2] === CR && buffer[line - 1] === LF);
    const ends = after + 2 <= this.length && buffer[after] === CR && buffer[after + 1] === LF;
    this.changed = true;
    this.state = dashed && begins && ends ? 'head' : 'keep';
    this.scan = this.state === 'head' ? after + 2 : at + 1;
    this.from = this.scan;
  }

  private readHead(last: boolean): boolean {
    const end = this.kept.indexOf(headEnd, this.from);
    const isLong = (end < 0 ? this.length : end) - this.from > headBytesMax;
    if (end < 0 && !isLong && !last) return false;
    this.state = 'keep';
    if (end < 0 || isLong || !isFile(this.buffer, this.from, end, this.boundary)) return true;
    const content = end + headEnd.length;
    this.state = 'file';
    this.open = false;
    this.scan = this.content = content;
    this.from = content + Math.min(valueLimits.fileHeadBytesMax, this.headsLeft);
    return true;
  }

  /**
   * Leaves out what stands between the beginning of the file and `to`; gives by how many bytes what
   * follows has moved. A blank stands in its place: what is around it makes no boundary together.
   */
  private leaveOut(to: number): number {
    const { buffer, from } = this;
    const start = this.open ? from : from + 1;
    const bytes = to - start;
    if (bytes <= 0) return 0;
    if (!this.open) {
      buffer[from] = SPACE;
      this.gaps.push(start, 0);
      this.open = true;
      this.from = start;
    }
    buffer.copyWithin(start, to, this.length);
    this.gaps[this.gaps.length - 1]! += bytes;
    this.length -= bytes;
    this.scan = Math.max(start, this.scan - bytes);
    return bytes;
  }

  private append(piece: Uint8Array): void {
    const need = this.length + piece.length;
    if (need > this.buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(need, 2 * this.buffer.length));
      this.buffer.copy(grown, 0, 0, this.length);
      this.buffer = grown;
    }
    this.buffer.set(piece, this.length);
    this.length = need;
  }
}

/** True where every reader takes the part for a file with a name. */
function isFile(bytes: Buffer, start: number, end: number, boundary: Buffer): boolean {
  const head = bytes.latin1Slice(start, end);
  if (!clearHead.test(head) || head.includes(boundary.latin1Slice())) return false;
  if ((head.match(/^content-disposition:/gim)?.length ?? 0) !== 1) return false;
  const lines: [number, number][] = [];
  for (let at = start; at < end;) {
    const stop = bytes.indexOf('\r\n', at);
    lines.push([at, Math.min(stop, end)]);
    at = stop + 2;
  }
  const { kind, alike, name, fileName } = readDisposition(
    headerOf(bytes, lines, 'content-disposition') ?? '',
  );
  return alike && kind === 'file' && name !== '' && fileName !== '';
}
