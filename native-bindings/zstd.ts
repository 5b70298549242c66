/** Zstandard, as clients send it: Content-Encoding `zstd`. Only decodes. */
import { addon } from './load-addon.ts';

/**
 * The content of the frames in `bytes`, of those that are cut off what there is; null for what is
 * no Zstandard, needs a dictionary or a window above 8 MB (RFC 9659).
 * Errors: code ERR_BUFFER_TOO_LARGE for a content above `bytesMax`. Cost: some 2 us a KB, at most
 * what `bytesMax` bytes cost. Source: RFC 8878.
 */
export function decodeZstd(bytes: Uint8Array, bytesMax: number): Buffer | null {
  return addon.decodeZstd(bytes, bytesMax);
}
