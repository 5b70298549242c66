/** Tests that front threads count the rules that matched and the limits that were reached. */

import { expect, test } from 'vitest';
import { countLimits } from '../../base/observation-limits.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { passVerdict, type MatchedRule } from '../../contract/verdict.ts';
import { sampleMatch } from '../../../test/support/sample-event.ts';
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

test('counts the rules that matched, but for those that log nothing', () => {
  const counters = new FrontCounters();
  const match = (ruleId: number, log = true) => sampleMatch({ ruleId, log });
  const matched = (...matchedRules: MatchedRule[]): RequestEvent => {
    const plain = event([]);
    return { ...plain, transaction: { ...plain.transaction!, matchedRules } };
  };
  counters.add(matched(match(942_100), match(949_110)), 'p');
  counters.add(matched(match(942_100), match(901_000, false)), 'p');
  const [delta] = counters.drain();
  expect(Object.fromEntries(delta!.entries.get('rule')!)).toEqual({ 942_100: 2, 949_110: 1 });
});

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

test('counts what guards decided, by the rule that decided where there is one', () => {
  const counters = new FrontCounters();
  const note = { guard: 'ip', action: 'deny', reason: 'ip_deny', detail: '', skipped: [] } as const;
  const guards = [
    { ...note, ruleId: 'binding' },
    { ...note, ruleId: '' },
  ];
  counters.add({ ...event([]), guards }, 'p');
  counters.add({ ...event([]), guards: guards.slice(0, 1) }, 'p');
  counters.add(event([]), 'p');
  const [delta] = counters.drain();
  expect(Object.fromEntries(delta!.entries.get('guard')!)).toEqual({ 'ip:deny': 3 });
  expect(Object.fromEntries(delta!.entries.get('guard_rule')!)).toEqual({ binding: 2 });
});

test('counts addresses that IP lists decided about by binding, past the bound by binding alone', () => {
  const counters = new FrontCounters();
  const { listHitsMax } = countLimits;
  for (let at = 0; at < listHitsMax; at++) counters.addListHit('binding', `2001:db8::${at}`);
  counters.addListHit('binding', '192.0.2.1');
  counters.addListHit('another', '192.0.2.1');
  counters.addListHit('another', '192.0.2.2');
  counters.addListHit('binding', '2001:db8::7');
  const [delta, none] = counters.drain();
  const hits = delta!.entries.get('list_hit')!;
  expect([delta!.siteId, delta!.requests, none]).toEqual(['', 0, undefined]);
  expect(hits.size).toBe(listHitsMax + 2);
  const counted = ['binding 2001:db8::7', 'binding ', 'another '].map((key) => hits.get(key));
  expect(counted).toEqual([2, 1, 2]);
  expect(counters.drain()).toEqual([]);
});
