/** The URLENCODED body processor; splitting and decoding are in arguments.ts. */

import type { Transaction } from '../../transaction/transaction.ts';
import type { BodyProcessorDefinition } from '../../transaction/types.ts';
import { SOURCE } from '../../transaction/values.ts';
import { readArguments } from './arguments.ts';

/** What a Content-Type of application/x-www-form-urlencoded asks for. */
export const urlencodedBody: BodyProcessorDefinition = {
  name: 'URLENCODED',
  summary: 'A form: name=value pairs become arguments, decoded once.',
  example: 'ctl:requestBodyProcessor=URLENCODED',
  source: 'ModSecurity v3 reference, SecRequestBodyAccess',
  process(tx: Transaction, start: number, end: number): void {
    readArguments(tx, SOURCE.argPost, start, end, tx.settings.argumentSeparator);
  },
};
