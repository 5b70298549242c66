/**
 * Plants faults in the plan's liveness analysis: each claims that nobody reads what one rule leaves
 * to another. The comparison with the oracle has to find every one of them, also where the rule
 * that reads comes to the same result, because it does not take the plan's word for the difference.
 */

import { afterEach, expect, test, vi } from 'vitest';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import { loadText } from '../../engine/rules/language/include.ts';
import type { Liveness } from '../../engine/rules/plan/liveness.ts';
import { buildProgram } from '../../engine/rules/program/build-program.ts';
import { compareEngines, fastEngine } from './compare-engines.ts';
import { toExchange } from './random-requests.ts';

type Fault = 'none' | 'matches' | 'captures' | 'names';

const planted = vi.hoisted(() => ({ fault: 'none' as Fault }));

vi.mock(import('../../engine/rules/plan/liveness.ts'), async (original) => {
  const real = await original();
  return {
    ...real,
    livenessOf: (rules): Liveness => {
      const { matches, captures } = real.livenessOf(rules);
      return {
        matches: matches && planted.fault !== 'matches',
        captures: captures && planted.fault !== 'captures',
      };
    },
    wordsNoticed: (...of) => (planted.fault === 'names' ? [] : real.wordsNoticed(...of)),
  };
});

afterEach(() => {
  planted.fault = 'none';
});

const exchange = toExchange({
  method: 'GET',
  target: '/?x=a&y=ab',
  headers: [['Host', 'a.example']],
  body: null,
  response: null,
});

function differences(fault: Fault, rules: readonly string[]): string[] {
  planted.fault = fault;
  const text = `SecRuleEngine On\n${rules.join('\n')}\n`;
  const { program, diagnostics } = buildProgram(loadText(text, 't.conf'), fullCatalog, () => null);
  if (!program) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const engine = fastEngine(program);
  try {
    return compareEngines(program, engine, exchange);
  } finally {
    engine.retire();
  }
}

const quiet = 'phase:1,pass,nolog';
const failing = 'SecRule ARGS:none "@rx b"';
const captures = `SecRule ARGS "@rx (a)" "id:1,${quiet},capture,chain"\n${failing}`;
const matches = `SecRule ARGS "@rx a" "id:1,${quiet},chain"\n${failing}`;
const copies = [
  `SecRule ARGS "@rx ^.*$" "id:1,${quiet},capture,setvar:'tx.copy_%{tx.0}=/%{tx.0}/',chain"`,
  'SecRule TX:/^copy_/ "@within /b/ /c/"',
].join('\n');

const cases: readonly (readonly [Fault, name: string, rules: readonly string[]])[] = [
  ['matches', 'a match that decides', [matches, `SecRule MATCHED_VAR "@rx a" "id:2,${quiet}"`]],
  [
    'matches',
    'a match that is only read',
    [matches, `SecRule MATCHED_VAR "@rx z" "id:2,${quiet}"`],
  ],
  [
    'matches',
    'a match in a variable',
    [matches, `SecAction "id:2,${quiet},setvar:'tx.last=%{MATCHED_VAR}'"`],
  ],
  ['captures', 'a capture that is only read', [captures, `SecRule TX:1 "@rx z" "id:2,${quiet}"`]],
  ['captures', 'counted captures', [captures, `SecRule &TX:/^[01]$/ "@gt 5" "id:2,${quiet}"`]],
  [
    'captures',
    'a capture in a variable',
    [captures, `SecAction "id:2,${quiet},setvar:'tx.first=%{tx.1}'"`],
  ],
  ['names', 'a named copy', [copies, `SecRule TX:copy_a "@rx z" "id:2,${quiet}"`]],
  ['names', 'listed copies', [copies, `SecRule TX:/^copy/ "@rx z" "id:2,${quiet}"`]],
];

test.each(cases)('%s: %s is found, and no difference without the fault', (fault, _name, rules) => {
  expect(differences('none', rules)).toEqual([]);
  expect(differences(fault, rules)).not.toEqual([]);
});

