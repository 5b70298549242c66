/** A site that leaves its policy: what it has there is named, never dropped without a word. */

import { afterAll, expect, test } from 'vitest';
import { startTestControl } from '../../../test/support/test-control.ts';

const waf = await startTestControl();
afterAll(() => waf.control.close());

/** The id of a new policy. */
async function makePolicy(name: string): Promise<string> {
  const { body } = await waf.call('PolicyService/CreatePolicy', { policy: { name } });
  return (body['policy'] as { id: string }).id;
}

/** The id of a new site with an exclusion at the policy that inspects it. */
async function makeSite(name: string, policyId: string, at: string): Promise<string> {
  const { body } = await waf.call('SiteService/CreateSite', {
    site: {
      name,
      primaryHost: `${name}.example`,
      upstreams: [{ inline: { url: 'http://127.0.0.1:9000', weight: 1 } }],
      waf: { enabled: true, policyId, mode: 'WAF_MODE_BLOCKING' },
    },
  });
  const { id } = body['site'] as { id: string };
  const actionEnum = 'RULE_OVERRIDE_ACTION_DISABLE';
  const override = { policyId: at, siteId: id, crsRuleId: '942999', actionEnum };
  const kept = await waf.call('RuleOverrideService/UpsertRuleOverride', { override });
  expect(kept.status, kept.text).toBe(200);
  return id;
}

async function update(id: string, change: object, updateMask: string): Promise<unknown> {
  const { body } = await waf.call('SiteService/GetSite', { id });
  const { revision } = body['site'] as { revision: string };
  const site = { id, ...change };
  const answer = await waf.call('SiteService/UpdateSite', { site, revision, updateMask });
  expect(answer.status, answer.text).toBe(200);
  return answer.body['warnings'];
}

test('exclusions that a site leaves at its old policy are named in the answer', async () => {
  const [first, second] = [await makePolicy('first'), await makePolicy('second')];
  const id = await makeSite('one', first, first);
  expect(await update(id, { name: 'two' }, 'name')).toBeUndefined();
  const moved = await update(id, { waf: { policyId: second } }, 'waf.policyId');
  expect(moved).toEqual([expect.stringMatching(/^1 exclusions.*942999.*policy first/)]);
  expect(await update(id, { waf: { policyId: first } }, 'waf.policyId')).toBeUndefined();
});

test('exclusions that a site leaves at the default policy are named, too', async () => {
  const other = await makePolicy('other');
  const id = await makeSite('plain', '', 'policy-light');
  const named = await update(id, { waf: { policyId: 'policy-light' } }, 'waf.policyId');
  expect(named).toBeUndefined();
  expect(await update(id, { waf: { policyId: '' } }, 'waf.policyId')).toBeUndefined();
  const moved = await update(id, { waf: { policyId: other } }, 'waf.policyId');
  expect(moved).toEqual([expect.stringMatching(/^1 exclusions.*942999.*policy Light/)]);
});

test('a manifest that moves a site names what the site leaves', async () => {
  await makePolicy('third');
  await makeSite('stated', '', 'policy-light');
  const manifest = `apiVersion: waf.io/v1
kind: Site
metadata: {name: stated}
spec:
  primaryHost: stated.example
  policyRef: third
  upstreams: [{url: http://127.0.0.1:9000, weight: 1}]
`;
  const manifestYaml = Buffer.from(manifest).toString('base64');
  const { body, text } = await waf.call('SystemService/Apply', { manifestYaml, dryRun: true });
  expect(text).toContain('942999');
  expect((body['plan'] as { warnings: string[] }).warnings).toEqual([
    expect.stringMatching(/^1 exclusions.*942999.*policy Light/),
  ]);
});
