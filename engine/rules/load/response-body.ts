/** How the inspected part of a response body becomes RESPONSE_BODY. */

import type { BodySnapshot } from '../../contract/message.ts';
import { reachLimit } from '../transaction/inspection-limits.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { SOURCE } from '../transaction/values.ts';
import { decodeContent } from '../features/bodies/content-coding.ts';
import { contentCoding } from '../features/bodies/fields.ts';

/**
 * Fills the values of phase 4; `body` null when there is none or it is not inspected. A compressed
 * body is inspected as what it holds; one in a coding that is not known, as it was sent. A body
 * that does not fit beside what the transaction holds counts as cut off and reaches the limit
 * `response-bytes`. Cost: one copy.
 */
export function loadResponseBody(tx: Transaction, body: BodySnapshot | null): void {
  if (body === null || !tx.control.responseBodyAccess) return;
  const room = tx.values.room();
  const coding = contentCoding(tx, SOURCE.responseHeader);
  const bytesMax = Math.min(tx.settings.responseBodyLimitBytes, room);
  const decoded = coding === '' ? null : decodeContent(body.bytes, coding, bytesMax);
  const { bytes } = decoded ?? body;
  const length = Math.min(bytes.length, room);
  const cut = body.truncated || (decoded?.truncated ?? false);
  if (cut || length < bytes.length) {
    tx.outboundDataError = 1;
    reachLimit(tx, 'response-bytes');
  }
  if (length === 0) return;
  tx.responseBodyPresent = true;
  tx.responseBodyBytes = length;
  const start = tx.values.append(bytes, 0, length);
  tx.values.add(SOURCE.responseBody, start, start, start, start + length);
}
