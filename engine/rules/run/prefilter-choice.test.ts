/**
 * Tests which rules a plan visits at all: chains searched for by their most selective link, and
 * the effects that keep them from it. What they answer is compared with the oracle in test/fuzz.
 */

import { afterAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { createLogger } from '../../../base/log.ts';
import { fullCatalog } from '../features/full-catalog.ts';
import { requestFrom } from '../load/test-sample.ts';
import type { RulePorts } from '../transaction/ports.ts';
import type { Program } from '../transaction/types.ts';
import { loadText } from '../language/include.ts';
import { buildPlan } from '../plan/build-plan.ts';
import { chooseCondition, prefilterFacts } from '../plan/prefilter-choice.ts';
import type { RulePlan } from '../plan/rule-plan.ts';
import { buildProgram } from '../program/build-program.ts';
import { PolicyEngine } from './policy-engine.ts';

const ports: RulePorts = {
  clock: systemClock,
  collections: null,
  geo: null,
  rbl: null,
  env: new Map(),
};
const plans: RulePlan[] = [];
afterAll(() => plans.forEach((plan) => plan.close()));

function programOf(rules: string): Program {
  const text = `SecRuleEngine On\n${rules}`;
  const { program, diagnostics } = buildProgram(loadText(text, 't.conf'), fullCatalog, () => null);
  if (!program) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  return program;
}

function planOf(rules: string): RulePlan {
  const program = programOf(rules);
  const cache = { get: () => null, put: () => undefined };
  const plan = buildPlan(program, { cache, log: createLogger('test', 'error'), ports });
  plans.push(plan);
  return plan;
}

/** Ids of matched rules. */
function matchedBy(plan: RulePlan, head: string): number[] {
  const engine = new PolicyEngine(plan, ports);
  const session = engine.open(requestFrom(head));
  if (session.requestHead().action === 'pass') session.requestBody(null);
  return session.finish().matchedRules.map(({ ruleId }) => ruleId);
}

const log = "phase:1,pass,log,msg:'m'";

describe('a skip that every request makes', () => {
  const skip = `SecRule &TX:off "@eq 0" "id:1,phase:1,pass,nolog,skipAfter:OUT"`;
  const passed = `SecRule ARGS "@rx x" "id:2,${log}"`;
  const before = `SecRule ARGS "@rx far" "id:3,phase:1,pass,nolog,skipAfter:IN"`;

  test('leaves nothing of what it passes over, nor of itself', () => {
    const rules = [before, skip, passed, 'SecMarker IN', 'SecMarker OUT'];
    expect(planOf(rules.join('\n')).facts).toMatchObject({ scannedRules: 1, alwaysRules: 0 });
  });

  test('keeps what other skips lead to', () => {
    const rules = [before, skip, 'SecMarker IN', passed, 'SecMarker OUT'];
    const plan = planOf(rules.join('\n'));
    expect(matchedBy(plan, 'GET /?a=x HTTP/1.1\r\nHost: a')).toEqual([]);
    expect(matchedBy(plan, 'GET /?a=x&b=far HTTP/1.1\r\nHost: a')).toEqual([2]);
  });

  test('keeps what runs once it is taken out', () => {
    const out = `SecRule ARGS "@rx far" "id:3,phase:1,pass,nolog,ctl:ruleRemoveById=1"`;
    const plan = planOf([out, skip, passed, 'SecMarker OUT'].join('\n'));
    expect(matchedBy(plan, 'GET /?a=x HTTP/1.1\r\nHost: a')).toEqual([]);
    expect(matchedBy(plan, 'GET /?a=x&b=far HTTP/1.1\r\nHost: a')).toEqual([2]);
  });
});

describe('a rule that needs no visit in every transaction', () => {
  test.each([
    [
      'a chain whose first link cannot be searched for',
      [
        `SecRule REMOTE_ADDR "@ipMatch 10.0.0.0/8" "id:1,${log},chain"`,
        `SecRule ARGS "@rx bad"`,
      ].join('\n'),
    ],
    ['a count that must not be none', `SecRule &REQUEST_HEADERS:Range "@gt 1" "id:1,${log}"`],
    ['a negated count of none', `SecRule &REQUEST_HEADERS:Range "!@eq 0" "id:1,${log}"`],
    ['a number', `SecRule ARGS:page "@gt 100" "id:1,${log}"`],
    [
      'a constant list',
      [
        `SecAction "id:9,phase:1,pass,nolog,setvar:'tx.ok=GET POST'"`,
        `SecRule REQUEST_METHOD "!@within %{tx.ok}" "id:1,${log}"`,
      ].join('\n'),
    ],
    [
      'any operator on a header that few send',
      `SecRule REQUEST_HEADERS:Range "@ipMatch 10.0.0.1" "id:1,${log}"`,
    ],
  ])('%s', (_name, rules) => {
    expect(planOf(rules).facts).toMatchObject({ scannedRules: 1, alwaysRules: 0 });
  });

  test.each([
    ['a count that none satisfies', 1, `SecRule &REQUEST_HEADERS:Range "@eq 0" "id:1,${log}"`],
    [
      'a first link with effects',
      1,
      [
        `SecRule REMOTE_ADDR "@ipMatch 10.0.0.0/8" "id:1,${log},setvar:tx.seen=1,chain"`,
        `SecRule ARGS "@rx bad"`,
      ].join('\n'),
    ],
    [
      'a first link whose captures another rule reads',
      2,
      [
        `SecRule REMOTE_ADDR "@rx ^(10)" "id:1,${log},capture,chain"`,
        `SecRule ARGS "@rx bad"`,
        `SecAction "id:2,phase:2,pass,nolog,setvar:'tx.first=%{tx.1}'"`,
      ].join('\n'),
    ],
    [
      'a first link whose match another rule reads',
      2,
      [
        `SecRule REMOTE_ADDR "@rx ^(10)" "id:1,${log},chain"`,
        `SecRule ARGS "@rx bad"`,
        `SecAction "id:2,phase:2,pass,nolog,setvar:'tx.last=%{MATCHED_VAR}'"`,
      ].join('\n'),
    ],
    [
      'a first link whose match another rule hides',
      2,
      [
        `SecRule REMOTE_ADDR "@rx ^(10)" "id:1,${log},chain"`,
        `SecRule ARGS "@rx bad"`,
        `SecAction "id:2,phase:2,pass,nolog,sanitiseMatched"`,
      ].join('\n'),
    ],
    [
      'a list that a rule changes',
      1,
      [
        `SecRule ARGS "@rx x" "id:9,phase:1,pass,nolog,setvar:'tx.ok=GET'"`,
        `SecRule REQUEST_METHOD "!@within %{tx.ok}" "id:1,${log}"`,
      ].join('\n'),
    ],
  ])('but not %s', (_name, visited, rules) => {
    expect(planOf(rules).facts.alwaysRules).toBe(visited);
  });
});

test.each([
  ['User-Agent', 'REQUEST_PATHS'],
  ['X-Tool', 'REQUEST_HEADERS'],
])('a chain on the field %s and a path is searched for by %s', (field, variable) => {
  const targets = `REQUEST_HEADERS:${field}|REQUEST_HEADERS_RENAMED:${field}`;
  const links = [`SecRule ${targets} "@contains x" "id:1,${log},chain"`];
  const { phases } = programOf([...links, 'SecRule REQUEST_PATHS "@streq /a"'].join('\n'));
  const facts = prefilterFacts(phases, { constant: ({ literal }) => literal, txBase: new Map() });
  const { link } = chooseCondition(facts.rules[0]!, facts)!;
  expect(link.targets[0]?.variable.name).toBe(variable);
});

describe('a chain that copies values and asks for the copies', () => {
  const copy = `capture,t:lowercase,setvar:'tx.name_%{tx.0}=/%{tx.0}/'`;
  const copies = `SecRule REQUEST_HEADERS_NAMES "@rx ^.*$" "id:1,${log},${copy},chain"
SecRule TX:/^name_/ "@within /proxy/ /range/"`;

  test('is asked of the values', () => {
    const plan = planOf(copies);
    expect(matchedBy(plan, 'GET / HTTP/1.1\r\nHost: a\r\nPROXY: b')).toEqual([1]);
    expect(matchedBy(plan, 'GET / HTTP/1.1\r\nHost: a\r\nprox: b')).toEqual([]);
  });

  test('is visited where another rule reads a copy', () => {
    const plan = planOf(`${copies}\nSecRule TX:name_host "@streq /host/" "id:2,${log}"`);
    expect(matchedBy(plan, 'GET / HTTP/1.1\r\nHost: a')).toEqual([2]);
  });

  test('is visited where a name holds what another rule looks for in names', () => {
    const plan = planOf(`${copies}\nSecRule TX:/secret_*/ "@rx ." "id:2,${log}"`);
    expect(matchedBy(plan, 'GET / HTTP/1.1\r\nHost: a\r\nX-Secret_: b')).toEqual([2]);
    expect(matchedBy(plan, 'GET / HTTP/1.1\r\nHost: a\r\nX-Secre: b')).toEqual([]);
  });
});

test('captures of a value that comes again are those of the first time', () => {
  const plan = planOf(`SecRule ARGS "@rx ^(a)(b)?" "id:1,${log},capture,logdata:'%{tx.1}%{tx.2}'"`);
  const engine = new PolicyEngine(plan, ports);
  const dataOf = (target: string): (string | undefined)[] => {
    const session = engine.open(requestFrom(`GET ${target} HTTP/1.1\r\nHost: a`));
    session.requestHead();
    return session.finish().matchedRules.map(({ data }) => data);
  };
  for (const target of ['/?x=ab', '/?x=ab', '/?x=a', '/?x=c', '/?x=c', '/?x=ab&y=a&z=ab']) {
    const wanted = target.includes('c') ? [] : [target.includes('ab') ? 'ab' : 'a'];
    expect(dataOf(target)).toEqual(wanted);
  }
});

describe('a rule that asks for what is missing', () => {
  const none = `SecRule &REQUEST_HEADERS:Range "@eq 0" "id:1,${log}"`;
  const after = `SecRule ARGS "@rx a" "id:1,${log},chain"\nSecRule &REQUEST_HEADERS:Range "@eq 0"`;
  const range = 'GET /?a=a HTTP/1.1\r\nHost: a\r\nRange: b';

  test.each([none, after])('is not visited where it is there: %s', (rules) => {
    const plan = planOf(rules);
    expect([...plan.negative].filter((one) => one === 1)).toHaveLength(1);
    expect(matchedBy(plan, 'GET /?a=a HTTP/1.1\r\nHost: a')).toEqual([1]);
    expect(matchedBy(plan, range)).toEqual([]);
  });

  test.each([
    ['more than none', `SecRule &REQUEST_HEADERS:Range "@lt 2" "id:1,${log}"`],
    ['any but one', `SecRule &REQUEST_HEADERS:Range "!@eq 1" "id:1,${log}"`],
    ['something before', after.replace(',chain', ',setvar:tx.seen=1,chain')],
  ])('has no negative where it asks for %s', (_name, rules) => {
    expect([...planOf(rules).negative].includes(1)).toBe(false);
  });
});
