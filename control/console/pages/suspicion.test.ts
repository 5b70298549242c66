/** Tests the order of suspected false positives on events that a person would judge the same. */

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { SecurityEventSchema, type SecurityEvent } from '../../../proto/gen/waf/v1/log_pb.ts';
import { suspectsOf } from './suspicion.ts';

const hourMs = 3_600_000;

function event(
  index: number,
  client: string,
  path: string,
  rule: string,
  score: number,
): SecurityEvent {
  return create(SecurityEventSchema, {
    id: `${rule}-${index}`,
    clientIp: client,
    path,
    anomalyScore: score,
    occurredAt: timestampFromMs(index * hourMs),
    messages: [
      { ruleId: rule, matchVariable: 'ARGS', matchKey: 'q', scoreContribution: score },
      { ruleId: '949110', matchVariable: 'TX', scoreContribution: 0 },
    ],
  });
}

test('many clients on one path with low scores come before one scanner', () => {
  const honest = Array.from({ length: 20 }, (_, n) =>
    event(n, `10.0.0.${n}`, '/comment', '942100', 5),
  );
  const scanner = Array.from({ length: 40 }, (_, n) =>
    event(0, '192.0.2.1', `/${n}`, '932160', 40),
  ).map((one, n) => ({ ...one, id: `scan-${n}` }));
  const [first, second, ...rest] = suspectsOf([...scanner, ...honest]);
  expect(rest).toEqual([]);
  expect(first).toMatchObject({
    ruleId: '942100',
    place: 'ARGS:q',
    clients: 20,
    paths: 1,
    events: 20,
  });
  expect(second).toMatchObject({ ruleId: '932160', clients: 1, paths: 40, events: 40 });
  expect(first!.suspicion).toBeGreaterThan(75);
  expect(second!.suspicion).toBeLessThan(25);
  expect(first!.examples).toHaveLength(3);
});

test('rules that only sum scores are no suspects', () => {
  expect(suspectsOf([event(0, '10.0.0.1', '/', '942100', 5)]).map(({ ruleId }) => ruleId)).toEqual([
    '942100',
  ]);
});

test('examples differ in client or path', () => {
  const events = [3, 2, 1].map((n) => event(n, '10.0.0.1', '/comment', '942100', 5));
  const [found] = suspectsOf([...events, event(0, '10.0.0.2', '/comment', '942100', 5)]);
  expect(found!.examples.map(({ id }) => id)).toEqual(['942100-3', '942100-0']);
});
