/** The proof of services that have no test of their own: pools, versions, rulesets, nodes. */

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';

let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl();
});
afterAll(() => waf.control.close());

const inside = (body: Record<string, unknown>, field: string): Record<string, string> =>
  body[field] as Record<string, string>;

test('a pool serves a site, is changed by mask, and stays while it is used', async () => {
  const endpoints = [{ url: 'http://10.0.0.1:80', weight: 2 }, { url: 'http://10.0.0.2' }];
  const made = await waf.call('UpstreamService/CreateUpstream', {
    upstream: { name: 'pool', endpoints },
  });
  const pool = inside(made.body, 'upstream');
  const changed = await waf.call('UpstreamService/UpdateUpstream', {
    upstream: { id: pool['id'], healthCheck: { path: '/up' } },
    updateMask: 'healthCheck.path',
  });
  expect(changed.body['upstream']).toMatchObject({ name: 'pool', healthCheck: { path: '/up' } });
  const site = { name: 's', primaryHost: 's.test', upstreams: [{ upstreamId: pool['id'] }] };
  expect((await waf.call('SiteService/CreateSite', { site })).status).toBe(200);
  const used = await waf.call('UpstreamService/DeleteUpstream', { id: pool['id'] });
  expect(used.body['code']).toBe('failed_precondition');
  const mixed = await waf.call('UpstreamService/CreateUpstream', {
    upstream: { name: 'mixed', endpoints: [{ url: 'http://a' }, { url: 'https://b' }] },
  });
  expect(String(mixed.body['message'])).toMatch(/^upstream\.endpoints\[1\]\.url: /);
});

test('a policy goes back to a saved version', async () => {
  const made = await waf.call('PolicyService/CreatePolicy', { policy: { name: 'p' } });
  const policyId = inside(made.body, 'policy')['id'];
  const config = { maxNumArgs: 7 };
  const layer = { policyId, revision: '1', layer: 'POLICY_LAYER_KIND_ARG_LIMITS', config };
  expect((await waf.call('PolicyService/UpdatePolicyLayer', layer)).status).toBe(200);
  const list = await waf.call('PolicyService/ListPolicyVersions', { policyId });
  const [newest, oldest] = list.body['items'] as Record<string, string>[];
  expect([newest?.['revision'], oldest?.['revision']]).toEqual(['2', '1']);
  const diff = await waf.call('PolicyService/DiffPolicyVersions', {
    leftVersionId: oldest?.['id'],
    rightVersionId: newest?.['id'],
  });
  const { changedPaths } = diff.body['diff'] as { changedPaths: string[] };
  expect(changedPaths).toContain('argLimits');
  const back = { policyId, versionId: oldest?.['id'] };
  const restored = inside((await waf.call('PolicyService/RollbackPolicy', back)).body, 'policy');
  expect(restored['revision']).toBe('3');
  expect(restored['argLimits']).toBeUndefined();
  const removed = await waf.call('PolicyService/DeletePolicy', { id: policyId });
  expect(removed.body['result']).toMatchObject({ id: policyId, changed: true });
});

test('an uploaded ruleset is described, used by a policy, and stays while it is used', async () => {
  const rule = [
    'SecRule ARGS|!ARGS:safe "@rx evil" \\',
    "    \"id:942100,phase:2,block,t:none,t:lowercase,msg:'An attack',severity:CRITICAL,\\",
    "    tag:'attack-sqli',tag:'paranoia-level/2',ver:'OWASP_CRS/4.7.0',\\",
    "    setvar:'tx.inbound_anomaly_score_pl2=+%{tx.critical_anomaly_score}'\"",
    '',
  ].join('\n');
  const archive = tarGz('coreruleset-4.7.0/rules/REQUEST-942-SQLI.conf', rule);
  const sent = { archive: archive.toString('base64') };
  const imported = await waf.call('SystemService/ImportCrsRuleset', sent);
  const ruleset = inside(imported.body, 'ruleset');
  expect(ruleset).toMatchObject({ version: '4.7.0', source: 'uploaded', ruleCount: 1 });
  const again = await waf.call('SystemService/ImportCrsRuleset', sent);
  expect(inside(again.body, 'ruleset')['id']).toBe(ruleset['id']);
  const rulesetId = ruleset['id'];
  const one = await waf.call('CrsService/GetCrsRule', { rulesetId, ruleId: '942100' });
  expect(one.body['rule']).toMatchObject({
    category: '942',
    paranoiaLevel: 2,
    severity: 'CRITICAL',
    defaultAction: 'block',
    defaultScore: 5,
    phase: 2,
    targets: ['ARGS', '!ARGS:safe'],
    operator: '@rx evil',
    transformChain: ['lowercase'],
    raw: rule.trimEnd(),
  });
  const impact = await waf.call('PolicyService/PreviewCrsImpact', {
    policyId: 'policy-light',
    crsRulesetId: rulesetId,
  });
  expect(impact.body).toMatchObject({
    disabledRuleCount: 1,
    addedRuleIds: [942100],
    removedRuleIds: [942999],
  });
  const policy = { name: 'four', crsRulesetId: rulesetId };
  expect((await waf.call('PolicyService/CreatePolicy', { policy })).status).toBe(200);
  const kept = await waf.call('SystemService/DeleteCrsRuleset', { id: rulesetId });
  expect(kept.body['code']).toBe('failed_precondition');
  const broken = { archive: Buffer.from('no archive').toString('base64') };
  const refused = await waf.call('SystemService/ImportCrsRuleset', broken);
  expect(refused.body['code']).toBe('invalid_argument');
});

