/**
 * Undoes the content coding of a body for inspection: what is inspected is what the client's
 * browser shows. The bytes that are forwarded stay as they are. Never throws.
 */

import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
} from 'node:zlib';
import { valueLimits } from '../../../../base/rule-limits.ts';
import { decodeZstd } from '../../../match/content.ts';
import { decodeSnappy } from './snappy.ts';

/** A decoded body, or its beginning. */
export interface DecodedBody {
  readonly bytes: Uint8Array;
  /** True when it continues after `bytes`. */
  readonly truncated: boolean;
}

type Decode = (bytes: Uint8Array, bytesMax: number) => Buffer;

/** Takes what there is of a body that was cut off. */
const zlib = (maxOutputLength: number) => ({
  maxOutputLength,
  finishFlush: constants.Z_SYNC_FLUSH,
});

const gzip: Decode = (bytes, bytesMax) => gunzipSync(bytes, zlib(bytesMax));

/** RFC 9110 means zlib's format; some origins send raw deflate, and browsers take it. */
const deflate: Decode = (bytes, bytesMax) => {
  const wrapped = (bytes[0]! & 0x0f) === 8 && ((bytes[0]! << 8) | (bytes[1] ?? 0)) % 31 === 0;
  return (wrapped ? inflateSync : inflateRawSync)(bytes, zlib(bytesMax));
};

const brotli: Decode = (bytes, maxOutputLength) =>
  brotliDecompressSync(bytes, {
    maxOutputLength,
    finishFlush: constants.BROTLI_OPERATION_FLUSH,
  });

const zstd: Decode = (bytes, bytesMax) => {
  const decoded = decodeZstd(bytes, bytesMax);
  if (decoded === null) throw new Error('no Zstandard');
  return decoded;
};

const decoders: ReadonlyMap<string, Decode> = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', deflate],
  ['br', brotli],
  ['zstd', zstd],
  ['snappy', decodeSnappy],
]);

/**
 * The body in the coding that Content-Encoding names, or a beginning that gives at most `bytesMax`;
 * null for no coding, several or others, and for what is none. Cost: what decoding `bytesMax` bytes
 * costs; some times that for a body that grows beyond it, whose length is found by halving.
 */
export function decodeContent(
  bytes: Uint8Array,
  coding: string,
  bytesMax: number,
): DecodedBody | null {
  const decode = decoders.get(coding.trim().toLowerCase());
  if (decode === undefined || bytes.length === 0 || bytesMax < 1) return null;
  let best: Uint8Array | null = null;
  let fits = 0;
  let grows = bytes.length + 1;
  let length = bytes.length;
  for (let tries = 0; tries < valueLimits.decodeTriesMax && length > fits; tries++) {
    const decoded = decodeOnce(decode, bytes.subarray(0, length), bytesMax);
    if (decoded === 'none') return null;
    if (decoded === 'too large') grows = length;
    else {
      best = decoded;
      fits = length;
      if (length === bytes.length || best.length >= bytesMax / 2) break;
    }
    length = (fits + grows) >>> 1;
  }
  return best === null ? null : { bytes: best, truncated: fits < bytes.length };
}

function decodeOnce(
  decode: Decode,
  bytes: Uint8Array,
  bytesMax: number,
): Buffer | 'too large' | 'none' {
  try {
    return decode(bytes, bytesMax);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    return code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'none';
  }
}
