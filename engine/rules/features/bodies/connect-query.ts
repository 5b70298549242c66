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
import { failBody } from './arguments.ts';
import { unreadCoding } from './coded-body.ts';
import { decodeContent } from './content-coding.ts';
import { readProtobuf } from './grpc.ts';
import { readInnerTexts } from './inner-texts.ts';
import { addRawText } from './raw-text.ts';
import { quietly, readJson } from './unparsed.ts';

/** Which of several arguments of one name a server takes. */
type Choice = 'first' | 'last';

/**
 * Adds what the message holds to ARGS_POST, read with the first and with the last argument of each
 * name: servers differ in which they take. A message that is compressed in a way that is not read
 * is an error of the body. Cost: a look at each argument of the query.
 */
export function readConnectQuery(tx: Transaction): void {
  if (queryValue(tx, 'message', 'last') < 0) return;
  const rows = tx.values.rowsOf(SOURCE.argPost).length;
  readMessage(tx, 'last');
  if (parameters.some((name) => queryValue(tx, name, 'first') !== queryValue(tx, name, 'last'))) {
    readMessage(tx, 'first');
  }
  readInnerTexts(tx, rows, true);
}

const parameters = ['message', 'encoding', 'base64', 'compression'] as const;

function readMessage(tx: Transaction, choice: Choice): void {
  const { values } = tx;
  const encoding = textOf(tx, queryValue(tx, 'encoding', choice));
  if (encoding === '') return;
  const row = queryValue(tx, 'message', choice);
  let [start, end] = [values.start[row]!, values.end[row]!];
  if (textOf(tx, queryValue(tx, 'base64', choice)) === '1') {
    start = values.append(Buffer.from(values.slab.latin1Slice(start, end), 'base64'));
    end = values.used;
  }
  const coding = textOf(tx, queryValue(tx, 'compression', choice));
  if (coding !== '' && coding !== 'identity' && start < end) {
    const room = Math.min(values.room(), valueLimits.connectMessageBytesMax);
    const decoded = decodeContent(values.slab.subarray(start, end), coding, room);
    if (decoded === null) {
      failBody(tx, unreadCoding);
      addRawText(tx, SOURCE.argPost, start, end);
      return;
    }
    if (decoded.truncated) reachLimit(tx, 'grpc-bytes');
    start = values.append(decoded.bytes);
    end = values.used;
  }
  quietly(tx, () => {
    // connect-go takes a charset after the name, too.
    if (/^json\b/.test(encoding)) readJson(tx, start, end, false);
    else if (!readProtobuf(tx, start, end)) addRawText(tx, SOURCE.argPost, start, end);
  });
}

/** The row of the first or last argument of that name; -1 for none. */
function queryValue({ values }: Transaction, name: string, choice: Choice): number {
  let found = -1;
  for (const row of values.rowsOf(SOURCE.argGet)) {
    if (!nameIs(values.slab, values.keyStart[row]!, values.keyEnd[row]!, name)) continue;
    if (choice === 'first') return row;
    found = row;
  }
  return found;
}

function textOf({ values }: Transaction, row: number): string {
  return row < 0 ? '' : values.value(row).toLowerCase();
}
