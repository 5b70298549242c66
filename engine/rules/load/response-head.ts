/** How the head of the origin's answer becomes header rows, by offset. */

import { type ResponseSnapshot, SPAN } from '../../contract/message.ts';
import { reachLimit } from '../transaction/inspection-limits.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { SOURCE } from '../transaction/values.ts';

/** Fills the values of phase 3. Cost: one copy of the head. */
export function loadResponseHead(tx: Transaction, response: ResponseSnapshot): void {
  tx.response = response;
  const { bytes, spans } = response.head;
  const fieldCount = spans[SPAN.fieldCount]!;
  if (fieldCount === 0) return;
  const from = spans[SPAN.fields]!;
  const to = spans[SPAN.fields + 4 * fieldCount - 1]!;
  if (to - from > tx.values.room()) {
    tx.outboundDataError = 1;
    reachLimit(tx, 'response-bytes');
    return;
  }
  const move = tx.values.append(bytes, from, to) - from;
  for (let i = 0, at: number = SPAN.fields; i < fieldCount; i++, at += 4) {
    tx.values.add(
      SOURCE.responseHeader,
      spans[at]! + move,
      spans[at + 1]! + move,
      spans[at + 2]! + move,
      spans[at + 3]! + move,
    );
  }
}
