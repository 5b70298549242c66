/**
 * Proof of operation controls: an intent is what was approved, receipts are what a node applied,
 * and no stale or repeated approval makes another intent.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VerifiedBundle } from '../../../engine/bundle/signed-bundle.ts';
import type { ControllerLink } from '../../../engine/link/controller-link.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { connectTakingLink } from '../../../test/support/test-link.ts';

let waf: TestControl;
let link: ControllerLink;
let siteId = '';
const applied: VerifiedBundle[] = [];
let key = 0;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  link = await connectTakingLink(waf.socket, applied);
  const upstreams = [{ inline: { url: 'http://127.0.0.1:1' } }];
  const site = { name: 'shop', primaryHost: 'shop.test', upstreams };
  const made = await waf.call('SiteService/CreateSite', { site });
  siteId = (made.body['site'] as { id: string }).id;
  await eventually(async () => {
    const { body } = await waf.call('AgentService/GetNodeServingState', { nodeId: 'local' });
    return body['acknowledged'] === true;
  });
});
afterAll(async () => {
  await link.close();
  await waf.control.close();
});

interface Intent {
  readonly id: string;
  readonly controlRevision: string;
  readonly snapshotSha256: string;
  readonly supersededByIntentId?: string;
}
interface State {
  readonly review: Record<string, unknown>;
  readonly intent?: Intent;
  readonly deploymentState: string;
  readonly latestIntentAttempt?: { readonly configRevisionId: string; readonly status: string };
  readonly controllerActiveManifest?: readonly { readonly intentId: string }[];
  readonly targetsCurrent?: boolean;
  readonly reviewCurrent?: boolean;
}

const rpc = (name: string, body: object) => waf.call(`OperationControlService/${name}`, body);
const stateOf = async (fields: object = {}): Promise<State> =>
  (await rpc('GetOperationControlState', { siteId, ...fields })).body as unknown as State;
const snapshot = (change: object = {}): string => {
  const plain = { format: 'waf.site_controls.v2', siteId, schema: null, bodies: [] };
  return Buffer.from(JSON.stringify({ ...plain, ...change })).toString('base64');
};

async function replace(change: object = {}) {
  const { review } = await stateOf();
  const idempotencyKey = `key-${++key}`;
  const fields = { siteId, review, idempotencyKey, reason: 'test', snapshotJson: snapshot() };
  return rpc('ReplaceOperationControls', { ...fields, ...change });
}

test('a site without controls has a review, and no intent', async () => {
  const state = await stateOf();
  expect(state.intent).toBeUndefined();
  expect(state).toMatchObject({ deploymentState: 'pending', review: { targetLocal: true } });
  const { body } = await rpc('ListOperationControlHistory', { siteId });
  expect(body['items'] ?? []).toEqual([]);
});

test('a replacement becomes an intent, and converges once the node applied it', async () => {
  const answer = await replace();
  expect(answer, answer.text).toMatchObject({ status: 200, body: { state: 'pending' } });
  const { id } = answer.body['intent'] as Intent;
  await eventually(async () => (await stateOf()).deploymentState === 'converged');
  const state = await stateOf();
  expect(state).toMatchObject({
    intent: { id, controlRevision: '1' },
    latestIntentAttempt: { status: 'applied' },
    requiredTargets: 1,
    appliedTargets: 1,
    targetsCurrent: true,
    reviewCurrent: true,
  });
  expect(state.controllerActiveManifest?.map(({ intentId }) => intentId)).toEqual([id]);
});

test('an exact retry gets the first answer; a changed request is refused', async () => {
  const { review } = await stateOf();
  const request = {
    ...{ siteId, review, idempotencyKey: 'once', reason: 'test', snapshotJson: snapshot() },
  };
  const first = await rpc('ReplaceOperationControls', request);
  expect(first, first.text).toMatchObject({ status: 200 });
  const again = await rpc('ReplaceOperationControls', request);
  expect(again.body).toEqual(first.body);
  const changed = await rpc('ReplaceOperationControls', { ...request, reason: 'other' });
  expect(changed).toMatchObject({ status: 400, body: { code: 'invalid_argument' } });
});

test('a review that something moved under is aborted', async () => {
  const { review } = await stateOf();
  expect((await replace()).status).toBe(200);
  const stale = await replace({ review });
  expect(stale).toMatchObject({ status: 409, body: { code: 'aborted' } });
});

test('two operators at once: one is aborted', async () => {
  const { review } = await stateOf();
  const both = await Promise.all([replace({ review }), replace({ review })]);
  expect(both.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
    200, 409,
  ]);
});

const refusals: readonly (readonly [says: string, change: () => object, code: string])[] = [
  [
    'a populated schema slot',
    () => ({ snapshotJson: snapshot({ schema: {} }) }),
    'failed_precondition',
  ],
  [
    'a populated body slot',
    () => ({ snapshotJson: snapshot({ bodies: [{}] }) }),
    'failed_precondition',
  ],
  ['another site', () => ({ snapshotJson: snapshot({ siteId: 'x' }) }), 'invalid_argument'],
  ['an unknown format', () => ({ snapshotJson: snapshot({ format: 'v1' }) }), 'invalid_argument'],
  ['an unknown field', () => ({ snapshotJson: snapshot({ more: 1 }) }), 'invalid_argument'],
  [
    'an incomplete snapshot',
    () => ({ snapshotJson: snapshot({ bodies: null }) }),
    'invalid_argument',
  ],
  ['what is no JSON', () => ({ snapshotJson: 'bm9wZQ==' }), 'invalid_argument'],
  ['no review', () => ({ review: undefined }), 'invalid_argument'],
  ['no reason', () => ({ reason: '' }), 'invalid_argument'],
  ['no key', () => ({ idempotencyKey: '' }), 'invalid_argument'],
];

test.each(refusals)('refused: %s', async (_, change, code) => {
  const before = await stateOf();
  expect((await replace(change())).body).toMatchObject({ code });
  expect((await stateOf()).intent?.id).toBe(before.intent?.id);
});

test('history names the newest first, with what became of each', async () => {
  await eventually(async () => (await stateOf()).deploymentState === 'converged');
  const { body } = await rpc('ListOperationControlHistory', { siteId });
  const items = body['items'] as readonly Record<string, string>[];
  const revisions = items.map(({ controlRevision }) => Number(controlRevision));
  expect(revisions).toEqual(revisions.toSorted((one, other) => other - one));
  expect(items[0]).toMatchObject({ domain: 'controls', latestStatus: 'applied', reason: 'test' });
  expect(items[1]!['supersededByIntentId']).toBe(items[0]!['intentId']);
  const older = await rpc('ListOperationControlHistory', { siteId, beforeRevision: '2' });
  expect((older.body['items'] as unknown[]).length).toBe(1);
});

test('an applied intent is restored by a new one; others are not', async () => {
  const { body } = await rpc('ListOperationControlHistory', { siteId });
  const items = body['items'] as readonly Record<string, string>[];
  const first = items.at(-1)!;
  const { review, intent } = await stateOf();
  const request = {
    ...{ siteId, review, reason: 'back', sourceIntentId: first['intentId'] },
    sourceConfigRevisionId: first['activatedConfigRevisionId'],
  };
  const wanted = { ...request, sourceIntentId: intent!.id, idempotencyKey: 'back-1' };
  const itself = await rpc('RollbackOperationControls', wanted);
  expect(itself.body).toMatchObject({ code: 'failed_precondition' });
  const foreign = { ...request, sourceConfigRevisionId: '999999', idempotencyKey: 'back-2' };
  const other = await rpc('RollbackOperationControls', foreign);
  expect(other.body).toMatchObject({ code: 'not_found' });
  const answer = await rpc('RollbackOperationControls', { ...request, idempotencyKey: 'back-3' });
  expect(answer, answer.text).toMatchObject({
    status: 200,
    body: { intent: { rollbackSourceIntentId: first['intentId'] } },
  });
  expect((await stateOf({ intentId: first['intentId'] })).deploymentState).toBe('superseded');
});

test('receipts of another intent cannot be borrowed', async () => {
  const state = await stateOf();
  const { body } = await rpc('ListOperationControlHistory', { siteId });
  const [, earlier] = body['items'] as readonly Record<string, string>[];
  await eventually(async () => (await stateOf()).deploymentState === 'converged');
  const { latestIntentAttempt } = await stateOf({ intentId: state.intent!.id });
  const borrowed = await rpc('GetOperationControlState', {
    ...{ siteId, intentId: earlier!['intentId'] },
    configRevisionId: latestIntentAttempt!.configRevisionId,
  });
  expect(borrowed.body).toMatchObject({ code: 'not_found' });
  const alone = await rpc('GetOperationControlState', { siteId, configRevisionId: '1' });
  expect(alone.body).toMatchObject({ code: 'invalid_argument' });
});
