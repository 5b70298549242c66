/** Facts without their details: what decoding, clearing and encoding gives. */

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  SecurityFactSchema,
  type SecurityFact,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { compactFact } from './compact-fact.ts';

const found = {
  data: 'Matched Data: x found within ARGS:q: x',
  matched: [{ name: Buffer.from('ARGS:q'), value: Buffer.alloc(300, 'v') }],
  truncated: true,
};
const match = { ruleId: 942_100, message: 'm'.repeat(200), tags: ['attack-sqli'], score: 5 };
const fact = {
  requestId: 'r',
  receivedAtMs: 1_700_000_000_000n,
  reservoirScore: 7n,
  status: 403,
  uninspectedBytes: 3n,
};

test.each([
  ['no match', { ...fact, captureReasons: ['all'] }],
  ['matches with what they found', { ...fact, matches: [{ ...match, ...found }, match] }],
  ['a mark that is not set', { ...fact, compact: false, matches: [{ ...match, ...found }] }],
  ['a mark beside a reason', { ...fact, compact: true, captureReasons: ['all'] }],
  ['no mark and nothing found', { ...fact, matches: [match] }],
  ['a mark that says too much', { ...fact, compact: true, matches: [{ ...match, ...found }] }],
])('%s', (_name, fields) => {
  const bytes = toBinary(SecurityFactSchema, create(SecurityFactSchema, fields));
  const wanted = clearedFact(bytes);
  expect(fromBinary(SecurityFactSchema, compactFact(bytes))).toEqual(wanted);
});

test('a fact that has no details is not copied', () => {
  const fields = { ...fact, compact: true, matches: [match] };
  const bytes = toBinary(SecurityFactSchema, create(SecurityFactSchema, fields));
  expect(compactFact(bytes)).toBe(bytes);
});

test('a damaged fact is refused', () => {
  const bytes = toBinary(SecurityFactSchema, create(SecurityFactSchema, { matches: [match] }));
  expect(() => compactFact(bytes.subarray(0, -1))).toThrow(RangeError);
});

function clearedFact(bytes: Uint8Array): SecurityFact {
  const decoded = fromBinary(SecurityFactSchema, bytes);
  decoded.compact = true;
  decoded.captureReasons = [];
  for (const one of decoded.matches) {
    one.data = '';
    one.matched = [];
    one.truncated = false;
  }
  return decoded;
}
