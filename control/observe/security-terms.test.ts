/** The index of a fact is the index of its event, whatever the fact holds. */

import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SecurityFactSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { EventTerms } from './events/event-kind.ts';
import { securityKind } from './security-event.ts';
import { securityTerms } from './security-terms.ts';

const identity = { id: '00000000000001-000000000001', tenantId: 't', agentId: 'node-1' };

/** The index values by both ways; lists that are empty stand for no value. */
function both(init: MessageInitShape<typeof SecurityFactSchema>) {
  const bytes = toBinary(SecurityFactSchema, create(SecurityFactSchema, init));
  const direct = securityTerms(bytes, identity.agentId);
  const whole = securityKind.termsOf(securityKind.toEvent(bytes, identity));
  return { direct: withoutZeros(direct), whole: withoutZeros(whole) };
}

/** JSON of an event leaves a text of `0` out, as proto3 does with numbers. */
function withoutZeros(terms: EventTerms): EventTerms {
  const kept = Object.entries(terms).map(([field, values]) => {
    return [field, values.filter((value) => value !== '0')] as const;
  });
  return Object.fromEntries(kept);
}

const text = fc.oneof(fc.constantFrom('', 'a', 'é', '\ufeffx'), fc.string({ maxLength: 12 }));
const raw = fc.oneof(
  fc.uint8Array({ maxLength: 12 }),
  fc.constantFrom(...['GET', '/a/b/123/c?d', 'a.example:8080', '\ufeff/x'].map(Buffer.from)),
);
const match = fc.record({
  // Rules have numbers from 1 on.
  ruleId: fc.constantFrom(1, 942_100, 4_294_967_295),
  message: text.filter((one) => one !== '0'),
  severity: fc.integer({ min: -1, max: 9 }),
  tags: fc.array(fc.constantFrom('attack-sqli', 'attack-xss', 'attack-generic', 'other', ''), {
    maxLength: 4,
  }),
  data: text,
});
const fact = fc.record({
  ...{ requestId: text, siteId: text, method: raw, host: raw, target: raw },
  clientIp: fc.oneof(fc.ipV4(), fc.ipV6(), text),
  status: fc.constantFrom(0, 200, 403),
  blocked: fc.boolean(),
  outcome: fc.constantFrom('', 'refused', 'blocked', 'served'),
  refusal: fc.constantFrom('', 'bad_host'),
  guards: fc.array(fc.record({ guard: text }), { maxLength: 2 }),
  matches: fc.array(match, { maxLength: 5 }),
});

test('the index of random facts is that of their events', () => {
  fc.assert(
    fc.property(fact, (init) => {
      const { direct, whole } = both(init);
      expect(direct).toEqual(whole);
    }),
    { numRuns: 2000 },
  );
});

test('fields that are not indexed are skipped, damage is refused', () => {
  const { direct } = both({ requestId: 'r', durationUs: 5n, reservoirScore: 7n, ja4: 'x' });
  expect(direct['request']).toEqual(['r']);
  expect(() => securityTerms(Uint8Array.of(0x0a, 0xff), 'n')).toThrow();
});
