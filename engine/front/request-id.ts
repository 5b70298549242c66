/** Request ids: which of the client's are kept, and how new ones are made. */

import { randomFillSync } from 'node:crypto';
import { toByteString } from '../../base/byte-string.ts';

const ID_BYTES = 16;
const POOL_IDS = 256;
const ID_LENGTH_MIN = 8;
const ID_LENGTH_MAX = 128;

/** Makes ids of 32 hexadecimal digits. Cost: one call for random bytes per 256 ids. */
export class RequestIds {
  private readonly pool = Buffer.allocUnsafeSlow(ID_BYTES * POOL_IDS);
  private at = ID_BYTES * POOL_IDS;

  next(): string {
    if (this.at === this.pool.length) {
      randomFillSync(this.pool);
      this.at = 0;
    }
    const start = this.at;
    this.at += ID_BYTES;
    return this.pool.toString('hex', start, this.at);
  }
}

/** The client's own id in bytes [start, end), or null unless it is [A-Za-z0-9._-]{8,128}. */
export function keptRequestId(bytes: Uint8Array, start: number, end: number): string | null {
  const length = end - start;
  if (length < ID_LENGTH_MIN || length > ID_LENGTH_MAX) return null;
  for (let i = start; i < end; i++) if (!isIdByte(bytes[i]!)) return null;
  return toByteString(bytes, start, end);
}

function isIdByte(byte: number): boolean {
  if (byte >= 0x30 && byte <= 0x39) return true;
  const lower = byte | 0x20;
  if (lower >= 0x61 && lower <= 0x7a && byte < 0x80) return true;
  return byte === 0x2d || byte === 0x2e || byte === 0x5f;
}
