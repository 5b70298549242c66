/** Proof that a sample is kept under the contract and the kind of what a request broke. */

import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { ViolationSamples } from '../../control/observe/violation-samples.ts';
import { openMemoryKv } from '../../control/store/memory-kv.ts';
import { compileDocument } from '../../control/documents/compile-document.ts';
import { readModel } from '../../control/documents/document-model.ts';
import { fingerprintOf, textOfKind } from '../../base/check-fingerprint.ts';
import { linearPattern } from '../../engine/match/linear-pattern.ts';
import { CheckCounts } from '../../engine/schema/check-counts.ts';
import { checksOf } from '../../engine/schema/fixture.ts';
import { SiteChecks } from '../../engine/schema/site-checks.ts';
import { simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { SecurityFactSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { simulatedHead } from '../support/simulated-head.ts';

const name = 'größe';
const info = { title: 'samples', version: '1' };
const parameters = [{ name, in: 'query', schema: { type: 'integer' } }];
const get = { parameters, responses: {} };
const document = { openapi: '3.0.3', info, paths: { '/straße': { get } } };

test('a sample has the contract and the kind of what a request broke', async () => {
  const { operations, code } = compileDocument(readModel(document, '3.0'));
  const counts = new CheckCounts();
  const specs = operations.map((one) => ({
    ...{ ...one, key: `GET a/${one.template}`, assetId: 'asset', host: 'api.test' },
    mode: 'observe' as const,
  }));
  const schema = new SiteChecks({ ...checksOf(specs), code }, linearPattern, counts);
  const target = `/${encodeURIComponent('straße')}?${encodeURIComponent(name)}=word`;
  const bytes = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: api.test\r\n\r\n`, 'latin1');
  const { head, snapshot } = simulatedHead(bytes, 'site-1');
  const waf = { enabled: false, mode: 'blocking', failPolicy: 'closed' } as const;
  const { notes } = simulateRequest(
    { site: { id: 'site-1', waf }, inspector: null, guards: null, schema },
    { snapshot, head, host: 'api.test', body: null },
  );
  const guards = notes.map(({ finding, guard, reason, action }) => ({
    ...{ guard, reason, action },
    ...(finding && { finding }),
  }));
  const fields = { requestId: 'r1', siteId: 'site-1', receivedAtMs: 1n, guards };
  const fact = toBinary(SecurityFactSchema, create(SecurityFactSchema, fields));
  const choice = { any: () => true, keeps: () => true };
  const samples = new ViolationSamples(openMemoryKv(), choice, (fault) => expect(fault).toBeNull());
  samples.take([{ agentId: 'local', tenantId: 't', bytes: fact }]);
  await samples.settled();
  const found = notes[0]!.finding!;
  const { contractId } = checksOf([]);
  expect(found.contractId).toBe(contractId);
  const fingerprint = fingerprintOf(textOfKind(found));
  const place = { tenantId: 't', siteId: 'site-1', contractId, fingerprint };
  expect(samples.list(place, 0, 2).map(({ requestId }) => requestId)).toEqual(['r1']);
  expect(found.pointer).toContain('straße');
});
