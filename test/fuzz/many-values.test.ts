/**
 * Requests of many arguments against the oracle: where a scan hits a dozen values for a pattern,
 * those that cannot match are left out together.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import { loadText } from '../../engine/rules/language/include.ts';
import { buildProgram } from '../../engine/rules/program/build-program.ts';
import { compareEngines, fastEngine } from './compare-engines.ts';
import { formBody, toExchange } from './random-requests.ts';
import { commands } from './rule-parts.ts';
import { draws } from '../support/soak.ts';

const seed = Number(process.env['WAF_FUZZ_SEED'] ?? Date.now() % 0x7fffffff);
const numRuns = draws(100, 5_000, 'WAF_FUZZ_RUNS');

const spelt = commands('[\\"\\^]*', 'select', 'powershell', 'rundll32', 'abab');
const withVariables = commands('[\\"^]*(?:\\$[a-z]*)?', 'select', 'busybox', 'abab', 'reboot');
const counted = "setvar:'tx.n=+1',setvar:'tx.last=%{MATCHED_VAR_NAME}'";
const rules = [
  `SecRule ARGS "@rx ${spelt}" "id:1,phase:2,pass,log,${counted}"`,
  `SecRule ARGS "@rx ${withVariables}" "id:2,phase:2,pass,log,t:lowercase,${counted}"`,
  `SecRule ARGS|ARGS_NAMES "@rx ${withVariables}" "id:3,phase:2,pass,log,capture,${counted}"`,
  `SecRule ARGS|!ARGS:b "@rx (a)(b+)$" "id:4,phase:2,pass,log,capture,setvar:'tx.c=%{TX.2}'"`,
  `SecRule ARGS "!@rx ^[a-z$;]+\\z" "id:5,phase:2,pass,log,capture,${counted}"`,
  `SecRule ARGS "@rx ^a(?:b|$)" "id:6,phase:2,pass,log,capture,${counted},chain"`,
  'SecRule TX:0 "@streq a" "t:none"',
  'SecAction "id:9,phase:1,pass,nolog,setvar:tx.five=5,setvar:tx.big=9007199254740000"',
  `SecRule ARGS "@contains a" "id:10,phase:2,pass,log,setvar:'tx.n=+%{tx.five}',setvar:'tx.m=-1'"`,
  `SecRule ARGS "@contains a" "id:11,phase:2,pass,log,setvar:'tx.five=+%{tx.n}',setvar:'tx.n=+1'"`,
  `SecRule ARGS "@contains b" "id:12,phase:2,pass,log,setvar:'tx.big=+9',setvar:'tx.big=-1'"`,
  `SecRule ARGS "@contains b" "id:13,phase:2,pass,log,capture,setvar:'tx.anomaly_score=+%{tx.0}'"`,
  `SecRule ARGS "@contains $" "id:14,phase:2,pass,log,setvar:'tx.e=1',setvar:'!tx.m'"`,
  `SecRule ARGS "@contains x" "id:15,phase:2,pass,log,setvar:'tx.huge=+90071992547409'"`,
  `SecRule ARGS "@contains x" "id:16,phase:2,pass,log,setvar:'tx.o=+%{tx.o}',setvar:'tx.p=+2'"`,
];

const texts = [
  ...['a', 'ab', 'abb', 'x$y', '$', ';$a', 'a\nab', '', 'selec"t', '$a\n$b', 'x;"'],
  ...[';s"el^ect)', ';a^b"ab)', 'x b$yusybox ', ';$busybox)', 'ABAB ', '|re$boot)', ' abab\n'],
];
const pairs = fc.array(
  fc.tuple(fc.constantFrom('a', 'b', 'a"bab)', '$'), fc.constantFrom(...texts)),
  { minLength: 16, maxLength: 150 },
);
/** Requests with more than 256 arguments are scanned another way. */
const others = fc.nat({ max: 300 }).map((count) => {
  return Array.from({ length: count }, (_, at) => ['n', `v${at % 7}`] as const);
});

test(`many values (WAF_FUZZ_SEED=${seed})`, () => {
  const text = ['SecRuleEngine On', 'SecRequestBodyAccess On', ...rules].join('\n');
  const { program } = buildProgram(loadText(text, 't.conf'), fullCatalog, () => null);
  const engine = fastEngine(program!);
  let values = 0;
  const property = fc.property(pairs, others, (some, more) => {
    const list = [...some, ...more];
    const { type, text: body } = formBody(list);
    const headers = [
      ['Host', 'a.example'],
      ['Content-Type', type],
      ['Content-Length', String(body.length)],
    ] as const;
    const exchange = toExchange({ method: 'POST', target: '/', headers, body, response: null });
    expect(compareEngines(program!, engine, exchange)).toEqual([]);
    values += list.length;
  });
  fc.assert(property, { seed, numRuns });
  engine.retire();
  expect(values).toBeGreaterThan(numRuns * 16);
});
