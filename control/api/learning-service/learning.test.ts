/**
 * Proof of learning which signs are content through the API: what nodes count is proposed, what
 * people decide travels to nodes and is audited, a reset forgets all of it.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { toRuntimeConfig } from '../../../engine/bundle/runtime-config.ts';
import type { VerifiedBundle } from '../../../engine/bundle/signed-bundle.ts';
import type { ClientsDelta, SignFamily } from '../../../engine/contract/detection-content.ts';
import type { ControllerLink } from '../../../engine/link/controller-link.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { limitedEffect } from '../../domain/policy/detection-learning.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { connectTestLink } from '../../../test/support/test-link.ts';

let waf: TestControl;
let link: ControllerLink;
let siteId = '';
const applied: VerifiedBundle[] = [];

interface Proposal {
  readonly id: string;
  readonly name: string;
  readonly family: string;
  readonly state: string;
  readonly clients: number;
  readonly decidedBy?: string;
  readonly summary: string;
  readonly sampleRequestIds: readonly string[];
}

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  link = connectTestLink(waf.socket, applied, async (obtain, keep) => {
    applied.push(await obtain());
    await keep();
  });
  const upstreams = [{ inline: { url: 'http://127.0.0.1:1' } }];
  const site = { name: 'blog', primaryHost: 'blog.test', upstreams };
  const made = await waf.call('SiteService/CreateSite', { site });
  siteId = (made.body['site'] as { id: string }).id;
});
afterAll(async () => {
  await link.close();
  await waf.control.close();
});

/** Thirty clients in each of four hours. */
function deltas(family: SignFamily, generation = 0): ClientsDelta[] {
  const last = Math.floor(Date.now() / 3_600_000);
  const place = { method: 'POST', path: '/posts', name: 'ARGS:content' };
  return [3, 2, 1, 0].map((back) => ({
    ...{ siteId, generation, place, family, hour: last - back, requests: 40 },
    bits: Array.from({ length: 30 }, (_, at) => at * 7),
    sample: `request-${back}`,
  }));
}

async function ask(method: string, body: object = {}) {
  const rpc = `waf.learning.v1.LearningService/${method}`;
  const answer = await waf.call(rpc, { siteId, ...body });
  return answer;
}

async function proposals(): Promise<Proposal[]> {
  const { body, text } = await ask('ListProposals');
  if (body['mode'] === undefined) throw new Error(text);
  return (body['items'] ?? []) as Proposal[];
}

const servedContent = () =>
  toRuntimeConfig(applied.at(-1)!).sites.find(({ id }) => id === siteId)?.detectionContent;

test('what many clients show is proposed, with evidence', async () => {
  link.learnClients([...deltas('html'), ...deltas('sql')]);
  const found = await eventually(async () => {
    const list = await proposals();
    return list.length === 2 && list.every(({ clients }) => clients === 30) ? list : null;
  });
  expect(found.map(({ state }) => state)).toEqual(['waiting', 'waiting']);
  const html = found.find(({ family }) => family === 'html')!;
  expect(html.summary).toContain('Parameter "content" of POST /posts regularly holds HTML');
  expect(html.sampleRequestIds).toContain('request-0');
});

test.each([
  [undefined, 'no_policy', /^No policy inspects the site/],
  ['DECISION_CRS', 'anomaly_score', /anomaly score alone: the site learns nothing/],
  [
    'DECISION_BOTH',
    'also_anomaly_score',
    /also refuses by the anomaly score, which what is accepted does not change/,
  ],
  ['DECISION_SCORE_CONFIRMS', '', /^$/],
  ['DECISION_SCORE', '', /^$/],
] as const)('%s says what an accepted content changes', (decision, word, says) => {
  const policy = decision === undefined ? undefined : { name: 'p', crsCore: { decision } };
  const { limitedBy, effect } = limitedEffect(policy);
  expect(limitedBy).toBe(word);
  expect(effect).toMatch(says);
});

test('a list of proposals says where they change nothing', async () => {
  const effectNow = async (): Promise<unknown> => (await ask('ListProposals')).body['effect'] ?? '';
  const inspectedBy = async (policyId: string, enabled: boolean): Promise<void> => {
    const site = { id: siteId, waf: { enabled, policyId } };
    const { body: read } = await waf.call('SiteService/GetSite', { id: siteId });
    const { revision } = read['site'] as { revision: string };
    const change = { site, revision, updateMask: 'waf' };
    const { status, text } = await waf.call('SiteService/UpdateSite', change);
    if (status !== 200) throw new Error(text);
  };
  const { body } = await waf.call('PolicyService/CreatePolicyFromTemplate', {
    templateId: 'template-standard',
    name: 'standard here',
  });
  const standard = (body['policy'] as { id: string }).id;
  await inspectedBy('', false);
  expect(await effectNow()).toMatch(/^No policy inspects/);
  await inspectedBy(standard, true);
  expect(await effectNow()).toMatch(/^Policy "standard here" decides by the anomaly score alone/);
  await inspectedBy('', true);
  expect(await effectNow()).toBe('');
});

test('what is accepted reaches nodes; one family of a value is the most', async () => {
  const list = await proposals();
  const id = (family: string): string => list.find((one) => one.family === family)!.id;
  const accepted = await ask('AcceptProposal', { id: id('html'), days: 7 });
  expect(accepted.body['proposal']).toMatchObject({
    state: 'accepted',
    decidedBy: 'local administrator',
  });
  await eventually(() => servedContent()?.rules.length === 1);
  const [rule] = servedContent()!.rules;
  expect(rule).toMatchObject({ method: 'POST', path: '/posts', name: 'ARGS:content' });
  expect(rule!.endsAtMs - Date.now()).toBeLessThanOrEqual(7 * 86_400_000);
  const second = await ask('AcceptProposal', { id: id('sql') });
  expect(second.body['code']).toBe('failed_precondition');
  expect(second.text).toContain('already holds html');
});

test('what is dismissed ends', async () => {
  const [html] = (await proposals()).filter(({ family }) => family === 'html');
  await ask('DismissProposal', { id: html!.id });
  await eventually(() => servedContent()?.rules.length === 0);
  const after = (await proposals()).find(({ id }) => id === html!.id);
  expect(after?.state).toBe('dismissed');
  expect((await ask('DismissProposal', { id: 'none' })).body['code']).toBe('not_found');
});

test('everything that is kept can be exported, and forgotten', async () => {
  const exported = await ask('ExportLearning');
  const json = Buffer.from(exported.body['learningJson'] as string, 'base64').toString();
  const learned = JSON.parse(json) as { values: unknown[]; decisions: unknown[] };
  expect([learned.values.length, learned.decisions.length]).toEqual([2, 1]);
  const reset = await ask('ResetLearning');
  expect(reset.body['forgottenCount']).toBe(1);
  expect(await proposals()).toEqual([]);
  // Counts of the earlier generation come too late, those of the present one do not.
  link.learnClients([...deltas('shell', 0), ...deltas('html', 1)]);
  const found = await eventually(async () => {
    const list = await proposals();
    return list.length > 0 ? list : null;
  });
  expect(found.map(({ family }) => family)).toEqual(['html']);
});

test('every decision is audited', async () => {
  const { body } = await waf.call('AuditService/QueryAudit', {});
  const entries = (body['items'] ?? []) as {
    readonly action: string;
    readonly resourceType: string;
  }[];
  const actions = entries
    .filter(({ resourceType }) => resourceType === 'detection_learning')
    .map(({ action }) => action);
  expect(actions.toSorted()).toEqual(['accept', 'dismiss', 'reset']);
});
