/** The action `setenv`: the transaction's own environment, never the process's. */

import type { ByteString } from '../../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../../base/rule-limits.ts';
import { expandMacro } from '../../transaction/macro.ts';
import type { ActionDefinition } from '../../transaction/types.ts';
import { splitAssignment } from './action-common.ts';

/** Sets (`NAME=value`, `NAME` for 1) or removes (`!NAME`) a variable that ENV shows. */
export const setenv: ActionDefinition = {
  name: 'setenv',
  kind: 'runtime',
  argument: 'required',
  summary: "Sets or removes a variable of the transaction's environment.",
  example: 'SecRule ARGS "@rx x" "id:1,setenv:attack=%{MATCHED_VAR}"',
  source: 'ModSecurity Reference Manual, Actions, setenv',
  bind: (argument: ByteString, context) => {
    const removes = argument.startsWith('!');
    const { left, right } = splitAssignment(removes ? argument.slice(1) : argument);
    if (left.trim() === '') return { failure: 'expected NAME, NAME=value or !NAME' };
    const name = context.parseMacros(left.trim());
    const value = context.parseMacros(right ?? '1');
    return {
      definition: setenv,
      argument,
      effect: { kind: 'isolated' },
      run: (tx) => {
        const key = expandMacro(name, tx);
        if (removes) tx.env.delete(key);
        else if (tx.env.size < ruleRunLimits.variablesSetMax || tx.env.has(key)) {
          tx.env.set(key, expandMacro(value, tx).slice(0, ruleRunLimits.variableBytesMax));
        }
      },
    };
  },
};