test('without an engine the node is offline and trying a policy is refused', async () => {
  const nodes = await waf.call('AgentService/ListNodes', {});
  const [local] = nodes.body['items'] as Record<string, string>[];
  expect(local).toMatchObject({ id: 'local', connectionStatus: 'OFFLINE' });
  const health = await waf.call('SystemService/Health', {});
  expect(health.body['status']).toBe('unhealthy');
  const retry = await waf.call('AgentService/RetryNodeConfig', { nodeId: 'local' });
  expect(retry.body['code']).toBe('failed_precondition');
  const tried = await waf.call('PolicyService/TestPolicy', { policyId: 'policy-light', url: '/' });
  expect(tried).toMatchObject({ status: 503, body: { code: 'unavailable' } });
});

/** A tar.gz with one file. */
function tarGz(path: string, text: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write(text.length.toString(8).padStart(11, '0'), 124);
  header.write('0', 156);
  const content = Buffer.alloc(Math.ceil(text.length / 512) * 512);
  content.write(text);
  return gzipSync(Buffer.concat([header, content, Buffer.alloc(1024)]));
}

test('what the data plane would get is shown, and what was published is listed', async () => {
  const site = {
    name: 'seen',
    primaryHost: 'seen.test',
    upstreams: [{ inline: { url: 'https://origin.test' } }],
    waf: { enabled: true },
  };
  const shown = await waf.call('SiteService/PreviewCompiledConfig', { site });
  expect(shown.body['compiledJson']).toMatchObject({
    site: { hosts: ['seen.test'], wafEnabled: true, policyId: 'policy-light' },
    upstream: { tls: true, endpoints: [{ host: 'origin.test', port: 443, weight: 1 }] },
  });
  const bundles = await waf.call('AgentService/ListConfigBundles', {});
  const items = bundles.body['items'] as Record<string, string>[];
  expect(items[0]).toMatchObject({ agentId: 'local', applyResult: 'unknown' });
});

test('settings change by key, return to their standard, and refuse what is unknown', async () => {
  const key = 'security.responses.config';
  const config = {
    templates: {
      active: 'plain',
      plain: { body: 'No: {{request.id}}', contentType: 'text/plain' },
    },
    scenarios: { waf_block: { statusCode: 406, title: 'No', message: 'No.' } },
  };
  const set = await waf.call('SystemService/UpdateSystemSettings', { values: { [key]: config } });
  expect(set.body).toMatchObject({
    application: 'pending',
    settings: { values: { [key]: config }, sources: { [key]: 'stored' } },
  });
  const wrong = async (values: object): Promise<string> => {
    const answer = await waf.call('SystemService/UpdateSystemSettings', { values });
    expect(answer.body['code']).toBe('invalid_argument');
    return String(answer.body['message']);
  };
  expect(await wrong({ color: 1 })).toMatch(/^values: Unknown key/);
  expect(await wrong({ 'auth.access_token_seconds': 1 })).toMatch(/between 60 and 86400/);
  const leak = { templates: { html: { body: '{{request.headers}}', contentType: 'text/html' } } };
  expect(await wrong({ [key]: leak })).toMatch(/templates\.html\.body: may use only/);
  const reset = await waf.call('SystemService/UpdateSystemSettings', { values: { [key]: null } });
  expect(reset.body).toMatchObject({ settings: { sources: { [key]: 'default' } } });
});
