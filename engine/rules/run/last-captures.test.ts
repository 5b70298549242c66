/**
 * Tests what is left out where only the last matches and captures of a rule are read: it is not
 * searched for captures for each value that matches, and values that nobody reads are not made.
 * What reports and captures hold is compared with the oracle in test/fuzz.
 */

import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { createLogger } from '../../../base/log.ts';
import type { TransactionRecord } from '../../contract/verdict.ts';
import { fullCatalog } from '../features/full-catalog.ts';
import { requestFrom } from '../load/test-sample.ts';
import type { RulePorts } from '../transaction/ports.ts';
import type { BoundOperator, Rule } from '../transaction/types.ts';
import { loadText } from '../language/include.ts';
import { buildPlan } from '../plan/build-plan.ts';
import type { RulePlan } from '../plan/rule-plan.ts';
import { linksOf } from '../plan/written-reads.ts';
import { buildProgram } from '../program/build-program.ts';
import { PolicyEngine } from './policy-engine.ts';

const ports: RulePorts = {
  clock: systemClock,
  collections: null,
  geo: null,
  rbl: null,
  env: new Map(),
};
const engines: PolicyEngine[] = [];
afterAll(() => engines.forEach((engine) => engine.retire()));
afterEach(() => void vi.restoreAllMocks());

interface Outcome {
  readonly record: TransactionRecord;
  /** Evaluations of the rule's operator, and those that were asked for captures. */
  readonly evaluations: number;
  readonly captures: number;
  /** Runs of the rule's transformations outside the scan. */
  readonly transformations: number;
  readonly tx: (name: string) => string | undefined;
}

/** Runs rules over a hundred matching arguments, a1=b1b to a100=b100b, or others. */
function runOver(
  rule: string,
  list = Array.from({ length: 100 }, (_, at) => `a${at + 1}=b${at + 1}b`),
): Outcome {
  const text = `SecRuleEngine On\n${rule}`;
  const { program, diagnostics } = buildProgram(loadText(text, 't.conf'), fullCatalog, () => null);
  if (!program) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  const cache = { get: () => null, put: () => undefined };
  const plan = buildPlan(program, { cache, log: createLogger('test', 'error'), ports });
  const engine = new PolicyEngine(plan, ports);
  engines.push(engine);
  const counts = { evaluations: 0, captures: 0, transformations: 0 };
  for (const operator of operatorsOf(plan)) countEvaluations(operator, counts);
  for (const transformation of new Set(linksRun(plan).flatMap((link) => link.transformations))) {
    const { apply } = transformation;
    vi.spyOn(transformation, 'apply').mockImplementation((value) => {
      counts.transformations++;
      return apply(value);
    });
  }
  const session = engine.open(requestFrom(`GET /?${list.join('&')} HTTP/1.1\r\nHost: a`));
  session.requestHead();
  session.requestBody(null);
  const tx = session.transaction.tx.snapshot();
  const record = session.finish();
  return { record, ...counts, tx: (name) => tx.get(name) };
}

/** Those that run: a plan binds rules of its own. */
function operatorsOf(plan: RulePlan): BoundOperator[] {
  return linksRun(plan).flatMap(({ operator }) => operator ?? []);
}

function linksRun({ phases }: RulePlan): Rule[] {
  const items = phases.flatMap((phase) => phase.items);
  return items.flatMap((item) => (item.kind === 'rule' ? linksOf(item) : []));
}

function countEvaluations(
  operator: BoundOperator,
  counts: { evaluations: number; captures: number },
): void {
  const { evaluate } = operator;
  Object.assign(operator, {
    evaluate: ((value, tx, captures) => {
      counts.evaluations++;
      if (captures !== null) counts.captures++;
      return evaluate(value, tx, captures);
    }) satisfies BoundOperator['evaluate'],
  });
}

const rule = (actions: string): string => {
  return `SecRule ARGS "@rx b([0-9]+)b" "id:1,phase:1,pass,log,capture,${actions}"`;
};

test('a log text shows what the last match captured, for two searches', () => {
  const { record, evaluations, captures } = runOver(rule("logdata:'%{TX.1} %{MATCHED_VAR}'"));
  expect(record.matchedRules.map(({ data }) => data)).toEqual(['100 b100b']);
  expect({ evaluations, captures }).toEqual({ evaluations: 2, captures: 2 });
});

