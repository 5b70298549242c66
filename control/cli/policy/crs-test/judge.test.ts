/** Tests when a stage passes. */

import { describe, expect, test } from 'vitest';
import { noExpectation } from './case.ts';
import type { SeenEvent, SeenRule } from './event-tail.ts';
import { judge, toLogLine } from './judge.ts';

const rule = (id: number): SeenRule => ({
  id,
  message: 'Something',
  data: `Matched Data: x found within ARGS:x: x`,
  tags: ['attack'],
  severity: 2,
  file: 'a.conf',
  line: 3,
  ver: 'v',
  rev: '',
  operator: 'Rx',
  matched: [{ name: 'ARGS:x', value: 'x' }],
});
const event = (more: Partial<SeenEvent> = {}): SeenEvent => ({
  requestId: 'r',
  status: 200,
  refusal: null,
  rules: [rule(1), rule(2)],
  withheldStatus: 0,
  failure: null,
  ...more,
});

describe('rules', () => {
  test.each([
    [{ ids: [1, 2] }, true],
    [{ ids: [1, 3] }, false],
    [{ noIds: [3] }, true],
    [{ noIds: [2] }, false],
    [{ noIdsAtAll: true }, false],
    [{ logRegex: '\\[id "2"\\].*within ARGS:x' }, true],
    [{ logRegex: 'within ARGS:y' }, false],
    [{ noLogRegex: 'within ARGS:x' }, false],
  ])('%j gives %s', (part, passed) => {
    const expectation = { ...noExpectation, ...part };
    expect(judge(expectation, { status: 200, event: event() }).passed).toBe(passed);
  });

  test('a request without an event fails what asks for rules', () => {
    const expectation = { ...noExpectation, ids: [1] };
    expect(judge(expectation, { status: 200, event: null }).passed).toBe(false);
    expect(judge(noExpectation, { status: 200, event: null }).passed).toBe(true);
  });
});

describe('status', () => {
  const wants403 = { ...noExpectation, statuses: [403, 404] };

  test('the status on the wire counts', () => {
    expect(judge(wants403, { status: 404, event: event() }).passed).toBe(true);
    expect(judge(wants403, { status: 200, event: event() }).passed).toBe(false);
  });

  test('so does the status that detection-only withheld, and it is said', () => {
    const seen = judge(wants403, { status: 200, event: event({ withheldStatus: 403 }) });
    expect(seen).toMatchObject({ passed: true, withheld: true });
  });

  test('no answer is what expect_error asks for', () => {
    const wantsNone = { ...noExpectation, error: true };
    expect(judge(wantsNone, { status: 0, event: null }).passed).toBe(true);
    expect(judge(wantsNone, { status: 200, event: event() }).passed).toBe(false);
  });
});

describe("the front's own 400", () => {
  const wants = { ...noExpectation, ids: [3] };

  test('stands for a rule when it was recorded with a reason', () => {
    const refused = event({ refusal: 'bad_chunk', status: 400 });
    expect(judge(wants, { status: 400, event: refused })).toMatchObject({
      passed: true,
      refusal: 'bad_chunk',
    });
  });

  test('does not when nothing was recorded, or the status is another', () => {
    expect(judge(wants, { status: 400, event: null }).passed).toBe(false);
    expect(judge(wants, { status: 400, event: event({ status: 400 }) }).passed).toBe(false);
    const timedOut = event({ refusal: 'head_timeout', status: 408 });
    expect(judge(wants, { status: 408, event: timedOut }).passed).toBe(false);
  });

  test('is not mentioned when the rules matched anyway', () => {
    const refused = event({ refusal: 'no_host', status: 400 });
    const seen = judge({ ...noExpectation, ids: [1] }, { status: 400, event: refused });
    expect(seen).toMatchObject({ passed: true, refusal: null });
  });
});

test('a log line carries what CRS looks for', () => {
  expect(toLogLine(rule(920100))).toContain('[id "920100"]');
  expect(toLogLine({ ...rule(1), data: 'a\r\nb' })).toContain('[data "a\\x0d\\x0ab"]');
});
