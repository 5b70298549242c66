/** The index of an access fact is the index of its event, whatever the fact holds. */

import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AccessFactSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { accessKind } from './access-event.ts';
import { accessTerms } from './access-terms.ts';

const identity = { id: '00000000000001-000000000001', tenantId: 't', agentId: 'node-1' };

/** The index values by both ways. */
function both(init: MessageInitShape<typeof AccessFactSchema>) {
  const bytes = toBinary(AccessFactSchema, create(AccessFactSchema, init));
  const direct = accessTerms(bytes, identity.agentId);
  return { direct, whole: accessKind.termsOf(accessKind.toEvent(bytes, identity)) };
}

/** JSON of an event leaves a text of `0` out, as proto3 does with numbers. */
const text = fc
  .oneof(fc.constantFrom('', 'a', 'é', '\ufeffx'), fc.string({ maxLength: 12 }))
  .filter((one) => one !== '0');
const raw = fc.oneof(
  fc.uint8Array({ maxLength: 12 }).filter((bytes) => !(bytes[0] === 0x30 && bytes.length < 3)),
  fc.constantFrom(...['GET', '/a/b/123/c?d', 'a.example:8080', '\ufeff/x'].map(Buffer.from)),
);
const fact = fc.record({
  ...{ requestId: text, siteId: text, method: raw, host: raw, target: raw, upstreamId: text },
  ...{ routeId: text, clientIp: fc.oneof(fc.ipV4(), fc.ipV6(), text) },
  status: fc.constantFrom(0, 200, 403, 4_294_967_295),
  durationUs: fc.bigInt({ min: 0n, max: 2n ** 60n }),
  reservoirScore: fc.bigInt({ min: 0n, max: 2n ** 52n }),
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
  const { direct } = both({ requestId: 'r', ja4: 'x', trace: { startUs: 1n }, status: 200 });
  expect(direct['request']).toEqual(['r']);
  expect(() => accessTerms(Uint8Array.of(0x0a, 0xff), 'n')).toThrow();
});
