/** The proof that errors of inspection are named for what they are, and ours for the rest. */

import { expect, test } from 'vitest';
import { AppError, inspectionDeadline, policyAbsent } from '../../base/errors.ts';
import { failureOf, inspectionFailed } from './inspection-failure.ts';

const coded = (code: string): AppError => new AppError(code, 'it failed', { source: 'internal' });

test.each([
  [coded(inspectionDeadline), 'deadline'],
  [coded(policyAbsent), 'policy'],
  [coded('scan_failed'), 'native'],
  [coded('arena_full'), 'memory'],
  [coded('slab_full'), 'memory'],
  [new RangeError('Array buffer allocation failed'), 'memory'],
  [new RangeError('Invalid array length'), 'internal'],
  [coded('closed'), 'internal'],
  [new TypeError('x is undefined'), 'internal'],
  ['a text', 'internal'],
])('%s is %s', (thrown, reason) => {
  expect(failureOf(thrown)).toBe(reason);
});

test('every reason has its value', () => {
  for (const [reason, value] of Object.entries(inspectionFailed)) {
    expect(value).toEqual({ action: 'failed', reason });
  }
});
