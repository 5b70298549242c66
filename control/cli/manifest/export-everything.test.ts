/**
 * Proves that a manifest holds everything: a store with every kind and every field is exported, and
 * an empty store that reads the export exports the same, byte for byte.
 */

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DescMessage } from '@bufbuild/protobuf';
import { parseAllDocuments } from 'yaml';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { keepPrinted, type Printed } from '../../../test/support/printed.ts';
import { writeSmallRuleset } from '../../../test/support/small-ruleset.ts';
import {
  makeRevocationList,
  makeTestCertificate,
} from '../../../test/support/test-certificates.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import {
  AlertChannelSchema,
  AlertNotificationLocaleSchema,
  AlertNotificationTemplateSchema,
  AlertRuleSchema,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { AgentGroupSchema } from '../../../proto/gen/waf/v1/agent_group_pb.ts';
import { ACMEDNSProviderSchema } from '../../../proto/gen/waf/v1/cert_pb.ts';
import { CountryAccessRuleSchema } from '../../../proto/gen/waf/v1/country_access_pb.ts';
import { PolicyCrsExclusionPluginSchema } from '../../../proto/gen/waf/v1/crs_pb.ts';
import { CustomRuleSchema } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import {
  IpListBindingRecordSchema,
  IpListEntrySchema,
  IpListSourceSchema,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import {
  ArgLimitsSchema,
  CrsCoreSettingsSchema,
  HttpPolicySchema,
  PolicyPluginSchema,
  PolicySchema,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import { RateLimitEndpointRecordSchema } from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { RoleSchema } from '../../../proto/gen/waf/v1/role_pb.ts';
import { RuleOverrideSchema } from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import {
  BotProtectionConfigSchema,
  SitePolicyOverrideSchema,
  SiteSchema,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import {
  ClientIPRuleSchema,
  TrustNodeSchema,
  TrustProfileSchema,
} from '../../../proto/gen/waf/v1/trust_pb.ts';
import {
  UpstreamHealthCheckSchema,
  UpstreamResiliencePolicySchema,
  UpstreamSchema,
  UpstreamTlsSchema,
} from '../../../proto/gen/waf/v1/upstream_pb.ts';
import { UserSchema } from '../../../proto/gen/waf/v1/user_pb.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

const folder = mkdtempSync(join(tmpdir(), 'waf-everything-'));
const authority = await makeTestCertificate({ subject: 'CN=Ours', authority: true });
const everything = readFileSync(new URL('export-everything.yaml', import.meta.url), 'utf8')
  .replaceAll('AUTHORITY', JSON.stringify(authority.cert))
  .replaceAll('REVOKED', JSON.stringify(await makeRevocationList(authority, [])));
const commands = await loadCommands([]);
let first: TestControl;
let second: TestControl;
let printed: Printed;

beforeAll(async () => {
  const options = { demoOrigin: null, rulesetFolder: writeSmallRuleset(folder) };
  first = await startTestControl(options);
  second = await startTestControl(options);
  const { cert, key } = await makeTestCertificate({ names: ['shop.example', '*.shop.example'] });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  for (const waf of [first, second]) {
    const upload = { name: 'tls', certPem: base64(cert), keyPem: base64(key) };
    const { status, text } = await waf.call('CertService/UploadCert', upload);
    if (status !== 200) throw new Error(text);
  }
});
afterAll(async () => {
  await first.control.close();
  await second.control.close();
});
beforeEach(() => {
  printed = keepPrinted();
});
afterEach(() => vi.restoreAllMocks());

async function run(waf: TestControl, ...line: string[]): Promise<number> {
  const code = await runCommandLine(commands, [...line, '--admin-socket', waf.socket]);
  if (code === 1) expect(printed.err).toBe('');
  return code;
}

async function exported(waf: TestControl, name: string): Promise<string> {
  const path = join(folder, name);
  expect(await run(waf, 'export', '--out', path)).toBe(0);
  return readFileSync(path, 'utf8');
}

test('export, an empty store, apply, export: equal', async () => {
  const source = join(folder, 'source.yaml');
  writeFileSync(source, everything);
  expect(await run(first, 'apply', '-f', source)).toBe(0);
  expect(await run(first, 'diff', '-f', source)).toBe(0);
  const one = await exported(first, 'one.yaml');
  expect(await run(first, 'diff', '-f', join(folder, 'one.yaml'))).toBe(0);
  expect(await run(second, 'apply', '-f', join(folder, 'one.yaml'))).toBe(0);
  expect(await exported(second, 'two.yaml')).toBe(one);
  expect(await run(second, 'diff', '-f', join(folder, 'one.yaml'))).toBe(0);
  expect(await run(second, 'diff', '-f', source)).toBe(0);
});

test('an export names what no manifest holds', async () => {
  await exported(first, 'named.yaml');
  for (const one of ['log policies', 'API documents', 'silences of alerts']) {
    expect(printed.err).toContain(one);
  }
  expect(printed.err).toMatch(/^not part of manifests: /m);
});

test('apply says which secrets a manifest cannot bring, and what is not enforced', async () => {
  const third = await startTestControl({
    demoOrigin: null,
    rulesetFolder: writeSmallRuleset(folder),
  });
  const lists = join(folder, 'lists.yaml');
  const documents = readFileSync(join(folder, 'one.yaml'), 'utf8').split('---\n');
  const list = documents.find((text) => text.includes('name: drop')) ?? '';
  writeFileSync(lists, list);
  expect(list).toContain('value: configured');
  expect(list).not.toContain('s3cret');
  expect(await run(third, 'apply', '-f', lists)).toBe(0);
  expect(printed.err).toContain('spec.source.headers[0]: its value is a secret');
  expect(printed.err).toContain('spec.source.url: its query is a secret');
  await third.control.close();
});

test('a certificate and a ruleset that are not there are named, with what to do', async () => {
  const third = await startTestControl({ demoOrigin: null });
  const apply = (yaml: string) =>
    third.call('SystemService/Apply', { manifestYaml: Buffer.from(yaml).toString('base64') });
  const head = (kind: string): string =>
    `apiVersion: waf.io/v1\nkind: ${kind}\nmetadata: { name: x }\nspec:\n`;
  const site = `${head('Site')}  { primaryHost: x.test, certRef: gone, upstreams: [{ url: 'http://127.0.0.1:1' }] }`;
  expect((await apply(site)).text).toContain('spec.certRef: names no certificate; upload it');
  const policy = `${head('Policy')}  { crsRulesetRef: crs-9.9.9 }`;
  expect((await apply(policy)).text).toContain('spec.crsRulesetRef: names no ruleset; import it');
  await third.control.close();
});

test('a list of an entry is replaced, kept entries keep their ids, and silence keeps all', async () => {
  const bindingsOf = async () =>
    (await first.call('IpListService/ListGlobalIpListBindings', {})).body['items'] as object[];
  const before = await bindingsOf();
  const deployment = (spec: string): string =>
    `apiVersion: waf.io/v1\nkind: Deployment\nmetadata: { name: default }\nspec: ${spec}\n`;
  const path = join(folder, 'deployment.yaml');
  writeFileSync(path, deployment('{}'));
  expect(await run(first, 'apply', '-f', path)).toBe(0);
  expect(await bindingsOf()).toEqual(before);
  writeFileSync(path, deployment('{ ipListBindings: [] }'));
  expect(await run(first, 'apply', '-f', path)).toBe(0);
  expect(await bindingsOf()).toBeUndefined();
});

type Json = Record<string, unknown>;

/** Objects at a path such as `Policy.spec.rateLimits[]` in all documents. */
function objectsAt(path: string): Json[] {
  const [kind = '', ...names] = path.split('.');
  const documents = parseAllDocuments(everything).map((one) => one.toJS() as Json);
  let found: unknown[] = documents.filter((one) => one['kind'] === kind);
  for (const name of names) {
    found = found.flatMap((one) => (one as Json)[name.replace('[]', '')] ?? []);
  }
  return found as Json[];
}

const given = ['id', 'tenantId', 'createdAt', 'updatedAt', 'deletedAt', 'policyId', 'siteId'];
const renamed: Readonly<Record<string, string>> = {
  username: '',
  name: '',
  revision: '',
  crsRulesetId: 'crsRulesetRef',
  ipListId: 'listRef',
  value: 'cidr',
  note: 'description',
  expiresAt: 'expireAt',
  ipListIds: 'trust',
  expression: 'condition',
  channelIds: 'channels',
};

/** Fields of a message that have no place at the given path, with the reason. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  'Role.spec': ['builtin', 'memberCount'],
  'User.spec': ['lastLoginAt', 'totpEnabled'],
  'DnsProvider.spec': ['lastError', 'health', 'healthCheckedAt'],
  'AgentGroup.spec': ['memberCount'],
  'Policy.spec': ['isTemplate', 'isDefault', 'builtin', 'bundleSha256'],
  'Policy.spec.exclusionPlugins[]': ['pluginId', 'pluginSlug', 'txVariable'],
  'Policy.spec.ipListBindings[]': ['ipListName', 'scope'],
  'IpList.spec.source': ['generation'],
  'CountryRule.spec': ['etag'],
  'AlertChannel.spec': ['health'],
};

test.each<[string, DescMessage]>([
  ['Role.spec', RoleSchema],
  ['User.spec', UserSchema],
  ['DnsProvider.spec', ACMEDNSProviderSchema],
  ['AgentGroup.spec', AgentGroupSchema],
  ['Upstream.spec', UpstreamSchema],
  ['Upstream.spec.healthCheck', UpstreamHealthCheckSchema],
  ['Upstream.spec.resilience', UpstreamResiliencePolicySchema],
  ['Upstream.spec.tls', UpstreamTlsSchema],
  ['IpList.spec.entries[]', IpListEntrySchema],
  ['IpList.spec.source', IpListSourceSchema],
  ['Policy.spec', PolicySchema],
  ['Policy.spec.crsCore', CrsCoreSettingsSchema],
  ['Policy.spec.httpPolicy', HttpPolicySchema],
  ['Policy.spec.argLimits', ArgLimitsSchema],
  ['Policy.spec.plugins[]', PolicyPluginSchema],
  ['Policy.spec.ruleOverrides[]', RuleOverrideSchema],
  ['Policy.spec.customRules[]', CustomRuleSchema],
  ['Policy.spec.exclusionPlugins[]', PolicyCrsExclusionPluginSchema],
  ['Policy.spec.ipListBindings[]', IpListBindingRecordSchema],
  ['Policy.spec.rateLimits[]', RateLimitEndpointRecordSchema],
  ['Site.spec', SiteSchema],
  ['Site.spec.botProtection', BotProtectionConfigSchema],
  ['Site.spec.policyOverride', SitePolicyOverrideSchema],
  ['Site.spec.trustProfile', TrustProfileSchema],
  ['CountryRule.spec', CountryAccessRuleSchema],
  ['AlertChannel.spec', AlertChannelSchema],
  ['AlertRule.spec', AlertRuleSchema],
  ['AlertRule.spec.notification.locales.en-US', AlertNotificationLocaleSchema],
  ['AlertRule.spec.notification.locales.en-US.templates.firing', AlertNotificationTemplateSchema],
  ['Deployment.spec.trustProfile.nodes[]', TrustNodeSchema],
  ['Deployment.spec.trustProfile.extractionRules[]', ClientIPRuleSchema],
])('every field of %s stands in the manifest of this test', (path, schema) => {
  const stated = new Set(objectsAt(path).flatMap((one) => Object.keys(one)));
  expect(stated.size).toBeGreaterThan(0);
  const missing = schema.fields
    .map(({ jsonName }) => renamed[jsonName] ?? jsonName)
    .filter((name) => name !== '' && !given.includes(name) && !stated.has(name));
  expect(missing).toEqual(elsewhere[path] ?? []);
});
