/** Events on disk: packed and read back, those of earlier versions too, and bounded. */

import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { SecurityFactBatchSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { securityFactVersion } from '../../engine/base/protocol-versions.ts';
import { crc32c } from '../../engine/base/crc32c.ts';
import { controlLimits } from '../../engine/base/limits.ts';
import { prefixRange } from '../store/kv.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openEventStore, type IncomingBatch } from './event-store.ts';
import { packEvent, unpackEvent } from './stored-event.ts';

const operator = `@rx ${'attack|'.repeat(60)}`;

function batch(seq: number, count: number): IncomingBatch {
  const facts = Array.from({ length: count }, (_, at) => ({
    requestId: `r-${seq}-${at}`,
    receivedAtMs: BigInt(1_000_000 + seq),
    matches: Array.from({ length: 4 }, (__, rule) => ({ ruleId: rule, message: 'm', operator })),
  }));
  const payload = toBinary(SecurityFactBatchSchema, create(SecurityFactBatchSchema, { facts }));
  const identity = { agentId: 'a', tenantId: 't', bootId: '00', batchSeq: BigInt(seq) };
  return { ...identity, crc32c: crc32c(payload), payload };
}

test('events are kept small and read back whole; plain ones of earlier versions too', async () => {
  const kv = openMemoryKv();
  const events = openEventStore(kv);
  expect(await events.ingest(batch(1, 3), securityFactVersion)).toBe('stored');
  const [found] = events.byRequestId('r-1-2');
  expect(found?.messages?.map((message) => message.operator)).toEqual(Array(4).fill(operator));
  const [row] = [...kv.range(prefixRange('e\u0000'))];
  expect(row!.value.length).toBeLessThan(JSON.stringify(found).length / 3);

  const earlier = Buffer.from(JSON.stringify(found));
  expect(unpackEvent(earlier)).toEqual(found);
  expect(unpackEvent(packEvent(found!))).toEqual(found);
  expect(unpackEvent(packEvent({ id: 'x' }))).toEqual({ id: 'x' });
});

test('past the byte limit the oldest events are removed together with their index entries', async () => {
  const kv = openMemoryKv();
  const events = openEventStore(kv);
  await events.ingest(batch(1, 10), securityFactVersion);
  const key = 'm\u0000bytes';
  const known = Number(Buffer.from(kv.get(key)!).toString());
  const sizes = [...kv.range(prefixRange('e\u0000'))].map(({ value }) => value.length);
  expect(known).toBe(sizes.reduce((left, right) => left + right));
  // As if so much were kept that five of them have to go.
  const full = controlLimits.eventBytesMax - Math.floor(sizes[0]! / 2);
  await kv.write((writer) => writer.put(key, Buffer.from(String(full))));
  await events.ingest(batch(2, 5), securityFactVersion);
  expect(events.count()).toBe(10);
  expect([...kv.range(prefixRange('e\u0000'))]).toHaveLength(10);
  expect([...kv.range(prefixRange('r\u0000'))]).toHaveLength(10);
  expect(events.byRequestId('r-1-4')).toEqual([]);
  expect(events.byRequestId('r-1-5')).toHaveLength(1);
  expect(Number(Buffer.from(kv.get(key)!).toString())).toBeLessThanOrEqual(
    controlLimits.eventBytesMax,
  );
});
