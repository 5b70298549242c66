/**
 * Tests which rules are memoized, and which effects they keep. test/fuzz compares their results
 * with the oracle's.
 */

import { afterAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import { createLogger } from '../../../base/log.ts';
import { fullCatalog } from '../features/full-catalog.ts';
import type { RulePorts } from '../transaction/ports.ts';
import { Transaction } from '../transaction/transaction.ts';
import { requestFrom } from '../load/test-sample.ts';
import { loadText } from '../language/include.ts';
import { buildPlan } from '../plan/build-plan.ts';
import type { RulePlan } from '../plan/rule-plan.ts';
import { buildProgram } from '../program/build-program.ts';
import { PhaseMemo, type MemoizedPhase } from './phase-memo.ts';
import { PolicyEngine } from './policy-engine.ts';
import { Runner } from './runner.ts';

const ports: RulePorts = {
  clock: systemClock,
  collections: null,
  geo: null,
  rbl: null,
  env: new Map(),
};
const plans: RulePlan[] = [];
afterAll(() => plans.forEach((plan) => plan.close()));

function planOf(...rules: string[]): RulePlan {
  const text = `SecRuleEngine On\n${rules.join('\n')}\n`;
  const { program } = buildProgram(loadText(text, 't.conf'), fullCatalog, () => null);
  const cache = { get: () => null, put: () => undefined };
  const plan = buildPlan(program!, { cache, log: createLogger('test', 'error'), ports });
  plans.push(plan);
  return plan;
}

function phaseTwo(plan: RulePlan, tx = new Transaction()): MemoizedPhase {
  const memo = new PhaseMemo(plan, ports);
  return memo.phase(memo.start, 2, tx)!;
}

/** Ids of the rules that are still visited. */
function visited(plan: RulePlan, { always }: MemoizedPhase): number[] {
  return plan.phases[2]!.items.flatMap((item, at) => {
    const runs = (always[at >>> 5]! & (1 << (at & 31))) !== 0;
    return runs && item.kind === 'rule' ? [item.id] : [];
  });
}

/** Adds to the score, so that nothing is constant. */
const finder = `SecRule ARGS "@rx x" "id:1,phase:2,pass,nolog,setvar:'tx.found=+5'"`;

test('sums, comparisons and skips over them are memoized', () => {
  const plan = planOf(
    finder,
    `SecAction "id:2,phase:2,pass,nolog,setvar:'tx.total=1',setvar:'tx.total=+%{tx.found}'"`,
    `SecRule TX:total "@ge 5" "id:3,phase:2,deny,log"`,
    `SecRule TX:total "@eq 1" "id:4,phase:2,pass,nolog,skipAfter:END"`,
    `SecAction "id:5,phase:2,pass,log"`,
    'SecMarker END',
  );
  const phase = phaseTwo(plan);
  expect(visited(plan, phase)).toEqual([]);
  expect(phase.writes.map(({ name, value }) => [name, value])).toEqual([['total', '1']]);
  expect(phase.after.tx.get('total')).toBe('1');
});

test.each([
  ['a rule that matches and is logged', `SecRule &TX:found "@eq 0" "id:2,phase:2,pass,log"`],
  ['a rule that captures', `SecRule TX:found "!@rx ^a" "id:2,phase:2,pass,nolog,capture"`],
  ['a switch that turns', `SecAction "id:2,phase:2,pass,nolog,ctl:ruleEngine=Off"`],
  ['other values', `SecRule REMOTE_ADDR "@streq 1.1.1.1" "id:2,phase:2,pass,nolog"`],
])('%s is visited', (_name, rule) => {
  const before = `SecRule ARGS "@rx y" "id:9,phase:1,pass,nolog,setvar:'tx.found=1'"`;
  const plan = planOf(before, `SecAction "id:8,phase:1,pass,nolog,setvar:'tx.found=b'"`, rule);
  const memo = new PhaseMemo(plan, ports);
  const first = memo.phase(memo.start, 1, new Transaction())!;
  const counts = /&TX/.test(rule) ? phaseTwo(plan) : null;
  const second = counts ?? memo.phase(first.after, 2, new Transaction())!;
  expect(visited(plan, second)).toEqual([2]);
});

test('what memoized rules have set so far is read without running them', () => {
  const plan = planOf(
    finder,
    `SecAction "id:2,phase:2,pass,nolog,setvar:'tx.total=1',setvar:'tx.gone=1'"`,
    `SecRule ARGS "@rx y" "id:3,phase:2,pass,log,logdata:'%{tx.total} %{tx.gone}'"`,
    `SecAction "id:4,phase:2,pass,nolog,setvar:'tx.total=+%{tx.found}',setvar:'!tx.gone'"`,
    `SecAction "id:5,phase:2,pass,nolog,setvar:'tx.total=+1'"`,
    `SecRule ARGS "@rx y" "id:6,phase:2,pass,log,logdata:'%{tx.total} [%{tx.gone}]'"`,
    `SecRule ARGS "@rx y" "id:7,phase:5,pass,log,logdata:'%{tx.total}'"`,
  );
  const applied = vi.spyOn(Runner.prototype, 'materialize');
  const engine = new PolicyEngine(plan, ports);
  const told = (query: string): string[] => {
    const session = engine.open(requestFrom(`GET /?${query} HTTP/1.1\r\nHost: a.example`));
    session.requestHead();
    session.requestBody(null);
    return session.finish().matchedRules.map(({ data }) => data);
  };
  expect(told('a=y')).toEqual(['1 1', '2 []', '2']);
  expect(applied).not.toHaveBeenCalled();
  // A rule that finds something sets what they read: they run.
  expect(told('a=y&b=x')).toEqual(['1 1', '7 []', '7']);
  expect(applied).toHaveBeenCalled();
});

test('how the body was read is known where it was read without errors', () => {
  const plan = planOf(
    `SecRule REQBODY_ERROR "!@eq 0" "id:2,phase:2,deny,log"`,
    `SecRule REQUEST_BODY_LENGTH "@gt 0" "id:3,phase:2,deny,log"`,
    `SecRule INBOUND_DATA_ERROR "@eq 1" "id:4,phase:2,pass,log"`,
  );
  const tx = new Transaction();
  expect(visited(plan, phaseTwo(plan, tx))).toEqual([]);
  tx.bodyProcessor = 'JSON';
  tx.requestBodyBytes = 2;
  expect(visited(plan, phaseTwo(plan, tx))).toEqual([3]);
  tx.inboundDataError = 1;
  expect(visited(plan, phaseTwo(plan, tx))).toEqual([2, 3, 4]);
  tx.inboundDataError = 0;
  tx.bodyError = 1;
  expect(visited(plan, phaseTwo(plan, tx))).toEqual([2, 3, 4]);
});

test('courses are bounded', () => {
  const plan = planOf(finder);
  const memo = new PhaseMemo(plan, ports);
  let state = memo.start;
  let made = 0;
  for (; made < 10 * ruleRunLimits.memoizedStatesMax; made++) {
    const phase = memo.phase(state, 2, new Transaction());
    if (phase === null) break;
    state = phase.after;
  }
  expect(made).toBe(ruleRunLimits.memoizedStatesMax - 1);
});
