/**
 * The proof of plugins: those of a ruleset, those that are imported, and what a policy does with
 * them, as its SecLang shows it.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtInCrsFolder } from '../../publish/rulesets/ruleset-folder.ts';
import { packArchive } from '../../publish/rulesets/ruleset-pack.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;
let policyId = '';

beforeAll(async () => {
  waf = await startTestControl({ rulesetFolder: builtInCrsFolder });
  const made = await waf.call('PolicyService/CreatePolicy', { policy: { name: 'plugged' } });
  policyId = (made.body['policy'] as { id: string }).id;
});
afterAll(() => waf.control.close());

type Json = Record<string, unknown>;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function ask(rpc: string, body: object): Promise<Json> {
  const answer = await waf.call(rpc, body);
  expect(`${answer.status} ${answer.text}`).toMatch(/^200 /);
  return answer.body;
}

async function refused(rpc: string, body: object): Promise<string> {
  const answer = await waf.call(rpc, body);
  return `${String(answer.body['code'])} ${String(answer.body['message'])}`;
}

async function seclang(id = policyId): Promise<string> {
  return String((await ask('PolicyService/PreviewSecLang', { policyId: id }))['seclang']);
}

const before = `SecRule TX:guard-plugin_enabled "@eq 0" \\
  "id:9599000,phase:1,pass,nolog,ctl:ruleRemoveById=9599100-9599199"
SecRule REQUEST_FILENAME "@beginsWith /notes" \\
  "id:9599100,phase:1,pass,nolog,ver:'guard/1.2.0',ctl:ruleRemoveById=942100"\n`;
const config = `# How much is too much.
#SecAction "id:9599010,phase:1,nolog,pass,setvar:'tx.guard-plugin_limit=10'"
SecAction "id:9599011,phase:1,nolog,pass,setvar:'tx.guard-plugin_word=open'"\n`;

test('curated plugins are listed; CRS 3 brings six of them', async () => {
  const { items } = (await ask('CrsService/ListCrsExclusionPlugins', {})) as { items: Json[] };
  expect(items.map((one) => one['slug'])).toContain('phpmyadmin-rule-exclusions');
  expect(items.filter((one) => one['installed'] === true)).toHaveLength(6);
  const { plugin } = await ask('CrsService/GetCrsExclusionPlugin', { idOrSlug: 'wordpress' });
  expect(plugin).toMatchObject({ txVariable: 'crs_exclusions_wordpress', curated: true });
  expect(await refused('CrsService/GetCrsExclusionPlugin', { idOrSlug: 'none' })).toMatch(
    /^not_found /,
  );
});

test('a bundled plugin is turned on, everywhere or under a path', async () => {
  const binding = { policyId, pluginSlug: 'wordpress-rule-exclusions', enabled: true };
  const made = await ask('CrsService/UpsertPolicyExclusionPlugin', { binding });
  const { id } = made['binding'] as { id: string };
  expect(await seclang()).toMatch(/SecAction "id:\d+,[^\n]*tx\.crs_exclusions_wordpress=1/);
  const narrowed = { ...binding, id, pathPrefix: '/blog' };
  await ask('CrsService/UpsertPolicyExclusionPlugin', { binding: narrowed });
  const text = await seclang();
  expect(text).toContain('SecRule REQUEST_PATHS_JOINED "@rx \\A(?:/blog(?:/');
  expect(text).not.toMatch(/SecAction "id:\d+,[^\n]*crs_exclusions/);
  const listed = await ask('CrsService/ListPolicyExclusionPlugins', { policyId });
  expect(listed['items']).toMatchObject([{ id, pathPrefix: '/blog' }]);
  await ask('CrsService/DeletePolicyExclusionPlugin', { id });
  expect(await seclang()).not.toContain('crs_exclusions');
});

test('a plugin that is not there is refused until it is imported', async () => {
  const binding = { policyId, pluginSlug: 'phpbb-rule-exclusions', enabled: true };
  const rpc = 'CrsService/UpsertPolicyExclusionPlugin';
  expect(await refused(rpc, { binding })).toMatch(
    /^failed_precondition binding\.pluginId: .*import/,
  );
  const files = [
    { path: 'phpbb-1.0/plugins/phpbb-rule-exclusions-before.conf', content: bytes(before) },
    { path: 'phpbb-1.0/plugins/phpbb-rule-exclusions-config.conf', content: bytes(config) },
    { path: 'phpbb-1.0/tests/regression/x-before.conf', content: bytes('SecRuleEngine Off\n') },
  ];
  const archive = Buffer.from(packArchive(files)).toString('base64');
  const imported = await ask('CrsService/ImportCrsExclusionPlugin', { idOrSlug: 'phpbb', archive });
  expect(imported['plugin']).toMatchObject({
    installed: true,
    source: 'uploaded',
    sourceVersion: '1.2.0',
    txVariable: 'guard-plugin_enabled',
  });
  await ask(rpc, { binding: { ...binding, pathPrefix: '/forum/' } });
  const text = await seclang();
  const order = [
    'Include plugins/phpbb-rule-exclusions/phpbb-rule-exclusions-config.conf',
    "setvar:'tx.guard-plugin_enabled=0'",
    '"@rx \\A(?:/forum(?:/',
    'Include plugins/phpbb-rule-exclusions/phpbb-rule-exclusions-before.conf',
    'Include crs/rules/REQUEST-901',
  ].map((part) => text.indexOf(part));
  expect(order.every((at) => at > 0)).toBe(true);
  expect(order).toEqual([...order].sort((left, right) => left - right));
});

test('what a plugin must not hold is refused with its place', async () => {
  const attempt = async (text: string, name = 'x-before.conf'): Promise<string> => {
    const files = [{ path: `p/plugins/${name}`, content: bytes(text) }];
    const archive = Buffer.from(packArchive(files)).toString('base64');
    return refused('CrsService/ImportCrsExclusionPlugin', { idOrSlug: 'own-one', archive });
  };
  expect(await attempt('\nSecRuleEngine Off\n')).toBe(
    'invalid_argument archive: x-before.conf:2 is no rule',
  );
  expect(await attempt('SecRule ARGS\n')).toMatch(/^invalid_argument archive: x-before\.conf:1 /);
  expect(await attempt(before, 'x.conf')).toMatch(/^invalid_argument archive: must hold files/);
  const garbage = { idOrSlug: 'own-one', archive: Buffer.from('no').toString('base64') };
  expect(await refused('CrsService/ImportCrsExclusionPlugin', garbage)).toMatch(
    /^invalid_argument archive: the archive is neither/,
  );
  expect(
    await refused('CrsService/ImportCrsExclusionPlugin', { idOrSlug: 'Ä', archive: '' }),
  ).toMatch(/^invalid_argument idOrSlug: must be a slug/);
});

test('plugins of a ruleset run where a policy switches them on, with its settings', async () => {
  const rule = `SecRule ARGS "@rx x" "id:920100,phase:2,pass,ver:'OWASP_CRS/4.1.0'"\n`;
  const files = [
    { path: 'r/rules/REQUEST-920-X.conf', content: bytes(rule) },
    { path: 'r/plugins/guard-before.conf', content: bytes(before) },
    { path: 'r/plugins/guard-config.conf', content: bytes(config) },
    { path: 'r/plugins/empty-before.conf', content: bytes('') },
  ];
  const archive = Buffer.from(packArchive(files)).toString('base64');
  const made = await ask('SystemService/ImportCrsRuleset', { archive });
  const { id: rulesetId } = made['ruleset'] as { id: string };
  const { plugins } = (await ask('CrsService/ListCrsPlugins', { rulesetId })) as {
    plugins: Json[];
  };
  expect(plugins.map((one) => one['name'])).toEqual(['empty', 'guard']);
  const pluginId = String(plugins[1]?.['id']);
  const { schema } = await ask('CrsService/GetCrsPluginConfigSchema', { pluginId });
  expect(schema).toMatchObject({
    properties: {
      'guard-plugin_limit': { type: 'integer', default: 10, description: 'How much is too much.' },
      'guard-plugin_word': { type: 'string', default: 'open' },
    },
  });
  const policy = { name: 'with plugin', crsRulesetId: rulesetId };
  const created = await ask('PolicyService/CreatePolicy', { policy });
  const { id, revision } = created['policy'] as { id: string; revision: string };
  expect(await seclang(id)).not.toContain('guard');
  const layer = (config: object, name = pluginId): object => ({
    policyId: id,
    revision,
    layer: 'POLICY_LAYER_KIND_PLUGINS',
    config: { plugins: [{ pluginId: name, enabled: true, config }] },
  });
  const rpc = 'PolicyService/UpdatePolicyLayer';
  expect(await refused(rpc, layer({}, 'none'))).toMatch(/ config\.plugins\[0\]\.pluginId: /);
  expect(await refused(rpc, layer({ other: 1 }))).toMatch(/Allowed: guard-plugin_limit, /);
  expect(await refused(rpc, layer({ 'guard-plugin_limit': 'a' }))).toMatch(/whole number$/);
  expect(await refused(rpc, layer({ 'guard-plugin_word': "x'" }))).toMatch(/no quotes/);
  await ask(rpc, layer({ 'guard-plugin_limit': 3 }));
  const text = await seclang(id);
  expect(text.indexOf("setvar:'tx.guard-plugin_limit=3'")).toBeGreaterThan(
    text.indexOf('Include crs/plugins/guard-config.conf'),
  );
  expect(text).toContain('Include crs/plugins/guard-before.conf');
  expect(text).not.toContain('empty');
});
