/** One enrolled node among others: what it says is about itself alone. */

import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { RuntimeBundleSchema } from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import {
  enrollTestNode,
  helloOf,
  issueTestToken,
  nodeTransport,
  openTestStream,
  type TestNode,
  type TestStream,
} from '../../../test/support/test-node.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;
let token: string;
let count = 0;

beforeAll(async () => {
  waf = await startTestControl({ managementTls: 'own' });
  token = await issueTestToken(waf, 10);
});
afterAll(() => waf.control.close());

const freshNode = (): Promise<TestNode> => enrollTestNode(waf, token, `fresh-${++count}`);
const open = (node: TestNode): TestStream =>
  openTestStream(nodeTransport(waf.control.managementPort, node, node), helloOf(node));
const until = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });

async function nodeOf(id: string): Promise<Record<string, unknown>> {
  const { body } = await waf.call('AgentService/ListNodes', { query: id });
  return (body['items'] as Record<string, unknown>[])[0] ?? {};
}

test('what it refuses of a configuration holds nothing back from the others', async () => {
  const [node, bystander] = [await freshNode(), await freshNode()];
  const [stream, still] = [open(node), open(bystander)];
  const updates = ({ heard }: TestStream) =>
    heard.flatMap(({ message }) => (message.case === 'configUpdate' ? [message.value] : []));
  await until(() => expect([updates(stream), updates(still)].map((u) => u.length)).toEqual([1, 1]));
  const { revision: targetRevision, bundleSha256: artifactSha256 } = updates(stream)[0]!;
  const { body } = await waf.call('PolicyService/ListPolicies', {});
  const ids = (body['items'] as { id: string }[]).map(({ id }) => id);
  const lines = ids.map((id) => `policy ${id} "it": 1 error`);
  const error = ['policy_invalid: they do not compile', ...lines].join('\n');
  stream.say({ case: 'applyResult', value: { targetRevision, artifactSha256, error } });
  await until(async () =>
    expect(await nodeOf(node.id)).toMatchObject({ connectionStatus: 'DEGRADED' }),
  );
  const upstreams = [{ inline: { url: 'http://127.0.0.1:1' } }];
  const site = { name: 'more', primaryHost: 'more.test', upstreams };
  expect(await waf.call('SiteService/CreateSite', { site })).toMatchObject({ status: 200 });
  const latest = () => fromBinary(RuntimeBundleSchema, updates(still).at(-1)!.bundle);
  await until(() => expect(updates(still).length).toBeGreaterThan(1));
  expect(latest().heldPolicies).toEqual([]);
  expect(latest().parts.filter(({ kind }) => kind === 'policy').length).toBeGreaterThan(0);
  stream.end();
  still.end();
});

test('it was never seen before it connects, and is known after it left', async () => {
  const node = await freshNode();
  expect((await nodeOf(node.id))['lastSeenAt']).toBeUndefined();
  const stream = open(node);
  await until(() => expect(stream.heard.length).toBeGreaterThan(0));
  stream.end();
  await until(async () =>
    expect(await nodeOf(node.id)).toMatchObject({ connectionStatus: 'OFFLINE' }),
  );
  expect(Date.parse(String((await nodeOf(node.id))['lastSeenAt']))).toBeGreaterThan(0);
});