test('actions that do not read captures run for every match', () => {
  const { tx, captures } = runOver(rule('setvar:tx.n=+1'));
  expect([tx('n'), tx('1')]).toEqual(['100', '100']);
  expect(captures).toBe(2);
});

test('a chain reads what the last match of its start captured', () => {
  const { record, captures } = runOver(`${rule('chain')}\nSecRule TX:1 "@streq 100" "t:none"`);
  expect(record.matchedRules.map(({ ruleId }) => ruleId)).toEqual([1]);
  expect(captures).toBe(2);
});

test('a pattern that has to be confirmed is searched for captures twice', () => {
  const text = `SecRule ARGS "@rx b(\\d+)b(?!x)" "id:1,phase:1,pass,log,capture,logdata:'%{TX.1}'"`;
  const { record, evaluations, captures } = runOver(text);
  expect(record.matchedRules.map(({ data }) => data)).toEqual(['100']);
  expect({ evaluations, captures }).toEqual({ evaluations: 101, captures: 2 });
});

test('actions that read captures have those of every match', () => {
  const { tx, captures } = runOver(rule("setvar:'tx.sum=+%{TX.1}'"));
  expect(tx('sum')).toBe('5050');
  expect(captures).toBe(100);
});

test('an operator that reads captures has those of every match', () => {
  const text = `SecRule ARGS "@rx b([0-9]+)b|%{TX.1}x" "id:1,phase:1,pass,nolog,capture"`;
  const { tx, captures } = runOver(text);
  expect(tx('1')).toBe('100');
  expect(captures).toBe(100);
});

test('of many matches only those that a report shows are made; actions run for all', () => {
  const plain = `SecRule ARGS "@rx ^b[0-9]+b$" "id:1,phase:1,pass,log,t:lowercase,`;
  const { record, tx, transformations } = runOver(
    `${plain}logdata:'%{MATCHED_VAR_NAME} %{MATCHED_VAR}',setvar:tx.n=+1"`,
  );
  expect(tx('n')).toBe('100');
  const [{ data, matched } = { data: '', matched: [] }] = record.matchedRules;
  expect(data).toBe('ARGS:a100 b100b');
  expect(matched.map(({ name }) => name)).toEqual(
    Array.from({ length: 16 }, (_, at) => `ARGS:a${at + 85}`),
  );
  expect(transformations).toBeLessThan(20);
});

test.each([
  ['the first of all matches in a text', "logdata:'%{MATCHED_VARS}'", 'b1b', '1'],
  ['names of matches in an action', "setvar:'tx.%{MATCHED_VAR_NAME}=1'", '', '1'],
])('%s', (_, action, data, one) => {
  const actions = `id:1,phase:1,pass,log,t:lowercase,setvar:tx.args:a1=1,${action}`;
  const { record, tx } = runOver(`SecRule ARGS "@rx ^b[0-9]+b$" "${actions}"`);
  expect(record.matchedRules.map((match) => match.data)).toEqual([data]);
  expect(tx('args:a1')).toBe(one);
});

test('excluded arguments are left out of many matches, too', () => {
  const { record, tx } = runOver(
    `SecRule ARGS|!ARGS:/^a\\d$/|!ARGS:a100 "@rx ^b[0-9]+b$" "id:1,phase:1,log,setvar:tx.n=+1"`,
  );
  expect(tx('n')).toBe('90');
  expect(record.matchedRules[0]?.matched.at(-1)?.name).toBe('ARGS:a99');
});

test('rules that match a long value share what their transformations make of it', () => {
  const value = `${'B'.repeat(1_000)}1b`;
  const one = (id: number): string => {
    return `SecRule ARGS "@rx b([0-9])b" "id:${id},phase:1,pass,log,capture,t:lowercase,t:trim"`;
  };
  const rules = Array.from({ length: 20 }, (_, at) => one(at + 1)).join('\n');
  const { record, transformations } = runOver(rules, [`a=${value}`, `b=${value}x`]);
  expect(record.matchedRules).toHaveLength(20);
  expect(transformations).toBe(4);
});
