/** Owns the JSON body processor; the reading itself is json-reader.ts. */

import type { Transaction } from '../transaction.ts';
import type { BodyProcessorDefinition } from '../types.ts';
import { JsonReader } from './json-reader.ts';

/** One a thread: inspection is synchronous, so two documents are never read at once. */
const reader = new JsonReader();

/** `ctl:requestBodyProcessor=JSON`. */
export const jsonBody: BodyProcessorDefinition = {
  name: 'JSON',
  summary: 'Every scalar of the document becomes an argument named by its path.',
  example: 'ctl:requestBodyProcessor=JSON',
  source: 'RFC 8259; names as ModSecurity v3: json.a.b, json.list.array_0',
  process(tx: Transaction, start: number, end: number, truncated: boolean): void {
    reader.read(tx, start, end, truncated);
  },
};
