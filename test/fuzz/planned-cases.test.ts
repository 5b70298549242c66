/**
 * Rule sets in which one rule reads or changes, in some unusual form, what planning folds or
 * memoizes for another: the fast path against the oracle. Most of them are regressions.
 */

import { expect, test } from 'vitest';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import { loadText } from '../../engine/rules/language/include.ts';
import { evaluateTransaction } from '../../engine/rules/oracle/evaluate.ts';
import { buildProgram } from '../../engine/rules/program/build-program.ts';
import { compareEngines, fastEngine, fixedPorts } from './compare-engines.ts';
import { toExchange } from './random-requests.ts';

const onA = 'SecRule ARGS "@rx a"';
const skip = 'phase:1,pass,nolog,skipAfter:M';
const told = 'SecAction "id:8,phase:1,pass,log"\nSecMarker M';
const envTold = `SecRule ENV:e "@rx ." "id:8,phase:5,pass,log,msg:'%{ENV.e}'"`;

/** As CRS 920450: copies all values, and asks for one of them. */
function copies(prefix: string): string {
  const copy = `setvar:'tx.${prefix}%{tx.0}=/%{tx.0}/'`;
  return [
    `SecRule ARGS "@rx ^.*$" "id:2,phase:1,pass,log,capture,${copy},chain"`,
    `SecRule TX:/^${prefix}/ "@within /b/ /c/"`,
  ].join('\n');
}

