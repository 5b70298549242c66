/**
 * Proves that the fields of what control says to nodes over their streams follow facts: each had at
 * least two values in one run, or a reason stands in the list.
 */

import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { crc32c } from '../../../base/crc32c.ts';
import { metricPayloadVersion } from '../../../base/protocol-versions.ts';
import {
  AgentStreamService,
  ConnectResponseSchema,
  ObservationStreamKind,
} from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import {
  EvidenceUploadService,
  UploadResponseSchema,
} from '../../../proto/gen/waf/v1/evidence_upload_pb.ts';
import { ResponseFacts } from '../../../test/support/response-facts.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import {
  enrollTestNode,
  helloOf,
  issueTestToken,
  nodeTransport,
  openTestStream,
  type Said,
  type TestNode,
  type TestStream,
} from '../../../test/support/test-node.ts';

const ofDeployment = 'of the deployment, the same for all of its nodes';
const ofProgram = 'of this program';
const order = 'upgrade-runs.test.ts orders; they are sent once, as they are';
const challenge = 'challenges come with orders of certificates: test/e2e/acme.test.ts';
const gap = 'a gap that is well-formed is always noted';
const records = 'evidence-upload-service/upload-records.test.ts has each of these answers';
const nonce = 'holds the time; one is sent in 15 seconds';
/** Fields with one value, and why. */
const constants: Readonly<Record<string, string>> = {
  'AgentCapabilities.artifactFormat': ofProgram,
  'AgentCapabilities.bodyModes': ofProgram,
  'AgentCapabilities.controlFormat': ofProgram,
  'AgentCapabilities.metricPayloadVersion': ofProgram,
  'AgentCapabilities.resolverVersion': ofProgram,
  'AgentCapabilities.schemaIrs': ofProgram,
  'AgentCapabilities.version': ofProgram,
  'AgentCommand.agentId': order,
  'AgentCommand.completedAt': order,
  'AgentCommand.createdAt': order,
  'AgentCommand.id': order,
  'AgentCommand.kind': order,
  'AgentCommand.payload': order,
  'AgentCommand.status': order,
  'AgentWelcome.bundleSigningPublicKey': ofDeployment,
  'AgentWelcome.capabilities': ofProgram,
  'AgentWelcome.metricPayloadVersion': ofProgram,
  'AgentWelcome.serverId': ofDeployment,
  'AgentWelcome.takesInterimResults': ofProgram,
  'BatchAck.durability': 'the store has them; it reaches the disk by itself',
  'ChallengeDispatch.keyAuthorization': challenge,
  'ChallengeDispatch.token': challenge,
  'ConfigUpdate.bundleSigningPublicKey': ofDeployment,
  'ConnectResponse.challengeDispatch': challenge,
  'ConnectResponse.command': order,
  'ConnectResponse.ping': nonce,
  'EvidenceRecordsAck.error': records,
  'EvidenceRecordsAck.number': records,
  'EvidenceRecordsAck.refused': records,
  'EvidenceRecordsAck.status': records,
  'EvidenceUploadWelcome.recordsLayout': ofProgram,
  'GapNoticeAck.errorCode': gap,
  'GapNoticeAck.status': gap,
  'GoAway.reason': 'a stream that control ends has ended',
  'Ping.nonce': nonce,
  'UploadResponse.recordsAck': records,
};

const facts = new ResponseFacts();
let waf: TestControl;
beforeAll(async () => {
  waf = await startTestControl({ managementTls: 'own' });
});
afterAll(() => waf.control.close());

const until = (check: () => void): Promise<void> =>
  vi.waitFor(check, { timeout: 120_000, interval: 50 });
const transportOf = (node: TestNode) => nodeTransport(waf.control.managementPort, node, node);
const said = ({ heard }: TestStream, kind: string): number =>
  heard.filter(({ message }) => message.case === kind).length;

function batch(boot: number, streamKind: ObservationStreamKind, crc: number): Said {
  const bootId = new Uint8Array(16).fill(boot);
  const header = { bootId, streamKind, batchSeq: BigInt(boot), crc32c: crc };
  const version = { payloadSchemaVersion: metricPayloadVersion };
  const value = { header: { ...header, ...version }, payload: new Uint8Array() };
  return { case: 'observationBatch', value };
}

test('every field of what nodes are sent follows a fact', async () => {
  const token = await issueTestToken(waf, 10);
  const nodes = [await enrollTestNode(waf, token, 'a'), await enrollTestNode(waf, token, 'b')];
  const streams = nodes.map((node) => openTestStream(transportOf(node), helloOf(node)));
  for (const stream of streams) await until(() => expect(said(stream, 'servingGrant')).toBe(1));
  const [first, second] = streams as [TestStream, TestStream];
  first.say(batch(1, ObservationStreamKind.METRIC, crc32c(new Uint8Array())));
  first.say(batch(2, ObservationStreamKind.SECURITY_FACT, 1));
  first.say(batch(3, 99 as ObservationStreamKind, 1));
  for (const boot of [1, 2]) {
    const streamKind = boot as ObservationStreamKind;
    const range = { firstBatchSeq: BigInt(boot), lastBatchSeq: BigInt(boot + 1) };
    const bootId = new Uint8Array(16).fill(boot);
    first.say({ case: 'gapNotice', value: { bootId, streamKind, ...range } });
  }
  await until(() => expect([said(first, 'batchAck'), said(first, 'gapNoticeAck')]).toEqual([3, 2]));
  await uploadTo(nodes[0]!);

  const upstreams = [{ inline: { url: 'http://127.0.0.1:1', weight: 1 } }];
  const site = { name: 'shop', primaryHost: 'shop.example', upstreams };
  expect((await waf.call('SiteService/CreateSite', { site })).status).toBe(200);
  await until(() => expect(said(second, 'configUpdate')).toBeGreaterThan(1));

  // One goes because of another stream, one because the node is deleted.
  const again = openTestStream(transportOf(nodes[0]!), helloOf(nodes[0]!));
  await first.ended;
  await waf.call('AgentService/DeleteAgent', { id: nodes[1]!.id });
  await second.ended;
  again.end();
  await again.ended;
  for (const { heard } of [...streams, again]) {
    for (const one of heard) {
      // How many come depends on the time that the test takes.
      if (one.message.case !== 'ping') facts.noteMessage(ConnectResponseSchema, one);
    }
  }
  const methods = [...AgentStreamService.methods, ...EvidenceUploadService.methods];
  expect(facts.constant(methods)).toEqual(Object.keys(constants).sort());
}, 300_000);

/** Sends one body that is whole and one that is not. */
async function uploadTo(node: TestNode): Promise<void> {
  const { id: agentId, streamToken } = node;
  const data = new Uint8Array([1, 2, 3]);
  const client = createClient(EvidenceUploadService, transportOf(node));
  for (const [at, sum] of [crc32c(data), 1].entries()) {
    const evidenceId = `ev-${String(Date.now() + at).padStart(14, '0')}-aa`;
    async function* messages() {
      yield { message: { case: 'hello' as const, value: { agentId, streamToken } } };
      const manifest = { metadata: { evidenceId }, bodySize: 3n, bodyCrc32c: sum };
      yield { message: { case: 'manifest' as const, value: manifest } };
      const chunk = { evidenceId, data, crc32c: crc32c(data) };
      yield { message: { case: 'chunk' as const, value: chunk } };
      const commit = { evidenceId, totalBytes: 3n, bodyCrc32c: sum };
      yield { message: { case: 'commit' as const, value: commit } };
    }
    for await (const one of client.upload(messages())) {
      facts.noteMessage(UploadResponseSchema, one);
    }
  }
}
