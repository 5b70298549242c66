/** Proves that names work wherever ids do, in every command, built-in ones included. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { keepPrinted, type Printed } from '../../test/support/printed.ts';
import { makeTestCertificate } from '../../test/support/test-certificates.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import type { NamedResource } from './named-resource.ts';
import { loadCommands } from './commands.ts';
import { runCommandLine } from './program.ts';

const commands = await loadCommands([]);
let waf: TestControl;
let printed: Printed;

const run = (line: readonly string[]): Promise<number> =>
  runCommandLine(commands, [...line, '--admin-socket', waf.socket]);

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const { cert, key } = await makeTestCertificate({ names: ['shop.test'] });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const choice = { kind: 'deny', addressSource: 'client_ip', matchMode: 'in_list' };
  const made: [string, object][] = [
    ['PolicyService/CreatePolicy', { policy: { name: 'my policy' } }],
    ['UpstreamService/CreateUpstream', { upstream: { name: 'my pool', endpoints: [endpoint] } }],
    ['SiteService/CreateSite', { site }],
    ['IpListService/CreateIpList', { ipList: { name: 'my list' } }],
    ['CertService/UploadCert', { name: 'my cert', certPem: base64(cert), keyPem: base64(key) }],
    [
      'CertService/CreateDNSProvider',
      { name: 'my dns', provider: 'cloudflare', credentialsJson: base64('{"apiToken":"x"}') },
    ],
    [
      'CountryAccessService/UpsertCountryAccessRule',
      { rule: { name: 'my country', countryCodes: ['DE'], ...choice } },
    ],
    [
      'AgentGroupService/CreateAgentGroup',
      { group: { name: 'my group', selector: { matchTags: ['x'] } } },
    ],
    [
      'AlertService/UpsertAlertRule',
      {
        rule: {
          name: 'my alert rule',
          severity: 'ALERT_SEVERITY_INFO',
          expression: '{"kind":"node_offline"}',
        },
      },
    ],
    [
      'AlertService/UpsertAlertChannel',
      {
        channel: {
          name: 'my channel',
          kind: 'ALERT_CHANNEL_KIND_WEBHOOK',
          config: { url: 'https://hooks.example/x' },
        },
      },
    ],
    [
      'CustomRuleService/CreateCustomRule',
      {
        rule: {
          policyId: 'policy-light',
          name: 'my rule',
          ruleId: '10700',
          enabled: true,
          seclang: 'SecAction "id:10700,phase:1,pass"',
        },
      },
    ],
  ];
  for (const [rpc, body] of made) {
    const { status, text } = await waf.call(rpc, body);
    if (status !== 200) throw new Error(`${rpc}: ${text}`);
  }
});
afterAll(() => waf.control.close());
beforeEach(() => {
  printed = keepPrinted();
});
afterEach(() => vi.restoreAllMocks());

const endpoint = { url: 'http://127.0.0.1:1' };
const site = { name: 'my site', primaryHost: 'shop.test', upstreams: [{ inline: endpoint }] };

/** For each kind of resource: command lines that name one. */
const lines: Readonly<Record<NamedResource, readonly (readonly string[])[]>> = {
  site: [
    ['site', 'get', 'my site'],
    ['log', 'security', '--site', 'my site', '--since', '1'],
  ],
  policy: [
    ['policy', 'get', 'Light'],
    ['policy', 'get', 'standard'],
    ['policy', 'get', 'Strict'],
    ['policy', 'get', 'policy-light'],
    ['policy', 'get', 'my policy'],
  ],
  template: [['policy', 'create', '--name', 'made', '--template', 'Strict']],
  'ip-list': [
    ['ip-list', 'get', 'my list'],
    ['trust', 'set', '--proxy', 'CDN=my list'],
  ],
  upstream: [
    ['upstream', 'get', 'my pool'],
    ['upstream', 'health', 'my pool'],
    ['site', 'routing-set', 'my site', '--route', '/api=my pool', '--strip', '/b=my pool'],
  ],
  ruleset: [
    ['crs', 'get', 'default'],
    ['crs', 'get', 'crs-4.9.1'],
    ['crs', 'rules', '4.9.1'],
    ['crs', 'get', 'crs-default'],
    ['policy', 'ruleset', 'my policy', 'default'],
    ['policy', 'create', '--name', 'ruled', '--ruleset', 'crs-4.9.1'],
    [
      ...'policy import test/seclang/modsecurity --name taken --dry-run --ruleset default'.split(
        ' ',
      ),
    ],
  ],
  role: [
    ['role', 'get', 'Auditor'],
    ['role', 'get', 'waf operator'],
    ['user', 'list', '--role', 'Administrator'],
  ],
  user: [['user', 'get', 'admin']],
  node: [
    ['agent', 'capabilities', 'local'],
    ['agent-group', 'update', 'my group', '--name', 'my group', '--agent', 'local'],
  ],
  'agent-group': [
    ['agent-group', 'get', 'my group'],
    ['agent-group', 'resolve', 'my group'],
  ],
  certificate: [['cert', 'get', 'my cert']],
  'dns-provider': [['cert', 'dns-update', 'my dns', '--status', 'disabled']],
  'country-rule': [['country', 'delete', 'my country']],
  'custom-rule': [
    ['rule', 'get', 'my rule'],
    ['rule', 'get', '10700'],
    ['rule', 'reorder', 'Light', 'my rule'],
  ],
  'alert-rule': [
    ['alert', 'list', '--rule', 'my alert rule'],
    ['alert', 'preview', 'my alert rule', '--channel', 'my channel'],
    ['alert', 'rule-set', '--id', 'MY alert rule', '--repeat', '0'],
  ],
  'alert-channel': [
    ['alert', 'channel-rules', 'my channel', 'my alert rule'],
    ['alert', 'rule-set', '--id', 'my alert rule', '--channel', 'my channel'],
  ],
};

