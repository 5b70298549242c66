/**
 * Reads a long multipart body on while the content of its files flows to the origin: whenever
 * something else than that has come, all that is kept of the body is inspected as one, so that
 * fields are judged together, wherever they stand. Bytes wait until what they hold was inspected.
 */

import { valueLimits } from '../../base/rule-limits.ts';
import type { BodySnapshot } from '../contract/message.ts';
import type { BodyRestNeed, FilesNeed } from '../contract/verdict.ts';
import { FileSieve } from '../rules/features/bodies/file-sieve.ts';
import type { RestReader } from './rest-reader.ts';

/** One body; see the header. */
export class FilesReader implements RestReader {
  readonly first: BodySnapshot;
  readonly endsWhole = true;
  over: 'refuse' | 'stop' | null = null;
  private readonly need: FilesNeed;
  private readonly limitBytes: number;
  private readonly sieve: FileSieve;
  private reached: number;

  /** `held`: the beginning of the body. */
  constructor(held: Buffer, { limitBytes }: BodyRestNeed, need: FilesNeed) {
    this.need = need;
    this.limitBytes = limitBytes;
    this.reached = held.length;
    this.sieve = new FileSieve(need.boundary);
    this.sieve.push(held, false);
    this.first = this.look(true, false);
  }

  /** As much as is kept: inspecting that again never costs more than the bytes that come. */
  get pieceBytes(): number {
    return Math.max(valueLimits.restWindowBytes, this.sieve.kept.length);
  }

  next(piece: Buffer, last: boolean): BodySnapshot | null {
    const { sieve, need } = this;
    this.reached += piece.length;
    if (need.refuses && this.reached > this.limitBytes) {
      this.over = 'refuse';
      return null;
    }
    sieve.push(piece, last);
    return sieve.changed ? this.look(!last, true) : null;
  }

  private look(truncated: boolean, again: boolean): BodySnapshot {
    const { sieve, need } = this;
    sieve.changed = false;
    // A file whose head is unclear is kept like fields, but no limit on fields counts it.
    if (sieve.kept.length > need.keptBytesMax) this.over = need.stops ? 'stop' : 'refuse';
    return { bytes: sieve.kept, truncated, files: { gaps: [...sieve.gaps], again } };
  }
}
