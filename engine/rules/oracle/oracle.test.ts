/** The decisions of semantics.md, each as a small rule set with one request. */

import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { fullCatalog } from '../features/full-catalog.ts';
import type { RulePorts } from '../transaction/ports.ts';
import { loadText } from '../language/include.ts';
import { buildProgram } from '../program/build-program.ts';
import { makeBody, makeConnection, makeRequest, makeResponse } from './conformance/exchange.ts';
import { evaluateTransaction, type Exchange, type OracleResult } from './evaluate.ts';

const ports: RulePorts = {
  clock: systemClock,
  collections: null,
  geo: null,
  rbl: null,
  env: new Map(),
};

function run(rules: string, target = '/?a=1&b=two&A=3', engine = 'On'): OracleResult {
  const text = `SecRuleEngine ${engine}\nSecRequestBodyAccess On\n${rules}`;
  const { program, diagnostics } = buildProgram(loadText(text, 't.conf'), fullCatalog, () => null);
  if (!program) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  const headers = [['Host', 'localhost']] as const;
  const exchange: Exchange = {
    request: makeRequest('GET', target, 'HTTP/1.1', headers, makeConnection()),
    requestBody: null,
    response: makeResponse(200, 'HTTP/1.1', [['Content-Type', 'text/html']]),
    responseBody: makeBody(Buffer.from('body')),
  };
  return evaluateTransaction(program, exchange, ports);
}

/** TX at the end as `name=value` words. */
function tx(result: OracleResult): string {
  return [...result.variables].map(([name, value]) => `${name}=${value}`).join(' ');
}

describe('phases and control flow', () => {
  test('a verdict ends the phases but not the last one', () => {
    const result = run(`
      SecAction "id:1,phase:1,deny,status:401,setvar:tx.a=1"
      SecAction "id:2,phase:1,pass,setvar:tx.b=1"
      SecAction "id:3,phase:2,pass,setvar:tx.c=1"
      SecAction "id:4,phase:5,deny,setvar:tx.d=1"`);
    expect(result.verdict).toEqual({ action: 'block', status: 401, ruleId: 1, phase: 1 });
    expect(tx(result)).toBe('a=1 d=1');
  });

  test('detection only acts on nothing and says what it would have done', () => {
    const result = run(
      `SecAction "id:1,phase:1,allow"
       SecAction "id:2,phase:1,deny,status:404"
       SecAction "id:3,phase:2,drop"`,
      '/',
      'DetectionOnly',
    );
    expect(result.verdict.action).toBe('pass');
    expect(result.detected).toEqual({ action: 'block', status: 404, ruleId: 2, phase: 1 });
    expect(result.matchedIds).toEqual([1, 2, 3]);
    expect(result.matchedRules.every(({ disruptive }) => !disruptive)).toBe(true);
  });

  test('switching the engine takes effect at once', () => {
    const result = run(`
      SecAction "id:1,phase:1,pass,ctl:ruleEngine=Off"
      SecAction "id:2,phase:1,deny"
      SecAction "id:3,phase:5,pass"`);
    expect(result.matchedIds).toEqual([1]);
    const on = run('SecAction "id:1,phase:1,deny,ctl:ruleEngine=On"', '/', 'DetectionOnly');
    expect(on.verdict.status).toBe(403);
  });

  const allows: [string, number[]][] = [
    ['allow', [1, 6]],
    ['allow:phase', [1, 3, 4, 5, 6]],
    ['allow:request', [1, 4, 5, 6]],
  ];
  test.each(allows)('%s', (action, ids) => {
    const rules = [1, 2, 3, 4].map((phase) => `SecAction "id:${phase + 1},phase:${phase},pass"`);
    const text = `SecAction "id:1,phase:1,${action}"\n${rules.join('\n')}`;
    expect(run(`${text}\nSecAction "id:6,phase:5,pass"`).matchedIds).toEqual(ids);
  });

  test('skips count rules of the phase', () => {
    const result = run(`
      SecAction "id:1,phase:1,pass,skip:2"
      SecMarker HERE
      SecRule ARGS "@rx ." "id:2,phase:1,pass,chain"
        SecRule ARGS "@rx ." "t:none"
      SecAction "id:3,phase:2,pass"
      SecAction "id:4,phase:1,pass"
      SecAction "id:5,phase:1,pass,skipAfter:END"
      SecAction "id:6,phase:1,pass"
      SecMarker END
      SecAction "id:7,phase:1,pass,skipAfter:HERE"
      SecAction "id:8,phase:1,pass"`);
    expect(result.matchedIds).toEqual([1, 5, 7, 3]);
  });

  test('redirect and drop', () => {
    const redirect = run(`SecAction "id:1,phase:1,status:307,redirect:'https://x/%{tx.none}'"`);
    const location = 'https://x/';
    const expected = { action: 'redirect', status: 307, location, ruleId: 1, phase: 1 };
    expect(redirect.verdict).toEqual(expected);
    const dropped = { action: 'drop', status: 0, ruleId: 1, phase: 3 };
    expect(run('SecAction "id:1,phase:3,drop"').verdict).toEqual(dropped);
  });
});