test.each(
  Object.values(lines).flatMap((all) => all.map((line) => [line.join(' '), line] as const)),
)('waf %s', async (_, line) => {
  const code = await run(line);
  expect(`${code} ${printed.err}`).toMatch(/^0 /);
});

test.each(Object.keys(lines) as NamedResource[])(
  'an unknown %s is refused by its name',
  async (kind) => {
    const definition = commands.find(({ arguments: all }) => all?.[0]?.resource === kind);
    if (definition === undefined || kind === 'node') {
      expect(['template', 'node']).toContain(kind);
      return;
    }
    const rest = (definition.arguments ?? []).slice(1).map(({ choices }) => choices?.[0] ?? 'x');
    const required = (definition.flags ?? []).filter((flag) => flag.required === true);
    const flags = required.flatMap(({ flags: text }) => [/--[a-z-]+/.exec(text)?.[0] ?? '', 'x']);
    expect(await run([...definition.path, 'Nobody', ...rest, ...flags])).toBe(1);
    expect(printed.err).toMatch(/No .+ named "Nobody"\. List them with: waf .+/);
  },
);

/** Arguments whose values are no names of resources, by their spelling. */
const noResource = new Set(
  '<file> <dir> <file|dir> [file] [archive] <ip> <value...> <name> <username> <what> <kind>'.split(
    ' ',
  ),
);

