/** A failing place is logged with its stack once, and counted. */
import { expect, test } from 'vitest';
import { FailureLog } from './failure-log.ts';
import type { LogFields, Logger } from '../../base/log.ts';

function opened() {
  const lines: LogFields[] = [];
  const error: Logger['error'] = (_, fields) => void lines.push(fields ?? {});
  const none = (): void => undefined;
  const clock = { now: 0, nowMs: () => clock.now, monotonicUs: () => 0 };
  const failures = new FailureLog({ debug: none, info: none, warn: none, error }, clock);
  return { lines, clock, failures };
}

function thrownHere(message: string): Error {
  return new Error(message);
}

test('a place is logged once a minute, whatever its messages; other places are logged, too', () => {
  const { lines, clock, failures } = opened();
  for (let at = 0; at < 1000; at++) failures.report(thrownHere(`value ${at}`));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ again: 0, stack: expect.stringContaining('thrownHere') });
  failures.report(new TypeError('elsewhere'));
  failures.report('no error at all');
  expect(lines).toHaveLength(3);
  clock.now = 60_000;
  failures.report(thrownHere('later'));
  // The line of the call differs from the loop's: it is a place of its own.
  expect(lines).toHaveLength(4);
});

test('after a minute the count of the same place follows', () => {
  const { lines, clock, failures } = opened();
  for (const now of [0, 1, 2, 60_000]) {
    clock.now = now;
    failures.report(thrownHere('x'));
  }
  expect(lines.map(({ again }) => again)).toEqual([0, 2]);
});

test('places and stacks are bounded', () => {
  const { lines, failures } = opened();
  for (let at = 0; at < 500; at++) failures.report(`place ${at} ${'x'.repeat(5000)}`);
  expect(lines).toHaveLength(500);
  expect(String(lines[0]?.['stack'])).toHaveLength(2000);
});
