/** Proof of the span that a question about detection means, and of sums without loss. */

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { GetSchemaDetectionRequestSchema } from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { sumDetection } from '../../observe/detection-sums.ts';
import { detectionWindow } from './detection-window.ts';

const nowMs = Date.parse('2026-11-22T10:00:07Z');
const ask = (fields: object) => {
  return detectionWindow(create(GetSchemaDetectionRequestSchema, fields), nowMs);
};
const at = (text: string) => timestampFromMs(Date.parse(text));

test('a lookback ends with the latest complete interval', () => {
  const { startMs, endMs, clipped } = ask({ lookbackSeconds: 3_600 });
  expect(new Date(endMs).toISOString()).toBe('2026-11-22T10:00:00.000Z');
  expect(endMs - startMs).toBe(3_600_000);
  expect(clipped).toBe(false);
});

test('a window is one of whole intervals; what is not kept is clipped to a day', () => {
  const windowStart = at('2026-11-14T00:00:03Z');
  const found = ask({ windowStart, windowEnd: at('2026-11-21T00:00:03Z') });
  expect(new Date(found.startMs).toISOString()).toBe('2026-11-15T00:00:00.000Z');
  expect(new Date(found.endMs).toISOString()).toBe('2026-11-21T00:00:10.000Z');
  expect(found.clipped).toBe(true);
});

const start = at('2026-11-22T09:00:00Z');
test.each([
  ['nothing', {}],
  ['a start alone', { windowStart: start }],
  ['both', { lookbackSeconds: 3_600, windowStart: start, windowEnd: start }],
  ['a lookback with an offset', { lookbackSeconds: 3_600, offset: 1 }],
  ['a lookback with details', { lookbackSeconds: 3_600, includeViolationDetails: true }],
  ['an empty window', { windowStart: start, windowEnd: start }],
])('refused: %s', (_, fields) => {
  expect(() => ask(fields)).toThrow(/: /);
});

test('counts of intervals add up without loss; keys of operations may hold blanks', () => {
  const violations = { 'ab ["GET /a b","path","type","/p"]': 2, other: 3 };
  const row = { startMs: 0, bindingId: 'b', omitted: 1, violations };
  const large = Number.MAX_SAFE_INTEGER;
  const sums = sumDetection([
    { ...row, counts: { 'path violation GET /a b': large } },
    { ...row, counts: { 'path violation GET /a b': large } },
  ]);
  expect(sums.operations.get('GET /a b')!.counts.get('path violation')).toBe(2n * BigInt(large));
  expect(sums.violations).toEqual([
    {
      ...{ fingerprint: 'ab', operationKey: 'GET /a b', location: 'path', keyword: 'type' },
      ...{ pointer: '/p', count: 4n },
    },
  ]);
  expect(sums.omitted).toBe(8n);
});