test('every argument names a resource, is a choice, or has no name', () => {
  const left = commands.flatMap(({ path, arguments: all = [] }) =>
    all
      .filter((one) => one.resource === undefined && one.choices === undefined)
      .filter(({ name }) => !noResource.has(name))
      .map(({ name }) => `${path.join(' ')} ${name}`),
  );
  // Numbers of rules, slugs, and ids of what has no name: overrides, versions, releases, entries.
  expect(left.sort()).toEqual([
    'agent bundle <id>',
    'agent install-status <token>',
    'agent release-keys [key...]',
    'ai apply <proposal>',
    'ai draft-rule <intent>',
    'ai explain <request>',
    'ai query <question>',
    'ai reject <proposal>',
    'alert ack <alert>',
    'alert notes <alert>',
    'alert resolve <alert>',
    'alert show <alert>',
    'alert silence-delete <silence>',
    'api enforce [operation...]',
    'api observe [operation...]',
    'audit get <id>',
    'bot verifier-delete <verifier>',
    'bot verifier-set <verifier>',
    'crs exclusion <plugin>',
    'crs exclusion-drop <use>',
    'crs exclusion-import <plugin>',
    'crs exclusion-use <plugin>',
    'crs plugin-schema <plugin>',
    'crs rule <rule>',
    'crs test <file-or-folder>',
    'explain [request]',
    'get [name]',
    'ip-list unbind <binding>',
    'learning accept <id>',
    'learning dismiss <id>',
    'log explain <request>',
    'log hits <rule...>',
    'passkey remove <id>',
    'passkey rename <id>',
    'patch remove <id>',
    'policy diff <left>',
    'policy diff <right>',
    'policy rollback <version>',
    'policy version <version>',
    'rate-limit delete <id>',
    'release apply <release>',
    'release cancel <run>',
    'release delete <release>',
    'release index <archive...>',
    'release pack <archive>',
    'release run <run>',
    'release show <release>',
    'release sign <archive>',
    'release watch <run>',
    'rule from-template <template>',
    'rule override <rule>',
    'rule override-delete <override>',
    'rule override-get <override>',
    'session end <id>',
    'site canary <prefix>',
    'token revoke <id>',
    'token rotate <id>',
    'token show <id>',
  ]);
});

test('names in pairs are those of the resource that the pair is about', async () => {
  const made = ['--name', 'of my site', '--severity', 'info', '--kind', 'origin_down'];
  const filter = ['siteId=my site', 'upstreamId=my pool'].flatMap((one) => ['--filter', one]);
  expect(await run(['alert', 'rule-set', ...made, ...filter])).toBe(0);
  const { body } = await waf.call('AlertService/ListAlertRules', {});
  const rule = (body['items'] as { name: string; expression: string }[]).find(
    ({ name }) => name === 'of my site',
  );
  expect(JSON.parse(rule?.expression ?? '{}')).toMatchObject({
    filter: {
      siteId: expect.stringMatching(/^site-/),
      upstreamId: expect.stringMatching(/^upstream-/),
    },
  });
  const match = ['siteId=my site', 'ruleId=of my site'].flatMap((one) => ['--match', one]);
  const code = await run(['alert', 'silence', ...match, '--reason', 'maintenance']);
  expect(`${code} ${printed.err}`).toMatch(/^0 /);
  expect(printed.out).toMatch(/siteId=site-/);
  expect(await run(['alert', 'silence', '--match', 'siteId=Nobody'])).toBe(1);
  expect(printed.err).toContain('No site named "Nobody".');
});

test('every flag that takes an id takes a name', () => {
  const kinds = 'site policy list pool ruleset certificate role user node group rule template';
  const meant = new RegExp(`<(?:id|[\\w-]*\\b(?:${kinds.replaceAll(' ', '|')}))>`);
  const left = commands.flatMap(({ path, flags: all = [] }) =>
    all
      .filter((one) => one.resource === undefined && one.pairResources === undefined)
      .filter(({ flags }) => meant.test(flags))
      .map(({ flags }) => `${path.join(' ')} ${flags}`),
  );
  // Requests, numbers of rules and what the audit holds of those that are gone.
  expect(left.sort()).toEqual([
    'audit list --actor-id <id>',
    'audit list --resource <id>',
    'log access --request-id <id>',
    'log errors --request-id <id>',
    'log security --request-id <id>',
    'log security --rule <id>',
    'site applications --names <list>',
  ]);
});
