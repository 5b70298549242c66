/** Security events are counted for alerts exactly: a flood costs detail, never a count. */

import { expect, test } from 'vitest';
import { sampleEvent, sampleMatch } from '../../../test/support/sample-event.ts';
import { readAlertKey } from '../../../base/alert-key.ts';
import { countLimits } from '../../base/observation-limits.ts';
import type { RequestEvent } from '../../contract/events.ts';
import type { MatchedRule, TransactionRecord } from '../../contract/verdict.ts';
import { countForAlerts } from './alert-counts.ts';

function matched(...matchedRules: readonly MatchedRule[]): Partial<RequestEvent> {
  return { transaction: { matchedRules } as unknown as TransactionRecord };
}

function count(...events: readonly Partial<RequestEvent>[]): Map<string | number, number> {
  const counts = new Map<string | number, number>();
  for (const one of events) countForAlerts(counts, sampleEvent(one));
  return counts;
}

const totalOf = (counts: ReadonlyMap<unknown, number>): number =>
  [...counts.values()].reduce((sum, one) => sum + one, 0);

test.each<[string, Partial<RequestEvent>, string]>([
  ['a rule that blocked', { ...matched(sampleMatch()), blocked: true }, 'b 2 sqli 942100'],
  ['a rule that only matched', matched(sampleMatch()), 'p 2 sqli 942100'],
  [
    'several rules: the worst severity, sorted families and rules, each once',
    matched(
      sampleMatch({ ruleId: 949110, severity: -1, tags: ['attack-xss', 'paranoia-level/1'] }),
      sampleMatch({ severity: 5 }),
      sampleMatch(),
      sampleMatch(),
    ),
    'p 2 sqli,xss 942100,949110',
  ],
  [
    'a rule that does not log is not counted',
    matched(sampleMatch({ ruleId: 1, log: false, severity: 0 }), sampleMatch()),
    'p 2 sqli 942100',
  ],
  [
    'severities past debug count as debug',
    matched(sampleMatch({ severity: 9 })),
    'p 7 sqli 942100',
  ],
  [
    'a family with other characters is not counted',
    matched(sampleMatch({ tags: ['attack-a b', 'attack-A', 'attack-', 'attack-a,b'] })),
    'p 2  942100',
  ],
  ['what the proxy refused', { outcome: 'refused', refusal: 'bad_request' }, 'b -1 protocol '],
  [
    'what a guard refused has no family',
    { outcome: 'refused', refusal: 'rate_limit', guards: [] },
    'b -1  ',
  ],
  ['nothing known', {}, 'p -1  '],
])('%s', (_what, event, key) => {
  expect([...count(event)]).toEqual([[key, 1]]);
  expect(readAlertKey(key)).not.toBeNull();
});

test('more rules than a key holds are given up, the event is counted', () => {
  const many = (length: number): readonly MatchedRule[] =>
    Array.from({ length }, (_, at) => sampleMatch({ ruleId: at + 1 }));
  const { alertRulesMax } = countLimits;
  const [fits] = count(matched(...many(alertRulesMax))).keys();
  expect(readAlertKey(String(fits))?.ruleIds).toHaveLength(alertRulesMax);
  expect([...count(matched(...many(alertRulesMax + 1)))]).toEqual([['p 2 sqli *', 1]]);
});

test('a flood of combinations gives up rules, then families; every event is counted', () => {
  const { alertKeysMax, alertCoarseKeysMax } = countLimits;
  const events = 4 * alertCoarseKeysMax;
  const flood = Array.from({ length: events }, (_, at) =>
    matched(sampleMatch({ ruleId: at + 1, tags: [`attack-a${at}`] })),
  );
  const counts = count(...flood);
  expect(totalOf(counts)).toBe(events);
  const keys = [...counts.keys()].map((key) => readAlertKey(String(key))!);
  expect(keys.filter(({ ruleIds }) => ruleIds !== null)).toHaveLength(alertKeysMax);
  const coarse = keys.filter(
    ({ ruleIds, attackTypes }) => ruleIds === null && attackTypes !== null,
  );
  expect(coarse).toHaveLength(alertCoarseKeysMax - alertKeysMax);
  // What gives up both is one key for each outcome and severity.
  expect(counts.get('p 2 * *')).toBe(events - alertCoarseKeysMax);
  expect(keys).toHaveLength(alertCoarseKeysMax + 1);
});

test('a key that is known stays exact in a flood', () => {
  const known = matched(sampleMatch());
  const flood = Array.from({ length: 2 * countLimits.alertCoarseKeysMax }, (_, at) =>
    matched(sampleMatch({ ruleId: at + 1, tags: [`attack-a${at}`] })),
  );
  const counts = count(known, ...flood, known, known);
  expect(counts.get('p 2 sqli 942100')).toBe(3);
  expect(totalOf(counts)).toBe(flood.length + 3);
});
