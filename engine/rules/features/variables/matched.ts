/** The variables about rules: what matched so far, and the rule that is running. */

import type { ByteString } from '../../../../base/byte-string.ts';
import { expandMacro } from '../../transaction/macro.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type { MacroText, VariableDefinition } from '../../transaction/types.ts';
import type { Entry } from '../../transaction/values.ts';
import { collection, scalar } from './define.ts';

/** In the order of the manual. */
export const matchedVariables: readonly VariableDefinition[] = [
  scalar(
    {
      name: 'HIGHEST_SEVERITY',
      summary: 'Lowest severity number so far; 255 before the first.',
      example: 'SecRule HIGHEST_SEVERITY "@le 2"',
    },
    (tx) => tx.highestSeverity,
  ),
  scalar(
    {
      name: 'MATCHED_VAR',
      summary: 'The value that matched last.',
      example: 'SecRule MATCHED_VAR "@contains x"',
    },
    (tx) => tx.matchedVariable,
  ),
  scalar(
    {
      name: 'MATCHED_VAR_NAME',
      summary: 'Its name.',
      example: 'SecRule MATCHED_VAR_NAME "@eq ARGS:param"',
    },
    (tx) => tx.matchedVariableName,
  ),
  collection(
    {
      name: 'MATCHED_VARS',
      summary: 'All values that this chain matched, keyed by name.',
      example: 'SecRule MATCHED_VARS "@eq x"',
    },
    // A copy: a chain link that matches one of these adds to them while they are walked.
    (tx) => tx.matchedVariables.slice(),
  ),
  collection(
    {
      name: 'MATCHED_VARS_NAMES',
      summary: 'The names of MATCHED_VARS.',
      example: 'SecRule MATCHED_VARS_NAMES "ARGS:id"',
    },
    (tx) => tx.matchedVariables.map(({ key }) => ({ key, value: key })),
  ),
  collection(
    {
      name: 'RULE',
      summary: 'id, rev, severity, logdata and msg of the running rule.',
      example: 'SecRule RULE:severity "@eq 2"',
    },
    ruleEntries,
  ),
];

/** A msg may name RULE.msg; the inner one then stays as it is written. */
let expanding = false;

function ruleEntries(tx: Transaction): readonly Entry[] {
  const { rule } = tx;
  if (rule === null) return [];
  const entries: Entry[] = [{ key: 'id', value: String(rule.id) }];
  if (rule.rev !== '') entries.push({ key: 'rev', value: rule.rev });
  if (rule.severity >= 0) entries.push({ key: 'severity', value: String(rule.severity) });
  if (rule.logData) entries.push({ key: 'logdata', value: expandOnce(rule.logData, tx) });
  if (rule.message) entries.push({ key: 'msg', value: expandOnce(rule.message, tx) });
  return entries;
}

function expandOnce(text: MacroText, tx: Transaction): ByteString {
  if (expanding) return text.source;
  expanding = true;
  try {
    return expandMacro(text, tx);
  } finally {
    expanding = false;
  }
}
