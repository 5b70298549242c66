/** Proof that a virtual patch shows as a guard: what it did, whose fault it is, in order. */

import { expect, test } from 'vitest';
import type { GuardNote } from '../contract/guard.ts';
import type { MatchedRule, TransactionRecord } from '../contract/verdict.ts';
import { withPatchNotes } from './patch-notes.ts';

const listed: GuardNote = {
  guard: 'ip',
  action: 'monitor',
  reason: 'ip_listed',
  ruleId: 'b-1',
  detail: '',
  skipped: [],
};

function rule(ruleId: number, ...tags: string[]): MatchedRule {
  return { ruleId, tags, message: 'a fault', phase: 2, data: '' } as unknown as MatchedRule;
}

function record(
  decidedBy: number,
  detectionOnly: boolean,
  rules: MatchedRule[],
): TransactionRecord {
  const verdict = { action: 'block', status: 403, ruleId: decidedBy, phase: 2 };
  return { verdict, detectionOnly, matchedRules: rules } as unknown as TransactionRecord;
}

const patch = rule(10_000, 'custom', 'virtual-patch', 'CVE-2021-44228');
const note = (action: string): object => ({
  guard: 'virtual_patch',
  action,
  reason: 'virtual_patch',
  ruleId: '10000',
  detail: 'CVE-2021-44228',
  skipped: [],
});

test.each([
  ['it decided', record(10_000, false, [patch]), true, [note('deny')]],
  ['another rule decided', record(949_110, false, [rule(942_100), patch]), true, [note('monitor')]],
  ['the engine only detects', record(10_000, true, [patch]), false, [note('monitor')]],
  ['no patch matched', record(942_100, false, [rule(942_100, 'attack-sqli')]), true, []],
  ['nothing was inspected', null, false, []],
] as const)('%s', (_name, transaction, blocked, expected) => {
  expect(withPatchNotes([listed], transaction, blocked)).toEqual([listed, ...expected]);
});
