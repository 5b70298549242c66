/** Batches of facts as nodes send them; the same ones in every run. */

import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { crc32c } from '../../base/crc32c.ts';
import {
  accessFactVersion,
  errorFactVersion,
  securityFactVersion,
} from '../../base/protocol-versions.ts';
import type { IncomingBatch } from '../../control/observe/event-store.ts';
import type { KindName } from '../../control/observe/events/event-questions.ts';
import {
  AccessFactBatchSchema,
  ErrorFactBatchSchema,
  SecurityFactBatchSchema,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';

/** Facts of one batch. */
export const batchEvents = 500;
/** When the first event happens, and the time between two. */
export const startMs = Date.UTC(2026, 0, 1);
/** Milliseconds between two events. */
export const stepMs = 20;
/** Whose events they are. */
export const tenantId = 'default';

/** A whole number below a bound. */
export type Random = (below: number) => number;

/** Numbers that look random and repeat in every run. */
export function seeded(seed: number): Random {
  let state = seed;
  return (below) => (state = (state * 48_271) % 2_147_483_647) % below;
}

/** The request id of an event. */
export const idOf = (number: number): string => number.toString(16).padStart(32, '0');

/** The version that batches of a kind have. */
export const factVersions: Readonly<Record<KindName, number>> = {
  security: securityFactVersion,
  access: accessFactVersion,
  error: errorFactVersion,
};

/** To make a batch costs more than to store it: those past these are these at another time. */
const differentBatches = 600;

/** A payload, and where the request ids and the times of its facts are. */
interface MadeBatch {
  readonly payload: Buffer;
  readonly places: readonly (readonly number[])[];
}

/** Makes batches of a kind by their number; `full`: with what rules found. */
export function batchMaker(kind: KindName, full: boolean): (at: number) => IncomingBatch {
  const made = new Map<number, MadeBatch>();
  return (at) => {
    const like = at % differentBatches;
    const known = made.get(like) ?? makeBatch(kind, full, like);
    made.set(like, known);
    const payload = Buffer.from(known.payload);
    for (const [index, [idAt = 0, timeAt = 0]] of known.places.entries()) {
      const number = at * batchEvents + index;
      payload.write(idOf(number), idAt, 'latin1');
      varintOf(timeOf(number)).copy(payload, timeAt);
    }
    const identity = { agentId: 'local', tenantId, bootId: '00', batchSeq: BigInt(at + 1) };
    return { ...identity, crc32c: crc32c(payload), payload };
  };
}

const timeOf = (number: number): number => startMs + number * stepMs;

function makeBatch(kind: KindName, full: boolean, at: number): MadeBatch {
  const random = seeded(at + 1);
  const numbers = Array.from({ length: batchEvents }, (_, index) => at * batchEvents + index);
  const payload = Buffer.from(encode(kind, full, numbers, random));
  let from = 0;
  const places = numbers.map((number) => {
    const place = [idOf(number), varintOf(timeOf(number))].map((one) => payload.indexOf(one, from));
    from = Math.max(...place);
    if (Math.min(...place) < 0) throw new Error('a fact has no request id or no time');
    return place;
  });
  return { payload, places };
}

function encode(
  kind: KindName,
  full: boolean,
  numbers: readonly number[],
  random: Random,
): Uint8Array {
  if (kind === 'security') {
    const facts = numbers.map((number) => securityFact(number, random, full));
    return toBinary(SecurityFactBatchSchema, create(SecurityFactBatchSchema, { facts }));
  }
  if (kind === 'access') {
    const facts = numbers.map((number) => accessFact(number, random));
    return toBinary(AccessFactBatchSchema, create(AccessFactBatchSchema, { facts }));
  }
  const facts = numbers.map((number) => errorFact(number, random));
  return toBinary(ErrorFactBatchSchema, create(ErrorFactBatchSchema, { facts }));
}

/** Times of our days have six bytes. */
function varintOf(number: number): Buffer {
  const found = Buffer.alloc(6);
  for (let at = 0, left = number; at < 6; at++, left = Math.floor(left / 128)) {
    found[at] = (left % 128) + (at < 5 ? 128 : 0);
  }
  return found;
}

type FactsOf<Batch> = Batch extends { facts?: readonly (infer Fact)[] } ? Fact : never;
type SecurityParts = FactsOf<MessageInitShape<typeof SecurityFactBatchSchema>>;
type AccessParts = FactsOf<MessageInitShape<typeof AccessFactBatchSchema>>;
type ErrorParts = FactsOf<MessageInitShape<typeof ErrorFactBatchSchema>>;

const bytes = (text: string): Buffer => Buffer.from(text);
const tags = ['application-multi', 'attack-sqli', 'paranoia-level/1', 'OWASP_CRS'];
const userAgent = bytes('Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0');

const commonParts = (number: number, random: Random) => ({
  requestId: idOf(number),
  siteId: `site-${random(200)}`,
  clientIp: `198.51.${random(256)}.${random(256)}`,
  method: bytes(random(3) === 0 ? 'POST' : 'GET'),
  host: bytes(`shop-${random(200)}.example`),
  target: bytes(`/api/v${random(4)}/items/${random(5000)}?q=${random(1e6)}`),
});

function securityFact(number: number, random: Random, full: boolean): SecurityParts {
  const rule = 942_000 + random(300);
  const found = {
    data: `Matched Data: ${'x'.repeat(40)} found within ARGS:q${random(50)}`,
    matched: [
      { name: bytes(`ARGS:q${random(50)}`), value: bytes(`value ${random(1e6)} of a field`) },
    ],
  };
  const match = (ruleId: number, message: string) => {
    const text = { ruleId, phase: 2, message, severity: 2, tags, operator: '@rx (?i)union' };
    return { ...text, file: 'REQUEST-942.conf', line: 46, ...(full ? found : {}) };
  };
  return {
    ...commonParts(number, random),
    receivedAtMs: BigInt(timeOf(number)),
    durationUs: BigInt(500 + random(5000)),
    httpVersion: 'HTTP/1.1',
    userAgent,
    status: random(10) === 0 ? 200 : 403,
    blocked: random(10) !== 0,
    outcome: 'blocked',
    inboundScore: 5 + random(20),
    matches: [match(rule, `Rule ${rule}`), match(949_110, 'Inbound Anomaly Score Exceeded')],
    compact: !full,
  };
}

function accessFact(number: number, random: Random): AccessParts {
  return {
    ...commonParts(number, random),
    receivedAtMs: BigInt(timeOf(number)),
    durationUs: BigInt(500 + random(5000)),
    httpVersion: 'HTTP/1.1',
    userAgent,
    status: [200, 200, 200, 304, 404, 500][random(6)]!,
    upstreamId: `upstream-${random(50)}`,
    routeId: `route-${random(100)}`,
    bytesOut: BigInt(random(100_000)),
  };
}

function errorFact(number: number, random: Random): ErrorParts {
  return {
    ...commonParts(number, random),
    atMs: BigInt(timeOf(number)),
    level: random(4) === 0 ? 'error' : 'warn',
    logger: ['upstream', 'http', 'inspection'][random(3)]!,
    reason: 'connect_refused',
    message: `The origin answered ${random(5000)} times too late.`,
    endpoint: `10.0.0.${random(256)}:8080`,
    status: 502,
  };
}