/** What is at stake, the rules, and the ids that must match. */
const cases: readonly (readonly [
  name: string,
  rules: readonly string[],
  ids: readonly number[],
])[] = [
  [
    'a removal by a quoted tag',
    [
      `${onA} "id:1,phase:1,pass,nolog,ctl:ruleRemoveByTag='t'"`,
      `SecAction "id:2,tag:'t',${skip}"`,
      told,
    ],
    [1, 8],
  ],
  [
    'a removal by tag of what sets a variable',
    [
      `${onA} "id:1,phase:1,pass,nolog,ctl:ruleRemoveByTag=t"`,
      `SecAction "id:2,phase:1,pass,nolog,tag:'t',setvar:tx.late=1"`,
    ],
    [1],
  ],
  [
    'an action that runs once for each of two constants',
    [
      `SecAction "id:1,phase:1,pass,nolog,setvar:tx.a=1,setvar:tx.b=1"`,
      `SecRule TX:a|TX:b "@eq 1" "id:2,phase:1,pass,nolog,setvar:tx.n=+1"`,
    ],
    [1, 2],
  ],
  [
    'an action that changes the second of two constants',
    [
      `SecAction "id:1,phase:1,pass,nolog,setvar:tx.a=1,setvar:tx.b=2"`,
      `SecRule TX:a|TX:b "@eq 1" "id:2,phase:1,pass,nolog,setvar:tx.b=1,setvar:tx.n=+1"`,
    ],
    [1, 2],
  ],
  [
    'a constant that looks like a copy of a value',
    [`SecAction "id:1,phase:1,pass,nolog,setvar:tx.copy_x=/b/"`, copies('copy_')],
    [1, 2],
  ],
  ['a variable of the engine that looks like a copy of a value', [copies('msc_')], []],
  [
    'a removal by id with blanks around the equals sign',
    [`${onA} "id:1,phase:1,pass,nolog,ctl:'ruleRemoveById = 2'"`, `SecAction "id:2,${skip}"`, told],
    [1, 8],
  ],
  [
    'a removal by a message with a semicolon',
    [
      `${onA} "id:1,phase:1,pass,nolog,ctl:'ruleRemoveByMsg=m;n'"`,
      `SecAction "id:2,msg:'m;n',${skip}"`,
      told,
    ],
    [1, 8],
  ],
  [
    'a target removed by a quoted tag',
    [
      `${onA} "id:1,phase:1,pass,nolog,ctl:ruleRemoveTargetByTag='t';TX:pl"`,
      `SecAction "id:3,phase:1,pass,nolog,setvar:tx.pl=1"`,
      `SecRule TX:pl "@eq 1" "id:2,tag:'t',${skip}"`,
      told,
    ],
    [1, 3, 8],
  ],
  [
    'an engine switched off after a blank',
    [
      `${onA} "id:1,phase:1,pass,nolog,ctl:' ruleEngine=Off'"`,
      `SecAction "id:2,phase:1,pass,nolog,setvar:tx.late=1"`,
    ],
    [1],
  ],
  [
    'a macro with a colon that reads what is set later',
    [
      `${onA} "id:1,phase:1,pass,nolog,setenv:'e=<%{tx:late}>'"`,
      `SecAction "id:2,phase:1,pass,nolog,setvar:tx.late=1"`,
      envTold,
    ],
    [1, 2, 8],
  ],
  [
    'a macro with a regex that reads what is set later',
    [
      `${onA} "id:1,phase:1,pass,nolog,setenv:'e=<%{tx./^late/}>'"`,
      `SecAction "id:2,phase:1,pass,nolog,setvar:tx.late=1"`,
      envTold,
    ],
    [1, 2, 8],
  ],
  [
    'an operator with a regex macro that reads what is set later',
    [
      `SecRule ARGS "@streq %{tx./^late/}" "id:1,phase:1,pass,log"`,
      `SecAction "id:2,phase:1,pass,nolog,setvar:tx.late=a"`,
    ],
    [2],
  ],
  [
    'a macro that shows the first variable of all',
    [
      `${onA} "id:1,phase:1,pass,nolog,setenv:'e=<%{tx}>',setvar:tx.own=1"`,
      `SecAction "id:2,phase:1,pass,nolog,setvar:tx.late=1"`,
      `${onA} "id:3,phase:1,pass,log,msg:'%{tx} %{tx.}'"`,
      envTold,
    ],
    [1, 2, 3, 8],
  ],
  [
    'a chain that sets what its next link reads, and skips',
    [
      `SecAction "id:3,phase:1,pass,nolog,setvar:tx.pl=0"`,
      `SecRule &TX:none "@eq 0" "id:2,${skip},setvar:tx.pl=5,chain"\nSecRule TX:pl "@eq 0"`,
      told,
    ],
    [3, 8],
  ],
  [
    'a tag that shows what another rule matched',
    [
      `${onA} "id:1,phase:1,pass,nolog,ctl:ruleRemoveByTag=a"`,
      `SecRule REQUEST_METHOD "@streq GET" "id:2,phase:1,pass,nolog"`,
      `SecRule ARGS:x "@rx a" "id:4,phase:1,pass,nolog"`,
      `SecRule ARGS "@rx a" "id:5,tag:'%{MATCHED_VAR}',phase:1,pass,log"`,
    ],
    [1, 2, 4],
  ],
  [
    'a tag that shows what another rule captured',
    [
      `${onA} "id:1,phase:1,pass,nolog,ctl:ruleRemoveByTag=a"`,
      `SecRule ARGS "@rx a" "id:4,phase:1,pass,nolog,capture,chain"\nSecRule ARGS:none "@rx b"`,
      `SecRule ARGS "@rx a" "id:5,tag:'%{tx.0}',phase:1,pass,log"`,
    ],
    [1],
  ],
  [
    'the first variable of all, which another rule captured',
    [
      `SecRule ARGS "@rx a" "id:4,phase:1,pass,nolog,capture,chain"\nSecRule ARGS:none "@rx b"`,
      `SecAction "id:5,phase:1,pass,nolog,setenv:'e=%{tx}'"`,
      envTold,
    ],
    [5, 8],
  ],
];

test.each(cases)('%s', (_name, rules, ids) => {
  const text = `SecRuleEngine On\n${rules.join('\n')}\n`;
  const { program, diagnostics } = buildProgram(loadText(text, 't.conf'), fullCatalog, () => null);
  if (!program) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const exchange = toExchange({
    method: 'GET',
    target: '/?x=a',
    headers: [['Host', 'a.example']],
    body: null,
    response: null,
  });
  const engine = fastEngine(program);
  const differences = compareEngines(program, engine, exchange);
  engine.retire();
  expect(differences).toEqual([]);
  expect(evaluateTransaction(program, exchange, fixedPorts).matchedIds).toEqual(ids);
});
