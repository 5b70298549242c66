/** Proof that samples of violations are kept where a log policy wants them, in bounded number. */

import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { SecurityFactSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { fingerprintOf, textOfKind } from '../../base/check-fingerprint.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { ViolationSamples, type SentFact } from './violation-samples.ts';

const operationKey = 'POST a.test/ä b';
const kind = { operationKey, location: 'body', keyword: 'type', pointer: '/paths/~1ä/x at y' };
const fingerprint = fingerprintOf(textOfKind(kind));
const place = { tenantId: 't', siteId: 's', contractId: 'c', fingerprint };

function fact(requestId: string, atMs: number, change: object = {}, siteId = 's'): SentFact {
  const finding = { contractId: 'c', ...kind };
  const found = { guard: 'schema', action: 'deny', reason: 'schema_violation', finding };
  const guards = [{ ...found, ...change }];
  const fields = { requestId, siteId, receivedAtMs: BigInt(atMs), status: 403, guards };
  const bytes = toBinary(SecurityFactSchema, create(SecurityFactSchema, fields));
  return { agentId: 'local', tenantId: 't', bytes };
}

function open(keeps: (siteId: string) => boolean) {
  const faults: unknown[] = [];
  const choice = { any: () => true, keeps };
  const samples = new ViolationSamples(openMemoryKv(), choice, (fault) => faults.push(fault));
  return { samples, faults };
}

test('the newest of a kind are kept, newest first, in the span that is asked for', async () => {
  const { samples, faults } = open(() => true);
  const { violationSamplesMax } = observationLimits;
  for (let at = 0; at < violationSamplesMax + 5; at++) {
    samples.take([fact(`r${at}`, 1_000 + at), fact(`o${at}`, 1_000 + at, { guard: 'ip' })]);
  }
  await samples.settled();
  const all = samples.list(place, 0, Infinity);
  expect(all).toHaveLength(violationSamplesMax);
  const newest = violationSamplesMax + 4;
  expect(all[0]).toEqual({
    ...{ requestId: `r${newest}`, agentId: 'local', atMs: 1_000 + newest },
    ...{ action: 'deny', status: 403 },
  });
  const [one] = samples.list(place, 1_000 + newest - 1, 1_000 + newest);
  expect(one!.requestId).toBe(`r${newest - 1}`);
  expect(samples.list({ ...place, tenantId: 'other' }, 0, Infinity)).toEqual([]);
  await samples.forget(1_000 + newest);
  expect(samples.list(place, 0, Infinity)).toHaveLength(1);
  await samples.forget(2_000_000);
  expect(samples.list(place, 0, Infinity)).toEqual([]);
  expect(faults).toEqual([]);
});

test('nothing is kept of sites whose policy keeps none, nor of other findings', async () => {
  const { samples } = open((siteId) => siteId === 'yes');
  samples.take([
    fact('r1', 1, {}, 'no'),
    fact('r2', 1, { reason: 'schema_not_evaluated' }, 'yes'),
    fact('r3', 1, { finding: undefined }, 'yes'),
    { ...fact('r4', 1, {}, 'yes'), bytes: new Uint8Array([255]) },
    fact('r5', 1, { action: 'monitor' }, 'yes'),
  ]);
  await samples.settled();
  const ids = (site: string): string[] =>
    samples.list({ ...place, siteId: site }, 0, 2).map(({ requestId }) => requestId);
  expect([ids('no'), ids('yes')]).toEqual([[], ['r5']]);
});

test('kinds of a site are bounded, over several batches', async () => {
  const { samples } = open(() => true);
  const { sampledKindsMax } = observationLimits;
  const keys = Array.from({ length: sampledKindsMax + 3 }, (_, at) => `GET /${at}`);
  const facts = keys.map((key, at) =>
    fact(`r${at}`, 1, { finding: { ...kind, contractId: `c${at % 2}`, operationKey: key } }),
  );
  samples.take(facts.slice(0, 200));
  samples.take(facts.slice(200));
  await samples.settled();
  const kept = keys.filter((key, at) => {
    const name = fingerprintOf(textOfKind({ ...kind, operationKey: key }));
    const one = { ...place, contractId: `c${at % 2}`, fingerprint: name };
    return samples.list(one, 0, 2).length > 0;
  });
  expect(kept).toHaveLength(sampledKindsMax);
});

test('samples belong to the contract that the requests broke', async () => {
  const { samples } = open(() => true);
  const other = { contractId: 'd', ...kind };
  samples.take([fact('r1', 1), fact('r2', 1, { finding: other })]);
  await samples.settled();
  const ids = (contractId: string): string[] =>
    samples.list({ ...place, contractId }, 0, 2).map(({ requestId }) => requestId);
  expect([ids('c'), ids('d'), ids('e')]).toEqual([['r1'], ['r2'], []]);
});
