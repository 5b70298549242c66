/**
 * Reads the message that a GET of Connect carries in its query: JSON or a message of Protocol
 * Buffers, as it stands, in base64, compressed. Runs where a site asks for fields of gRPC.
 * Source: Connect Protocol, Unary-Get-Request.
 */

import { valueLimits } from '../../../../base/rule-limits.ts';
import { nameIs } from '../../transaction/ascii.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { decodeContent } from './content-coding.ts';
import { readProtobuf } from './grpc.ts';
import { readInnerTexts } from './inner-texts.ts';
import { addRawText } from './raw-text.ts';
import { quietly, readJson } from './unparsed.ts';

/** Adds what the message holds to ARGS_POST. Cost: a look at each argument of the query. */
export function readConnectQuery(tx: Transaction): void {
  const message = queryValue(tx, 'message');
  if (message < 0 || textOf(tx, queryValue(tx, 'encoding')) === '') return;
  const first = tx.values.rowsOf(SOURCE.argPost).length;
  quietly(tx, () => readMessage(tx, message));
  readInnerTexts(tx, first, true);
}

function readMessage(tx: Transaction, row: number): void {
  const { values } = tx;
  let [start, end] = [values.start[row]!, values.end[row]!];
  if (textOf(tx, queryValue(tx, 'base64')) === '1') {
    start = values.append(Buffer.from(values.slab.latin1Slice(start, end), 'base64'));
    end = values.used;
  }
  const coding = textOf(tx, queryValue(tx, 'compression'));
  if (coding !== '' && coding !== 'identity') {
    const room = Math.min(values.room(), valueLimits.connectMessageBytesMax);
    const decoded = decodeContent(values.slab.subarray(start, end), coding, room);
    if (decoded === null) return;
    if (decoded.truncated) reachLimit(tx, 'grpc-bytes');
    start = values.append(decoded.bytes);
    end = values.used;
  }
  if (textOf(tx, queryValue(tx, 'encoding')) === 'json') return readJson(tx, start, end, false);
  if (!readProtobuf(tx, start, end)) addRawText(tx, SOURCE.argPost, start, end);
}

/** The row of the last argument of that name; -1 for none. */
function queryValue({ values }: Transaction, name: string): number {
  let found = -1;
  for (const row of values.rowsOf(SOURCE.argGet)) {
    if (nameIs(values.slab, values.keyStart[row]!, values.keyEnd[row]!, name)) found = row;
  }
  return found;
}

function textOf({ values }: Transaction, row: number): string {
  return row < 0 ? '' : values.value(row).toLowerCase();
}
