/** Owns how the inspected part of a response body becomes RESPONSE_BODY. */

import type { BodySnapshot } from '../../../contract/message.ts';
import type { Transaction } from '../transaction.ts';
import { SOURCE } from '../values.ts';

/**
 * Fills the values of phase 4; `body` null when there is none or it is not inspected. A body that
 * does not fit beside what the transaction holds counts as cut off. Cost: one copy.
 */
export function loadResponseBody(tx: Transaction, body: BodySnapshot | null): void {
  if (body === null || !tx.control.responseBodyAccess) return;
  const length = Math.min(body.bytes.length, tx.values.room());
  if (body.truncated || length < body.bytes.length) tx.outboundDataError = 1;
  if (length === 0) return;
  tx.responseBodyPresent = true;
  tx.responseBodyBytes = length;
  const start = tx.values.append(body.bytes, 0, length);
  tx.values.add(SOURCE.responseBody, start, start, start, start + length);
}