test.each<readonly [name: string, rules: readonly string[]]>([
  ['a match that no rule reads', [matches]],
  [
    'a capture that only a log text shows',
    [captures, `SecAction "id:2,phase:1,pass,log,msg:'%{tx.1}'"`],
  ],
  ['a capture that is only added to', [captures, `SecAction "id:2,${quiet},setvar:tx.1=+1"`]],
  [
    'a capture that is read before anything captures',
    [`SecRule TX:1 "@ge 1" "id:2,${quiet}"`, captures],
  ],
  [
    'a tag of a rule that never matches, which a removal compares',
    [
      `SecRule ARGS "@rx a" "id:3,${quiet},ctl:ruleRemoveByTag=t"`,
      `SecRule TX:c "@eq 1" "id:4,${quiet},tag:'%{MATCHED_VAR}%{tx.1}'"`,
      `SecAction "id:5,${quiet},setvar:tx.score=0"`,
      `SecRule TX:score "@eq 0" "id:6,${quiet},setvar:tx.score=0"`,
    ],
  ],
  [
    'a tag of a rule that never matches, which a removal of targets compares',
    [
      `SecRule ARGS "@rx a" "id:3,${quiet},ctl:ruleRemoveTargetByTag=t;ARGS"`,
      `SecRule TX:c "@eq %{tx.d}" "id:4,${quiet},setvar:tx.c=0,tag:'%{MATCHED_VAR}'"`,
      `SecRule &TX:none "@eq 0" "id:6,${quiet}"`,
    ],
  ],
  ['copies that only their own chain reads', [copies]],
  [
    'a rule whose own message shows the last match',
    [matches, `SecRule RULE:msg "@rx <a>" "id:2,phase:1,pass,log,msg:'<%{MATCHED_VAR}>'"`],
  ],
  [
    'a rule whose own message shows a capture',
    [captures, `SecRule RULE:msg "@rx <a>" "id:2,phase:1,pass,log,msg:'<%{tx.1}>'"`],
  ],
  ...['tx.1=+1', 'tx.1=x', '!tx.1', 'tx.%{ARGS_NAMES}0=x'].map(
    (change): readonly [string, readonly string[]] => [
      `captures of several values, each changed by ${change}`,
      [
        `SecRule ARGS "@rx (a.?)" "id:2,${quiet},capture,setvar:${change}"`,
        `SecRule TX:1|TX:0 "@rx ." "id:3,phase:1,pass,log"`,
      ],
    ],
  ),
  [
    'captures of several values that an action shows through a message',
    [
      [
        `SecRule ARGS "@rx (a.?)" "id:2,${quiet},capture,msg:'%{tx.1}',`,
        `setvar:'tx.b=%{rule.msg}%{tx.b}'"`,
      ].join(''),
    ],
  ],
  [
    'a chain that reads its own match through its message',
    [
      `SecRule ARGS "@rx a" "id:2,${quiet},msg:'<%{MATCHED_VAR}>',chain"`,
      `SecRule RULE:msg "@rx <a>" "setvar:tx.seen=1"`,
    ],
  ],
  [
    'an action that reads its own match through its message',
    [`SecRule ARGS "@rx a" "id:2,${quiet},msg:'%{MATCHED_VAR}',setvar:'tx.seen=%{rule.msg}'"`],
  ],
  [
    'an operator that shows the last match through a message',
    [matches, `SecRule ARGS "@streq %{RULE.msg}" "id:2,phase:1,pass,log,msg:'%{MATCHED_VAR}'"`],
  ],
  [
    'a variable that takes a capture through a message',
    [captures, `SecAction "id:2,phase:1,pass,log,msg:'%{tx.1}',setvar:'tx.first=%{rule.msg}'"`],
  ],
  [
    'a variable that takes the last match through log data',
    [
      matches,
      `SecAction "id:2,phase:1,pass,log,logdata:'%{MATCHED_VAR}',setvar:'tx.t=%{rule.logdata}'"`,
    ],
  ],
])('%s makes no difference', (_name, rules) => {
  expect(differences('none', rules)).toEqual([]);
});
