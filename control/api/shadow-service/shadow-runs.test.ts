/**
 * Proof of shadow runs through the API: what travels to nodes, what they count of a run, and what
 * is refused.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { toRuntimeConfig } from '../../../engine/bundle/runtime-config.ts';
import type { VerifiedBundle } from '../../../engine/bundle/signed-bundle.ts';
import type { ShadowDelta } from '../../../engine/contract/shadow.ts';
import type { ControllerLink } from '../../../engine/link/controller-link.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { connectTestLink } from '../../../test/support/test-link.ts';
import { packArchive } from '../../publish/rulesets/ruleset-pack.ts';

type Json = Record<string, unknown>;

let waf: TestControl;
let link: ControllerLink;
let siteId = '';
let policyId = '';
let rulesetId = '';
const applied: VerifiedBundle[] = [];

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  link = connectTestLink(waf.socket, applied, async (obtain, keep) => {
    applied.push(await obtain());
    await keep();
  });
  const rule = `SecRule ARGS "@rx x" "id:920100,phase:2,pass,ver:'OWASP_CRS/4.28.0'"\n`;
  const archive = packArchive([{ path: 'x/rules/R.conf', content: Buffer.from(rule) }]);
  const sent = { archive: archive.toString('base64') };
  rulesetId = String((await made('SystemService/ImportCrsRuleset', sent, 'ruleset'))['id']);
  const policy = { name: 'shop' };
  policyId = String((await made('PolicyService/CreatePolicy', { policy }, 'policy'))['id']);
  const upstreams = [{ inline: { url: 'http://127.0.0.1:1' } }];
  const waf_ = { enabled: true, policyId };
  const site = { name: 'shop', primaryHost: 'shop.test', upstreams, waf: waf_ };
  siteId = String((await made('SiteService/CreateSite', { site }, 'site'))['id']);
});
afterAll(async () => {
  await link.close();
  await waf.control.close();
});

async function made(rpc: string, body: object, field: string): Promise<Json> {
  const answer = await waf.call(rpc, body);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body[field] as Json;
}

const ask = (method: string, body: object) =>
  waf.call(`waf.shadow.v1.ShadowService/${method}`, body);
const start = (more: object = {}) =>
  ask('StartShadowRun', { policyId, crsRulesetId: rulesetId, durationSeconds: 600, ...more });
const shown = async (): Promise<Json> =>
  (await ask('GetShadowRun', { policyId })).body['run'] as Json;
const served = () => {
  const config = toRuntimeConfig(applied.at(-1)!);
  return {
    shadow: config.sites.find(({ id }) => id === siteId)?.waf.shadow,
    policies: config.policies.map(({ id }) => id).sort(),
  };
};

test.each([
  ['an unknown policy', { policyId: 'none' }, /none/],
  ['a template', { policyId: 'template-standard' }, /templates are fixed/],
  ['an unknown ruleset', { crsRulesetId: 'none' }, /^crsRulesetId: does not exist/],
  ['its own ruleset', { crsRulesetId: 'crs-default' }, /^crsRulesetId: is the ruleset that/],
  ['less than a minute', { durationSeconds: 59 }, /durationSeconds/],
  ['a share of more than all', { sharePercent: 101 }, /sharePercent/],
  ['a negative share', { sharePercent: -1 }, /sharePercent/],
  ['more than 30 days', { durationSeconds: 2_592_001 }, /durationSeconds/],
])('%s is refused', async (_name, more, says) => {
  const { status, body } = await start(more);
  expect([status === 200, String(body['message'])]).toEqual([false, expect.stringMatching(says)]);
  expect((await ask('GetShadowRun', { policyId })).body['code']).toBe('not_found');
});

test('a run is started, shown and stopped', async () => {
  const { body } = await start();
  const { id: runId } = body['run'] as { id: string };
  expect(await shown()).toMatchObject({ id: runId, policyId, running: true });
  const sent = await eventually(() => (served().shadow === undefined ? null : served()));
  expect(sent.shadow).toMatchObject({
    ...{ runId, policyId: `${policyId}~shadow`, sharePercent: 100 },
  });
  expect(sent.policies).toEqual([policyId, `${policyId}~shadow`]);
  const deleted = await waf.call('SystemService/DeleteCrsRuleset', { id: rulesetId });
  expect(String(deleted.body['message'])).toMatch(/^id: shadow runs of policies use it/);
  const stopped = (await ask('StopShadowRun', { policyId })).body['run'] as Json;
  expect(stopped['running']).toBeUndefined();
  expect((await ask('StopShadowRun', { policyId })).body['run']).toEqual(stopped);
  await eventually(() => served().shadow === undefined);
  expect(served().policies).toEqual([policyId]);
});

const example = (outcome: 'only_new' | 'only_current', requestId: string) => ({
  ...{ outcome, requestId, method: 'GET', path: '/a', ruleIds: [920100] },
});
const delta = (runId: string, more: Partial<ShadowDelta>): ShadowDelta => ({
  ...{ siteId, runId, counts: new Map(), examples: [] },
  ...more,
});

test('what nodes count of a run is added up; of others nothing is taken', async () => {
  const before = ((await start()).body['run'] as { id: string }).id;
  const runId = ((await start()).body['run'] as { id: string }).id;
  link.compare([
    delta(runId, { counts: new Map([['both_passed', 3]]), examples: [example('only_new', 'r1')] }),
    delta(before, { counts: new Map([['both_blocked', 7]]) }),
    delta(runId, {
      counts: new Map([
        ['only_new', 2],
        ['both_passed', 1],
      ]),
    }),
    delta(runId, { examples: [example('only_current', 'r2')] }),
  ]);
  const run = await eventually(async () => {
    const found = await shown();
    return found['onlyNew'] === '2' ? found : null;
  });
  expect(run).toMatchObject({ bothPassed: '4', onlyNew: '2' });
  expect(run['bothBlocked']).toBeUndefined();
  expect(run['examples']).toEqual([
    { onlyNew: true, requestId: 'r1', method: 'GET', path: '/a', ruleIds: [920100] },
    { requestId: 'r2', method: 'GET', path: '/a', ruleIds: [920100] },
  ]);
});

test('a share travels to nodes, and what was not drawn is counted apart', async () => {
  const runId = ((await start({ sharePercent: 5 })).body['run'] as { id: string }).id;
  await eventually(() => served().shadow?.runId === runId);
  expect(served().shadow).toMatchObject({ sharePercent: 5 });
  link.compare([
    delta(runId, {
      counts: new Map([
        ['not_selected', 19],
        ['both_passed', 1],
      ]),
    }),
  ]);
  const run = await eventually(async () => {
    const found = await shown();
    return found['notSelected'] === '19' ? found : null;
  });
  expect(run).toMatchObject({ sharePercent: 5, bothPassed: '1' });
});

test('examples are bounded by kind', async () => {
  const runId = ((await start()).body['run'] as { id: string }).id;
  const examples = Array.from({ length: 25 }, (_, at) => example('only_new', `n${at}`));
  link.compare([
    delta(runId, { counts: new Map([['only_new', 25]]), examples }),
    delta(runId, { examples: [example('only_current', 'c')] }),
  ]);
  const run = await eventually(async () => {
    const found = await shown();
    return found['onlyNew'] === '25' ? found : null;
  });
  expect(run['examples']).toHaveLength(21);
});

test('audit rows name the policy whose run begins and ends', async () => {
  const asked = { resourceType: 'shadow_run' };
  const rowsNow = async () =>
    (await waf.call('AuditService/QueryAudit', asked)).body['items'] as Json[];
  const earlier = (await rowsNow()).length;
  await start();
  await ask('StopShadowRun', { policyId });
  const all = await rowsNow();
  const run = { resourceId: policyId, resourceName: 'shop' };
  expect(all.slice(0, all.length - earlier)).toMatchObject([
    { ...run, action: 'stop', diff: { before: { stopped: false }, after: { stopped: true } } },
    { ...run, action: 'start', diff: { after: { stopped: false, crsRulesetId: rulesetId } } },
  ]);
});

test('a run ends with its time, with another ruleset of the policy, and with the policy', async () => {
  await start();
  const { revision } = await made('PolicyService/GetPolicy', { id: policyId }, 'policy');
  const move = { policyId, revision, crsRulesetId: rulesetId };
  await made('PolicyService/SetActiveCrsRuleset', move, 'policy');
  expect((await shown())['running']).toBeUndefined();
  await eventually(() => served().shadow === undefined);
});
