/** Proves that responses, health and doctor name each control that is stored but not enforced. */

import type { DescMessage } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../test/support/printed.ts';
import { makeTestCertificate } from '../../test/support/test-certificates.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { loadCommands } from '../cli/commands.ts';
import { controlsCheck } from '../cli/process/doctor/controls.ts';
import { createApiClient } from '../cli/api-client.ts';
import { runCommandLine } from '../cli/program.ts';
import { unenforcedControls, type UnenforcedControl } from '../domain/enforcement.ts';
import { collections } from '../store/collection-list.ts';
import { services } from './services.ts';

let waf: TestControl;
const limit = { pathPattern: '/login', action: 'challenge', requestCount: 5, windowSeconds: 60 };
const site = { primaryHost: 'a.test', upstreams: [{ inline: { url: 'http://127.0.0.1:1' } }] };

/** Stands for a control that is not enforced: all of them are, and the answers must work. */
const planted: UnenforcedControl = {
  says: 'planted: the pressure policy has no effect',
  collection: 'log-policies',
  messages: ['waf.v1.GlobalLogPolicy', 'waf.v1.ResolvedLogPolicy', 'waf.v1.SiteLogPolicyOverride'],
  states: (json) => JSON.stringify(json).includes('LOG_PRESSURE_POLICY_REPORT_ONLY'),
};

beforeAll(async () => {
  (unenforcedControls as UnenforcedControl[]).push(planted);
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(async () => {
  (unenforcedControls as UnenforcedControl[]).pop();
  await waf.control.close();
});

/** A call, with `$name` for what an earlier call kept: a name and its path in the answer. */
type Step = readonly [rpc: string, body: object, keep?: Readonly<Record<string, string>>];

/** For each control: what is called before, and the calls whose answers must say it. */
const table: Readonly<Record<string, { before?: Step[]; says: Step[] }>> = {
  planted: {
    says: [
      [
        'LogService/UpdateGlobalLogPolicy',
        { policy: { pressurePolicy: 'LOG_PRESSURE_POLICY_REPORT_ONLY' }, expectedRevision: '1' },
      ],
      ['LogService/GetGlobalLogPolicy', {}],
    ],
  },
};

/** Text at a path of names joined by dots. */
function textAt(body: unknown, path: string): string {
  let value = body;
  for (const name of path.split('.')) value = (value as Record<string, unknown>)[name];
  return String(value);
}

test('responses and health name every control of the table', async () => {
  const { cert, key } = await makeTestCertificate({ names: ['a.test'] });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const kept: Record<string, string> = { certPem: base64(cert), keyPem: base64(key) };
  const fill = (body: object): object =>
    JSON.parse(
      JSON.stringify(body).replace(/"\$(\w+)"/g, (_, name) => `"${kept[name]}"`),
    ) as object;
  const call = async ([rpc, body, keep]: Step): Promise<string[]> => {
    const answer = await waf.call(rpc, fill(body));
    expect(answer, `${rpc} ${answer.text}`).toMatchObject({ status: 200 });
    for (const [name, path] of Object.entries(keep ?? {})) kept[name] = textAt(answer.body, path);
    return (answer.body['warnings'] ?? []) as string[];
  };
  for (const { says } of unenforcedControls) {
    const name = Object.keys(table).find((one) => says.startsWith(one)) ?? says;
    const rows = table[name];
    expect(rows, `no row for: ${says}`).toBeDefined();
    for (const step of rows?.before ?? []) expect(await call(step)).toEqual([]);
    for (const step of rows?.says ?? []) expect(await call(step), step[0]).toContain(says);
    const { warnings } = (await waf.call('SystemService/Health', {})).body;
    expect((warnings as string[]).filter((one) => one.startsWith(says))).toHaveLength(1);
  }
  const context = { api: async () => createApiClient({ adminSocket: waf.socket } as never) };
  const findings = await controlsCheck.look({ running: true, context } as never);
  expect(findings.map(({ severity }) => severity)).toEqual(unenforcedControls.map(() => 'warning'));
});

test('what is enforced is no warning', async () => {
  const pages = { scenarios: { bot_block: { statusCode: 404, title: 'No', message: 'No' } } };
  const choice = { kind: 'deny', addressSource: 'client_ip', matchMode: 'in_list' };
  const made = await waf.call('IpListService/CreateIpList', {
    ipList: { name: 'l', entries: [{ value: '192.0.2.1' }] },
  });
  const ipListId = textAt(made.body, 'ipList.id');
  const calls: readonly Step[] = [
    ['IpListService/UpsertGlobalIpListBinding', { binding: { ipListId, ...choice } }],
    [
      'CountryAccessService/UpsertCountryAccessRule',
      { rule: { name: 'c', countryCodes: ['DE'], enabled: true, ...choice } },
    ],
    [
      'RateLimitService/UpsertRateLimitEndpoint',
      { endpoint: { policyId: 'policy-light', ...limit } },
    ],
    ...['BROWSER_CHECK', 'HUMAN_VERIFICATION'].map((mode): Step => {
      const botProtection = { mode: `BOT_PROTECTION_MODE_${mode}` };
      const primaryHost = `${mode.replace('_', '').toLowerCase()}.test`;
      const named = { ...site, name: mode, primaryHost, botProtection };
      return ['SiteService/CreateSite', { site: named }];
    }),
    ['SystemService/UpdateSystemSettings', { values: { 'security.responses.config': pages } }],
  ];
  for (const [rpc, body] of calls) {
    const answer = await waf.call(rpc, body);
    expect(answer, answer.text).toMatchObject({ status: 200 });
    expect(answer.body['warnings'] ?? [], rpc).toEqual([]);
  }
});

test('the command line prints the warnings of an answer', async () => {
  const printed = keepPrinted();
  // The test of the table has switched it on.
  const line = 'log policy-set --window 90';
  const args = [...line.split(' '), '--admin-socket', waf.socket];
  expect(await runCommandLine(await loadCommands([]), args)).toBe(0);
  expect(printed.err).toContain(`warning: ${planted.says}`);
  vi.restoreAllMocks();
});

test('the table names collections and messages that exist, shown by answers that can warn', () => {
  const names = collections.map(({ name }) => name);
  for (const { collection } of unenforcedControls) expect(names).toContain(collection);
  const shown = new Set(unenforcedControls.flatMap(({ messages }) => messages));
  const shows = (message: DescMessage): boolean =>
    message.fields.some((field) => 'message' in field && shown.has(field.message?.typeName ?? ''));
  const silent = services
    .flatMap(({ service }) => service.methods)
    .filter(({ output }) => shows(output) && !output.fields.some(({ name }) => name === 'warnings'))
    .map(({ name }) => name);
  // It takes a control away.
  expect(silent.sort()).toEqual(['DeleteSiteLogPolicyOverride']);
});
