/** The proof that what an engine says of broken policies is what control reads. */

import { expect, test } from 'vitest';
import {
  policyInvalidCode,
  readPolicyFaults,
  writePolicyFaults,
  type PolicyFault,
} from './policy-faults.ts';

const fault = (id: string, name = id) => ({
  id,
  name,
  errors: 2,
  findings: ['policy.conf:3:1: no operator is called @x', 'a.conf:1:1: second'],
});

const told = (faults: readonly PolicyFault[]): string =>
  `${policyInvalidCode}: ${writePolicyFaults(faults, 10)}`;

test('every policy is found again, with its findings', () => {
  const text = told([fault('p1'), fault('p~s', 'a "name"\npolicy p9 "')]);
  expect(text.startsWith('policy_invalid: 2 policies do not compile\n')).toBe(true);
  const read = readPolicyFaults(text);
  expect(read.map(({ id }) => id)).toEqual(['p1', 'p~s']);
  expect(read[0]?.text).toContain('policy.conf:3:1: no operator is called @x');
  expect(read[0]?.text).toContain('a.conf:1:1: second');
});

test('a text cut anywhere names only policies that it is about', () => {
  const text = told([fault('policy-1'), fault('policy-12')]);
  for (let length = 0; length <= text.length; length++) {
    for (const { id } of readPolicyFaults(text.slice(0, length))) {
      expect(['policy-1', 'policy-12']).toContain(id);
    }
  }
  const cut = text.indexOf('policy policy-12') + 'policy policy-1'.length;
  expect(readPolicyFaults(text.slice(0, cut)).map(({ id }) => id)).toEqual(['policy-1']);
});

test('other texts name none; findings of many policies are few', () => {
  expect(readPolicyFaults('superseded: later\npolicy p1 "x": 1 error')).toEqual([]);
  const many = Array.from({ length: 30 }, (_, at) => fault(`p${at}`));
  const text = told(many);
  expect(readPolicyFaults(text)).toHaveLength(30);
  expect(text.split('\n')).toHaveLength(61);
});