describe('targets', () => {
  const counts: [string, string][] = [
    ['&ARGS', '3'],
    ['&ARGS:a', '2'],
    ['&ARGS:/^[ab]/', '3'],
    ['&ARGS|!ARGS:a', '3'],
    ['&ARGS:none', '0'],
  ];
  test.each(counts)('%s', (target, count) => {
    const result = run(`SecRule ${target} "@ge 0" "id:1,phase:1,pass,setvar:tx.n=%{MATCHED_VAR}"`);
    expect(tx(result)).toBe(`n=${count}`);
  });

  test('a count that an exclusion names is not looked at', () => {
    const rules = `
      SecAction "id:1,phase:1,pass,ctl:ruleRemoveTargetById=2;ARGS:none"
      SecRule &ARGS:none "@eq 0" "id:2,phase:1,deny"`;
    expect(run(rules).matchedIds).toEqual([1]);
  });

  test('exclusions take values out', () => {
    const rules =
      'SecRule ARGS|!ARGS:a "@rx ." "id:1,phase:1,pass,setvar:tx.%{MATCHED_VAR_NAME}=1"';
    expect(tx(run(rules))).toBe('args:b=1');
    const nothing = 'SecRule ARGS:none "!@rx ." "id:1,phase:1,deny"';
    expect(run(nothing).verdict.action).toBe('pass');
  });

  test('a later target sees what an earlier match set', () => {
    const rules = `SecRule ARGS:b|TX:x "@rx ." "id:1,phase:1,pass,setvar:tx.n=+1,setvar:tx.x=1"`;
    expect(tx(run(rules))).toBe('n=2 x=1');
  });
});

describe('matching', () => {
  test('links act at their matches, the starter when the chain is complete', () => {
    const chain = (last: string): string => `
      SecRule ARGS "@rx ." "id:1,phase:1,deny,msg:'got %{MATCHED_VAR}',setvar:tx.first=+1,chain"
        SecRule ARGS:b "@streq ${last}" "setvar:tx.second=+1"`;
    const half = run(chain('none'));
    expect([tx(half), half.matchedIds, half.verdict.action]).toEqual(['first=3', [], 'pass']);
    const whole = run(chain('two'));
    expect([tx(whole), whole.verdict.ruleId]).toEqual(['first=3 second=1', 1]);
    expect(whole.matchedRules[0]?.message).toBe('got two');
    expect(whole.matchedRules[0]?.matched.map(({ name }) => name)).toEqual([
      'ARGS:a',
      'ARGS:b',
      'ARGS:A',
      'ARGS:b',
    ]);
  });

  test('multiMatch tests every stage that changed', () => {
    const rules = (action: string): string =>
      `SecRule ARGS "@rx ^." "id:1,phase:1,pass,${action}t:urlDecode,t:lowercase,setvar:tx.n=+1"`;
    expect(tx(run(rules('multiMatch,'), '/?x=%2541B'))).toBe('n=3');
    expect(tx(run(rules(''), '/?x=%2541B'))).toBe('n=1');
  });

  test('captures of a match replace those of the one before', () => {
    const rules = `
      SecRule ARGS:b "@rx (t)(w)(o)" "id:1,phase:1,pass,capture"
      SecRule ARGS:b "@rx (t)" "id:2,phase:1,pass,capture"
      SecRule ARGS:b "@streq two" "id:3,phase:1,pass,capture"`;
    expect(tx(run(rules))).toBe('0=t 1=t');
  });

  test('MATCHED_VAR stays, MATCHED_VARS begin anew, RULE is the starter', () => {
    const rules = `
      SecRule ARGS:b "@rx ." "id:1,phase:1,pass"
      SecRule MATCHED_VAR "@streq two" "id:2,phase:1,pass"
      SecRule MATCHED_VARS "@rx two" "id:3,phase:1,pass"
      SecRule ARGS:b "@rx ." "id:4,phase:1,pass,chain"
        SecRule MATCHED_VARS_NAMES "@streq ARGS:b" "setvar:tx.r=%{RULE.id}"`;
    const result = run(rules);
    expect(result.matchedIds).toEqual([1, 2, 4]);
    expect(tx(result)).toBe('r=4');
  });

  test('what is recorded', () => {
    const rules = `
      SecAction "id:1,phase:1,pass,nolog,severity:1"
      SecAction "id:2,phase:1,pass,nolog,auditlog,severity:3,tag:'t/%{REQUEST_METHOD}'"
      SecRule HIGHEST_SEVERITY "@eq 1" "id:3,phase:1,pass,log,logdata:'%{MATCHED_VAR_NAME}'"`;
    const result = run(rules);
    expect(result.matchedIds).toEqual([1, 2, 3]);
    const records = result.matchedRules.map(({ ruleId, log, auditLog }) => [ruleId, log, auditLog]);
    expect(records).toContainEqual([3, true, true]);
    expect(result.matchedRules.find(({ ruleId }) => ruleId === 3)?.data).toBe('HIGHEST_SEVERITY');
    expect(result.matchedRules.find(({ ruleId }) => ruleId === 1)).toBeUndefined();
  });
});

describe('macros', () => {
  const table: [string, string][] = [
    ['%{ARGS.b}', 'two'],
    ['%{args:B}', 'two'],
    ['%{ARGS}', '1'],
    ['%{ARGS:/^b/}', 'two'],
    ['%{ARGS:b}%', 'two'],
    ['%{ARGS:b}%x', 'two%x'],
    ['%{TX.none}', ''],
    ['%{NO_SUCH.x}', '%{NO_SUCH.x}'],
    ['%{REQUEST_METHOD} %{REQUEST_HEADERS.host}', 'GET localhost'],
  ];
  test.each(table)('%s', (text, expected) => {
    const result = run(`SecAction "id:1,phase:1,pass,setvar:'tx.m=${text}'"`);
    expect(result.variables.get('m')).toBe(expected);
  });
});
