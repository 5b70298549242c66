/** Holds access facts, which are written by hand, to what the library makes of their message. */

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AccessFactSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { exportBit } from '../contract/logging.ts';
import type { RequestEvent } from '../contract/events.ts';
import { encodeAccess, encodeExport } from './access-fact.ts';

const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom('', 'a'.repeat(24), 'a'.repeat(25), 'é'.repeat(200), 'x'.repeat(30_000)),
);
const bytes = fc
  .array(fc.integer({ min: 0, max: 255 }), { maxLength: 60 })
  .map((codes) => String.fromCharCode(...codes));
const large = fc.oneof(fc.constantFrom(0, 127, 128, 2 ** 31, 2 ** 53 - 1), fc.maxSafeNat());
const small = fc.integer({ min: 0, max: 2 ** 32 - 1 });

const events: fc.Arbitrary<RequestEvent> = fc.record({
  ...{ requestId: text, siteId: text, receivedAtMs: large, durationUs: large },
  originUs: fc.oneof(fc.constant(-1), fc.nat()),
  ...{ clientIp: text, clientPort: small, method: bytes, host: bytes, target: bytes },
  ...{ httpVersion: text, userAgent: bytes, referer: bytes, status: small },
  tls: fc.record({ version: text, ja4: text }),
  outcome: fc.constantFrom('served' as const, 'blocked' as const),
  ...{ blocked: fc.boolean(), refusal: fc.option(text), bytesIn: large, bytesOut: large },
  ...{ endpoint: fc.option(text), upstreamId: text, routeId: text },
  transaction: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map((inboundScore) => ({
    verdict: { action: 'pass' as const, status: 200, ruleId: 0, phase: 0 as never },
    ...{ matchedRules: [], inboundScore, outboundScore: 0, detectionOnly: false },
    inspectionUs: 1,
  })),
  selection: fc.record({
    access: fc.integer({ min: 1, max: 15 }),
    securityDetail: fc.boolean(),
    ...{ windowMs: large, revision: large },
    score: fc.double({ min: 0, max: 2 ** 52, noNaN: true }),
  }),
});

/** As it travels: half a pair of surrogates becomes U+FFFD. */
const asUtf8 = (sent: string): string => Buffer.from(sent).toString();

test('a fact is what the library makes of its message', () => {
  fc.assert(
    fc.property(events, (event) => {
      const encoded = encodeAccess(event)!.bytes;
      const fact = fromBinary(AccessFactSchema, encoded);
      expect(Buffer.from(toBinary(AccessFactSchema, fact)).equals(encoded)).toBe(true);
      expect(fact).toMatchObject({
        requestId: asUtf8(event.requestId),
        durationUs: BigInt(event.durationUs),
        clientPort: event.clientPort,
        inboundScore: event.transaction!.inboundScore,
        blocked: event.blocked,
        bytesOut: BigInt(event.bytesOut),
        reservoirScore: BigInt(Math.floor(event.selection!.score)),
        ja4: asUtf8(event.tls!.ja4),
      });
      expect(Buffer.from(fact.target).toString('latin1')).toBe(event.target);
      expect(Buffer.from(fact.userAgent).toString('latin1')).toBe(event.userAgent);
      expect(fact.originUsPlusOne).toBe(BigInt(event.originUs + 1));
    }),
  );
});

const plain: RequestEvent = {
  ...{ requestId: 'r', siteId: 's', receivedAtMs: 1, durationUs: 12.6, originUs: 0.4 },
  ...{ clientIp: '::1', clientPort: 1, method: 'GET', host: 'h', target: '/', httpVersion: '' },
  ...{ userAgent: '', status: 0, outcome: 'client_abort', blocked: false, refusal: null },
  ...{ bytesIn: 0, bytesOut: 0, endpoint: null, transaction: null },
};

test('reasons stand where the policy has them, and what has no value is left out', () => {
  const selection = { access: 1 | 8, securityDetail: false, windowMs: 0, score: 0, revision: 0 };
  const { bytes } = encodeAccess({ ...plain, selection })!;
  const expected = create(AccessFactSchema, {
    ...{ requestId: 'r', siteId: 's', receivedAtMs: 1n, durationUs: 13n, originUsPlusOne: 1n },
    ...{ clientIp: '::1', clientPort: 1, method: Buffer.from('GET'), host: Buffer.from('h') },
    ...{ target: Buffer.from('/'), outcome: 'client_abort', captureReasons: ['all', 'security'] },
  });
  expect(Buffer.from(bytes).equals(toBinary(AccessFactSchema, expected))).toBe(true);
  expect(encodeAccess({ ...plain, selection: { ...selection, access: exportBit } })).toBeNull();
  expect(encodeExport({ ...plain, selection })).toBeNull();
});

test('a trace is part of what is handed on', () => {
  const origin = null;
  const [traceId, spanId, parentId] = ['ab'.repeat(16), 'cd'.repeat(8), ''];
  const trace = { traceId, spanId, parentId, state: 'a=1', startUs: 5, origin };
  const { bytes } = encodeExport({ ...plain, trace })!;
  const fact = fromBinary(AccessFactSchema, bytes);
  expect(fact.trace).toMatchObject({ startUs: 5n, spanId: new Uint8Array(8).fill(0xcd) });
  expect(fact.captureReasons).toEqual([]);
});
