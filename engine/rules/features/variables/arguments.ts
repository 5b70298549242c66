/** The ARGS family of variables. */

import { phpName } from '../../../../base/origin-names.ts';
import { SOURCE } from '../../transaction/values.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type { VariableDefinition } from '../../transaction/types.ts';
import { renamedCollection, rowCollection, scalar } from './define.ts';

const everywhere = [SOURCE.argGet, SOURCE.argPost, SOURCE.argPath] as const;

/** In the order of the manual. */
export const argumentVariables: readonly VariableDefinition[] = [
  rowCollection(
    {
      name: 'ARGS',
      summary: 'All arguments, query before body.',
      example: 'SecRule ARGS:id "@rx \\D"',
    },
    everywhere,
  ),
  scalar(
    {
      name: 'ARGS_COMBINED_SIZE',
      summary: 'Bytes of all names and values of ARGS, decoded.',
      example: 'SecRule ARGS_COMBINED_SIZE "@gt 25000"',
    },
    combinedSize,
  ),
  rowCollection(
    {
      name: 'ARGS_GET',
      summary: 'Arguments of the query string.',
      example: 'SecRule ARGS_GET "@detectSQLi"',
    },
    [SOURCE.argGet],
  ),
  rowCollection(
    {
      name: 'ARGS_GET_NAMES',
      summary: 'Names of ARGS_GET.',
      example: 'SecRule ARGS_GET_NAMES "@rx \\["',
    },
    [SOURCE.argGet],
    'key',
  ),
  rowCollection(
    {
      name: 'ARGS_NAMES',
      summary: 'Names of ARGS.',
      example: 'SecRule ARGS_NAMES "!@rx ^[a-z]+$"',
    },
    everywhere,
    'key',
  ),
  rowCollection(
    {
      name: 'ARGS_POST',
      summary: 'Arguments of the body.',
      example: 'SecRule ARGS_POST:p "@streq x"',
    },
    [SOURCE.argPost],
  ),
  rowCollection(
    {
      name: 'ARGS_POST_NAMES',
      summary: 'Names of ARGS_POST.',
      example: 'SecRule ARGS_POST_NAMES "@pm a b"',
    },
    [SOURCE.argPost],
    'key',
  ),
  rowCollection(
    {
      name: 'ARGS_PATH',
      summary: 'Parameters that an API description finds in the path.',
      example: 'SecRule ARGS_PATH:id "!@rx ^\\d+$"',
      source: 'Coraza, ARGS_PATH',
    },
    [SOURCE.argPath],
  ),
  renamedCollection(
    {
      name: 'ARGS_RENAMED',
      summary: 'Arguments whose names PHP changes, under the names that it gives them.',
      example: 'SecRule ARGS:user_id|ARGS_RENAMED:user_id "@rx \\D"',
      source: 'own; base/origin-names.ts',
    },
    SOURCE.argRenamed,
    { of: 'ARGS', read: phpName },
  ),
  renamedCollection(
    {
      name: 'ARGS_RENAMED_NAMES',
      summary: 'Names of ARGS_RENAMED.',
      example: 'SecRule ARGS_NAMES|ARGS_RENAMED_NAMES "@streq user_id"',
      source: 'own; base/origin-names.ts',
    },
    SOURCE.argRenamed,
    { of: 'ARGS_NAMES', read: phpName },
    'key',
  ),
];

function combinedSize(tx: Transaction): number {
  const { values } = tx;
  let bytes = 0;
  for (const source of everywhere) {
    for (const row of values.rowsOf(source)) {
      bytes += values.keyEnd[row]! - values.keyStart[row]! + values.end[row]! - values.start[row]!;
    }
  }
  return bytes;
}
