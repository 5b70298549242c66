/** Holds events to what sanitise actions asked for. */

import { expect, test } from 'vitest';
import { sampleEvent } from '../../../test/support/sample-event.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { passVerdict } from '../../contract/verdict.ts';
import { hideValues } from './hide-values.ts';

function event(target: string, hidden?: readonly string[]): RequestEvent {
  return sampleEvent({
    target,
    transaction: {
      verdict: passVerdict,
      matchedRules: [],
      inboundScore: 0,
      outboundScore: 0,
      detectionOnly: false,
      inspectionUs: 0,
      ...(hidden && { hidden }),
    },
  });
}

test.each([
  [['args:pw'], '/?a=1&pw=secret', '/?a=1&pw=******', 'curl'],
  [['args_get:pw', 'request_headers:user-agent'], '/?pw=s', '/?pw=*', '****'],
  [['query_string'], '/p?x&y', '/p?***', 'curl'],
  [['request_headers:cookie'], '/p?x=y', '/p?x=y', 'curl'],
])('%s in %s', (hidden, target, expected, userAgent) => {
  const told = hideValues(event(target, hidden));
  expect(told).toMatchObject({ target: expected, userAgent });
  expect(told.transaction).not.toHaveProperty('hidden');
});

test('an event without hidden values is reported unchanged', () => {
  const one = event('/?pw=x');
  expect(hideValues(one)).toBe(one);
});
