/** The JSON body processor; the reading itself is json-reader.ts. */

import type { Transaction } from '../../transaction/transaction.ts';
import type { BodyProcessorDefinition } from '../../transaction/types.ts';
import { failBody } from './arguments.ts';
import { asUtf8, readJson } from './unparsed.ts';

/** `ctl:requestBodyProcessor=JSON`. */
export const jsonBody: BodyProcessorDefinition = {
  name: 'JSON',
  summary: 'Every scalar of the document becomes an argument named by its path.',
  example: 'ctl:requestBodyProcessor=JSON',
  source: 'RFC 8259; names as ModSecurity v3: json.a.b, json.list.array_0',
  process(tx: Transaction, start: number, end: number, truncated: boolean): void {
    const [from, to] = tx.settings.inspectsUnparsed ? asUtf8(tx, start, end) : [start, end];
    if (from !== start) failBody(tx, 'JSON: not UTF-8');
    readJson(tx, from, to, truncated);
  },
};
