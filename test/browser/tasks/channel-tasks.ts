/** Tasks of alerts and accounts elsewhere: channels, rules, DNS providers, each by its kind. */

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Desk } from './desk.ts';
import type { Task, World } from './task.ts';

/** One kind of channel: what is entered, and what the API has of it then. */
interface ChannelForm {
  readonly kind: string;
  readonly choose?: Readonly<Record<string, string>>;
  readonly fill: Readonly<Record<string, string>>;
  readonly config: object;
}

const hook = 'https://hooks.shop.example/waf';
/** What the API answers in place of a secret. */
const configured = 'configured';

const channels: readonly ChannelForm[] = [
  {
    kind: 'Email',
    choose: { Encryption: 'TLS from the start', 'From severity': 'Critical' },
    fill: {
      ...{ 'Mail server': 'mail.shop.example', Port: '465', Sender: 'waf@shop.example' },
      ...{ 'User name': 'waf', Password: 'a password of a mailbox' },
      'Recipients, one a line': 'ops@shop.example\nduty@shop.example',
    },
    config: {
      ...{ host: 'mail.shop.example', port: 465, tls: 'tls', from: 'waf@shop.example' },
      ...{ username: 'waf', password: configured, minSeverity: 'ALERT_SEVERITY_CRITICAL' },
      to: ['ops@shop.example', 'duty@shop.example'],
    },
  },
  {
    kind: 'Webhook',
    fill: {
      'Address that is called': hook,
      'Secret that signs the messages': 'a secret of messages',
      'Header fields, one `Name: value` a line': 'X-Team: ops\nAuthorization: Bearer abc',
    },
    config: {
      ...{ url: hook, secret: configured, locale: 'en-US' },
      headers: { 'X-Team': 'ops', Authorization: configured },
    },
  },
  { kind: 'Slack', fill: { 'Webhook address': hook }, config: { webhookUrl: configured } },
  {
    kind: 'PagerDuty',
    fill: { 'Integration key': 'R0123456789ABCDEF0123456789ABCDE' },
    config: { routingKey: configured },
  },
  {
    kind: 'Feishu',
    fill: { 'Webhook address': hook, 'Secret that signs the messages': 'a secret of messages' },
    config: { webhookUrl: configured, secret: configured },
  },
  {
    kind: 'WeCom',
    choose: { 'Language of the messages': '简体中文' },
    fill: { 'Webhook address': hook },
    config: { webhookUrl: configured, locale: 'zh-CN' },
  },
];

async function addChannel(desk: Desk, world: World, of: ChannelForm): Promise<void> {
  const name = `Task ${of.kind}`;
  const form = 'Add a channel';
  // The form of the task before was open.
  await desk.go('/account');
  await desk.go('/alerts?tab=channels');
  await desk.press(form);
  await desk.fill('Name', name, form);
  await desk.choose('Kind', of.kind, form);
  for (const [label, words] of Object.entries(of.choose ?? {})) {
    await desk.choose(label, words, form);
  }
  for (const [label, text] of Object.entries(of.fill)) await desk.fill(label, text, form);
  await desk.press('Add', form);
  await eventually(async () => {
    const rows = await desk.page.$$eval('main tbody tr', (all) =>
      all.map((row) => row.textContent),
    );
    return rows.some((row) => row.includes(name));
  });
  const { items } = await world.call('AlertService/ListAlertChannels', {});
  const added = (items as { name: string }[]).find((one) => one.name === name);
  expect(added).toMatchObject({ enabled: true, config: of.config });
}

/** One rule: what is entered, the condition that the API has then, and how the list says it. */
interface RuleForm {
  readonly kind: string;
  readonly words: string;
  readonly fill?: Readonly<Record<string, string>>;
  readonly choose?: Readonly<Record<string, string>>;
  readonly condition: object;
  readonly said: string;
}

const rules: readonly RuleForm[] = [
  {
    ...{ kind: 'security_threshold', words: 'there are many security events' },
    ...{ fill: { Events: '20000', 'In seconds': '60' }, choose: { 'Which events': 'Blocked' } },
    condition: { threshold: 20_000, windowSeconds: 60, filter: { outcome: 'blocked' } },
    said: '20,000 blocked attacks in 60 s',
  },
  {
    ...{ kind: 'cert_expiring', words: 'a certificate ends soon' },
    fill: { 'Days before its end': '3' },
    condition: { withinDays: 3 },
    said: 'A certificate ends within 3 days',
  },
  {
    ...{ kind: 'log_storage', words: 'logs fill the disk', choose: { 'From state': 'Nearly' } },
    condition: { filter: { minimumStatus: 'critical' } },
    said: 'Logs fill the disk',
  },
  {
    ...{ kind: 'origin_down', words: 'an origin does not answer' },
    condition: { filter: {} },
    said: 'An origin does not answer',
  },
  {
    ...{ kind: 'node_offline', words: 'a node is offline' },
    condition: { filter: {} },
    said: 'A node is offline',
  },
];

