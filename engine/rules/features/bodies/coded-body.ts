/**
 * Undoes the Content-Encoding of a request body, so that what a backend decodes is inspected as
 * what it holds. Backends that ignore the field read the body as it was sent: its readable runs
 * are inspected beside. Only with `SecInspectUnparsed`.
 */

import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { failBody } from './arguments.ts';
import { decodeContent } from './content-coding.ts';
import { contentCoding } from './fields.ts';
import { addRawText } from './raw-text.ts';

/** Every policy has a rule that refuses it. */
export const unreadCoding = 'Content coding: an encoding that is not read';

/** Values that name no coding of the bytes: S3's chunks are text around them. */
const uncoded = new Set(['', 'identity', 'aws-chunked', 'none', 'binary', 'utf-8', 'utf8']);

/**
 * Replaces the body of the transaction by what it holds; `cut`: the body continues after what was
 * received. A coding that is not read, several of them and what does not decode is an error of the
 * body, as is a body that grows past what is inspected. Cost: what decoding costs.
 */
export function decodeRequestBody(tx: Transaction, cut: boolean): void {
  const coding = contentCoding(tx, SOURCE.requestHeader);
  if (uncoded.has(coding)) return;
  const { values, settings } = tx;
  const start = tx.bodyStart;
  const end = start + tx.requestBodyBytes;
  const bytesMax = Math.min(values.room(), settings.requestBodyLimitBytes);
  const decoded = decodeContent(values.slab.subarray(start, end), coding, bytesMax);
  if (decoded === null || isDeflatedBothWays(values.slab.subarray(start, end), coding)) {
    failBody(tx, unreadCoding);
    return;
  }
  if (cut || decoded.truncated) {
    failBody(tx, 'Content coding: more than is inspected');
    reachLimit(tx, 'body-bytes');
  }
  addRawText(tx, SOURCE.argPost, start, end);
  tx.bodyStart = values.append(decoded.bytes);
  tx.requestBodyBytes = decoded.bytes.length;
}

/**
 * Backends take `deflate` with and without zlib's frame (RFC 1950). Without it the first byte of a
 * frame begins a stored block (RFC 1951, 3.2.4), which needs its length twice, once inverted.
 */
function isDeflatedBothWays(bytes: Buffer, coding: string): boolean {
  if (coding !== 'deflate' || bytes.length < 5 || (bytes[0]! & 0x0f) !== 8) return false;
  return (bytes.readUInt16LE(1) ^ bytes.readUInt16LE(3)) === 0xffff;
}
