/** Holds the report of faults in logging: the first at once, a flood of them in few lines. */

import { expect, test } from 'vitest';
import type { Logger } from '../../base/log.ts';
import { errorLineLimits } from '../base/observation-limits.ts';
import type { RequestError } from '../contract/request-error.ts';
import { FactFaultReport } from './fact-fault-report.ts';

test('a part that fails is reported at once, then with a count after a while', () => {
  let nowUs = 0;
  const told: RequestError[] = [];
  const lines: object[] = [];
  const log = { error: (_text: string, fields: object) => lines.push(fields) } as unknown as Logger;
  const clock = { nowMs: () => 0, monotonicUs: () => nowUs };
  const report = new FactFaultReport(clock, log, (error) => told.push(error));
  report.take([{ part: 'log_policy', count: 1, message: 'secret of a request' }]);
  for (let at = 0; at < 5; at++) report.take([{ part: 'log_policy', count: 2, message: 'm' }]);
  report.take([{ part: 'evidence', count: 1, message: 'm' }]);
  expect(told.map(({ reason }) => reason)).toEqual([
    'logging_fault_log_policy',
    'logging_fault_evidence',
  ]);
  expect(told[0]!.message).toContain('(1 times); the requests were served');
  expect(JSON.stringify(told)).not.toContain('secret');
  nowUs = errorLineLimits.periodMs * 1000;
  report.take([{ part: 'log_policy', count: 1, message: 'm' }]);
  expect(told.at(-1)!.message).toContain('(11 times)');
  expect(lines).toHaveLength(3);
});
