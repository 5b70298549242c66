/** The sanitise actions: they name values that logs must not show. */

import type { ByteString } from '../../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../../base/rule-limits.ts';
import { lowerBytes } from '../../transaction/macro.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type { ActionDefinition } from '../../transaction/types.ts';

/** Their definitions, for the action list. */
export const sanitiseActions: readonly ActionDefinition[] = [
  named('sanitiseArg', 'sanitizeArg', 'args', 'password'),
  named('sanitiseRequestHeader', 'sanitizeRequestHeader', 'request_headers', 'Authorization'),
  named('sanitiseResponseHeader', 'sanitizeResponseHeader', 'response_headers', 'Set-Cookie'),
  matched('sanitiseMatched', 'sanitizeMatched'),
  matched('sanitiseMatchedBytes', 'sanitizeMatchedBytes'),
];

function named(name: string, alias: string, collection: string, example: string): ActionDefinition {
  const definition: ActionDefinition = {
    name,
    aliases: [alias],
    kind: 'runtime',
    argument: 'required',
    summary: `Hides the values of one name of ${collection.toUpperCase()} in logs.`,
    example: `SecAction "id:1,phase:2,pass,nolog,${name}:${example}"`,
    source: `ModSecurity Reference Manual, Actions, ${name}`,
    bind: (argument) => {
      if (argument.trim() === '') return { failure: 'expected a name' };
      const hidden = `${collection}:${lowerBytes(argument.trim())}`;
      return {
        definition,
        argument,
        effect: { kind: 'isolated' },
        run: (tx) => hide(tx, hidden),
      };
    },
  };
  return definition;
}

/** The whole value is hidden, also where ModSecurity would leave some bytes of it. */
function matched(name: string, alias: string): ActionDefinition {
  const definition: ActionDefinition = {
    name,
    aliases: [alias],
    kind: 'runtime',
    argument: 'optional',
    summary: 'Hides the value that matched in logs.',
    example: `SecRule ARGS "@verifyCC \\d{13,16}" "id:1,${name}"`,
    source: `ModSecurity Reference Manual, Actions, ${name}`,
    bind: (argument) => ({
      definition,
      argument,
      effect: { kind: 'isolated' },
      run: (tx) => hide(tx, lowerBytes(tx.matchedVariableName)),
    }),
  };
  return definition;
}

function hide(tx: Transaction, name: ByteString): void {
  if (tx.sanitised.length >= ruleRunLimits.sanitisedNamesMax) return;
  if (!tx.sanitised.includes(name)) tx.sanitised.push(name);
}
