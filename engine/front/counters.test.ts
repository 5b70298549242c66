/** Tests that front threads count each limit of inspection that a request reached. */

import { expect, test } from 'vitest';
import type { RequestEvent } from '../contract/events.ts';
import { passVerdict } from '../contract/verdict.ts';
import { FrontCounters } from './counters.ts';

function event(limitsReached: readonly string[]): RequestEvent {
  return {
    ...{ requestId: 'r', siteId: 's', receivedAtMs: 1, durationUs: 1, originUs: -1 },
    ...{ clientIp: '::1', clientPort: 1, method: 'GET', host: 'h', target: '/', endpoint: null },
    ...{ httpVersion: 'HTTP/1.1', userAgent: '', status: 200, outcome: 'served' as const },
    ...{ blocked: false, refusal: null, bytesIn: 0, bytesOut: 0 },
    transaction: {
      ...{ verdict: passVerdict, matchedRules: [], inboundScore: 0, outboundScore: 0 },
      ...{ detectionOnly: false, inspectionUs: 1, limitsReached },
    },
  };
}

test('counts the limits that requests reached, by name', () => {
  const counters = new FrontCounters();
  counters.add(event(['json-name-bytes', 'arguments']), 'p');
  counters.add(event(['arguments']), 'p');
  counters.add(event([]), 'p');
  const [delta] = counters.drain();
  expect(delta?.requests).toBe(3);
  expect(Object.fromEntries(delta!.entries.get('limit')!)).toEqual({
    'json-name-bytes': 1,
    arguments: 2,
  });
});
