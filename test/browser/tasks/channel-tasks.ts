/** Tasks of accounts elsewhere: channels of alerts by kind, DNS providers by what each asks for. */

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
  ...providers.map((of) => ({
    id: `dns-provider-${of.driver}`,
    page: 'Certificates',
    does: `adds an account at ${of.driver}, by the fields that it asks for`,
    expects: 'it is in the list with its zones and settings',
    run: (desk: Desk, world: World) => addProvider(desk, world, of),
  })),
];
