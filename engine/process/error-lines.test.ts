/** Holds the log to a line for a failed request, and to few lines for a flood of them. */

import { expect, test } from 'vitest';
import { errorLineLimits } from '../base/observation-limits.ts';
import { createLogger } from '../../base/log.ts';
import type { RequestEvent } from '../contract/events.ts';
import { ErrorLines } from './error-lines.ts';

function errorLines() {
  const time = { us: 0 };
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('engine', 'info', (line) => {
    lines.push(JSON.parse(line) as Record<string, unknown>);
  });
  const clock = { nowMs: () => 0, monotonicUs: () => time.us };
  return { writer: new ErrorLines(clock, log), lines, time };
}

const failed = {
  requestId: 'r1',
  siteId: 's1',
  clientIp: '192.0.2.1',
  status: 502,
  outcome: 'origin_error',
  refusal: 'origin_connect',
  endpoint: '10.0.0.5:80',
  transaction: null,
} as RequestEvent;

test('a failure of an origin has a line with its endpoint and reason', () => {
  const { writer, lines } = errorLines();
  writer.write([failed, { ...failed, outcome: 'served', refusal: null }]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    level: 'warn',
    part: 'upstream',
    reason: 'origin_connect',
    endpoint: '10.0.0.5:80',
    requestId: 'r1',
  });
});

test('a flood costs a bounded number of lines, and says how many it left out', () => {
  const { writer, lines, time } = errorLines();
  const flood = Array<RequestEvent>(1000).fill(failed);
  writer.write(flood);
  expect(lines).toHaveLength(errorLineLimits.linesMax);
  time.us = errorLineLimits.periodMs * 1000;
  writer.write([failed]);
  const { linesMax } = errorLineLimits;
  expect(lines[linesMax]).toMatchObject({ level: 'warn', skipped: 1000 - linesMax });
  expect(lines).toHaveLength(linesMax + 2);
});