async function addRule(desk: Desk, world: World, of: RuleForm): Promise<void> {
  const form = 'Add a rule';
  const name = `Task ${of.kind}`;
  const channel = { name: `Told by ${of.kind}`, kind: 'ALERT_CHANNEL_KIND_SLACK', enabled: false };
  const made = await world.call('AlertService/UpsertAlertChannel', {
    channel: { ...channel, config: { webhookUrl: hook } },
  });
  await desk.go('/account');
  await desk.go('/alerts?tab=rules');
  await desk.press(form);
  await desk.fill('Name', name, form);
  await desk.choose('Alert when', of.words, form);
  for (const [label, text] of Object.entries(of.fill ?? {})) await desk.fill(label, text, form);
  for (const [label, words] of Object.entries(of.choose ?? {})) {
    await desk.choose(label, words, form);
  }
  await desk.choose('Tell', channel.name, form);
  await desk.press('Add', form);
  await desk.shows(name);
  const row = await desk.page.$$eval(
    'main tbody tr',
    (all, wanted) => all.map((one) => one.textContent).find((text) => text.includes(wanted)),
    name,
  );
  expect(row).toContain(of.said);
  // The fields that are shown are those of the kind that is chosen, for the next rule, too.
  expect(await desk.held('Alert when', form)).toBe(of.kind);
  expect(row).toContain(channel.name);
  const { items } = await world.call('AlertService/ListAlertRules', {});
  const found = (items as { name: string; id: string; expression: string }[]).find(
    (one) => one.name === name,
  )!;
  const { id: channelId } = made['channel'] as { id: string };
  expect(found).toMatchObject({ enabled: true, channelIds: [channelId] });
  expect(JSON.parse(found.expression)).toMatchObject({ kind: of.kind, ...of.condition });
  await world.call('AlertService/DeleteAlertRule', { id: found.id });
}

/** One DNS provider: its name at the API, what it asks for, and what the API has of it then. */
interface ProviderForm {
  readonly driver: string;
  readonly fill: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string>>;
}

const providers: readonly ProviderForm[] = [
  { driver: 'cloudflare', fill: { 'API token': 'token-of-a-zone' }, settings: {} },
  ...['aliyun', 'route53'].map((driver) => ({
    driver,
    fill: { 'Access key': 'AKEXAMPLE', 'Secret of the access key': 'a-secret' },
    settings: {},
  })),
  {
    driver: 'rfc2136',
    fill: {
      ...{ 'Server that takes updates': '192.0.2.53:53', 'Name of the TSIG key': 'waf-key' },
      'Secret of the TSIG key, base64': 'c2VjcmV0',
    },
    settings: { server: '192.0.2.53:53', keyName: 'waf-key' },
  },
];

async function addProvider(desk: Desk, world: World, of: ProviderForm): Promise<void> {
  const { driver } = of;
  const form = 'Add a DNS provider';
  const name = `Task ${driver}`;
  await desk.go('/account');
  await desk.go('/certificates');
  await desk.press(form);
  await desk.fill('Name', name, form);
  await desk.choose('Provider', driver, form);
  await desk.fill('Zones', `${driver}.example`, form);
  for (const [label, entered] of Object.entries(of.fill)) await desk.fill(label, entered, form);
  await desk.press('Add', form);
  await desk.shows(name);
  const { items } = await world.call('CertService/ListDNSProviders', {});
  const added = (items as { name: string; settings?: object }[]).find((one) => one.name === name);
  expect(added).toMatchObject({ provider: driver, zones: [`${driver}.example`] });
  expect(added?.settings ?? {}).toEqual(of.settings);
}

/** The table. */
export const channelTasks: readonly Task[] = [
  ...channels.map((of) => ({
    id: `alert-channel-${of.kind.toLowerCase()}`,
    page: 'Alerts',
    does: `adds a channel of the kind ${of.kind}, by the fields that this kind has`,
    expects: 'it is in the list, and its secrets are kept and never shown',
    run: (desk: Desk, world: World) => addChannel(desk, world, of),
  })),
  ...rules.map((of) => ({
    id: `alert-rule-${of.kind}`,
    page: 'Alerts',
    does: `adds a rule of the kind ${of.kind}, by its numbers and the channel that it tells`,
    expects: 'the API has the condition and the channel; the list says both in words',
    run: (desk: Desk, world: World) => addRule(desk, world, of),
  })),
  ...providers.map((of) => ({
    id: `dns-provider-${of.driver}`,
    page: 'Certificates',
    does: `adds an account at ${of.driver}, by the fields that it asks for`,
    expects: 'it is in the list with its zones and settings',
    run: (desk: Desk, world: World) => addProvider(desk, world, of),
  })),
];
