/** The form of a channel of alerts: each kind asks for what it sends to. */

import { createClient } from '@connectrpc/connect';
import type { JsonObject } from '@bufbuild/protobuf';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { AlertChannelKind, AlertService } from '../../../proto/gen/waf/v1/alert_pb.ts';
import { partsOf, type Field, type Values } from '../parts/edit.tsx';
import { FoldedEdit } from '../parts/list.tsx';
import { transport } from '../session.ts';
import { language, languages, pageTexts, timeZone } from '../text/text.ts';

const alerts = createClient(AlertService, transport);

const w = pageTexts({
  title: ['Add a channel', '添加通道'],
  add: ['Add', '添加'],
  name: ['Name', '名称'],
  kind: ['Kind', '类型'],
  url: ['Address that is called', '调用的地址'],
  urlHint: ['For example https://hooks.shop.example/waf', '例如 https://hooks.shop.example/waf'],
  secret: ['Secret that signs the messages', '用于签名消息的密钥'],
  headers: ['Header fields, one `Name: value` a line', '请求头，每行一个“名称: 值”'],
  header: [
    'Write each header field as a name, a colon and a value.',
    '请以“名称: 值”书写每个请求头。',
  ],
  webhookUrl: ['Webhook address', 'Webhook 地址'],
  routingKey: ['Integration key', '集成密钥'],
  host: ['Mail server', '邮件服务器'],
  port: ['Port', '端口'],
  tls: ['Encryption', '加密'],
  starttls: ['STARTTLS', 'STARTTLS'],
  wholeTls: ['TLS from the start', '直接使用 TLS'],
  noTls: ['None', '无'],
  username: ['User name', '用户名'],
  password: ['Password', '密码'],
  from: ['Sender', '发件人'],
  to: ['Recipients, one a line', '收件人，每行一个'],
  minSeverity: ['From severity', '最低级别'],
  info: ['Info', '提示'],
  warning: ['Warning', '警告'],
  critical: ['Critical', '严重'],
  locale: ['Language of the messages', '消息语言'],
  timezone: ['Time zone of the messages', '消息时区'],
});

const kinds = ['EMAIL', 'WEBHOOK', 'SLACK', 'PAGERDUTY', 'FEISHU', 'WECOM'] as const;
type Kind = (typeof kinds)[number];
const kindOf = (value: string | undefined): Kind => kinds.find((one) => one === value) ?? 'WEBHOOK';

/** The kinds by what people call them. */
const kindNames = pageTexts<Kind>({
  EMAIL: ['Email', '邮件'],
  WEBHOOK: ['Webhook', 'Webhook'],
  SLACK: ['Slack', 'Slack'],
  PAGERDUTY: ['PagerDuty', 'PagerDuty'],
  FEISHU: ['Feishu', '飞书'],
  WECOM: ['WeCom', '企业微信'],
});

/** What people call a kind; '' for one that is not known here. */
export function channelName(kind: AlertChannelKind): string {
  const name = kinds[kind - 1];
  return name === undefined ? '' : kindNames(name);
}

type Asked = 'url' | 'secret' | 'headers' | 'webhookUrl' | 'routingKey' | 'host' | 'port' | 'tls';
type Mailed = 'username' | 'password' | 'from' | 'to';

const field = (name: Asked | Mailed, more: Partial<Field> = {}): Field => ({
  ...{ name, label: w(name) },
  ...more,
});

/** What each kind asks for, by the names of the API. */
function fieldsOf(kind: Kind): readonly Field[] {
  const secret = field('secret', { kind: 'password' });
  const webhook = field('webhookUrl', { required: true });
  switch (kind) {
    case 'EMAIL':
      return mailFields();
    case 'WEBHOOK':
      return [
        field('url', { required: true, hint: w('urlHint') }),
        secret,
        field('headers', { kind: 'area' }),
      ];
    case 'PAGERDUTY':
      return [field('routingKey', { kind: 'password', required: true })];
    case 'FEISHU':
      return [webhook, secret];
    case 'SLACK':
    case 'WECOM':
      return [webhook];
  }
}

const mailFields = (): readonly Field[] => [
  field('host', { required: true }),
  field('port', { kind: 'number', value: '587' }),
  field('tls', {
    value: 'starttls',
    choices: [
      ['starttls', w('starttls')],
      ['tls', w('wholeTls')],
      ['none', w('noTls')],
    ],
  }),
  field('username'),
  field('password', { kind: 'password' }),
  field('from', { required: true }),
  field('to', { kind: 'area', required: true }),
];

/** What holds for every kind. */
const messageFields = (): readonly Field[] => [
  {
    name: 'minSeverity',
    label: w('minSeverity'),
    value: 'info',
    choices: (['info', 'warning', 'critical'] as const).map((one) => [one, w(one)] as const),
  },
  {
    name: 'locale',
    label: w('locale'),
    value: language.value === 'en' ? 'en-US' : 'zh-CN',
    choices: [
      ['en-US', languages.en],
      ['zh-CN', languages['zh-CN']],
    ],
  },
  { name: 'timezone', label: w('timezone'), value: timeZone() },
];

/** The settings that were entered, as the API takes them. Errors: a header field has no value. */
export function configOf(values: Values): JsonObject {
  const { name: _name, kind: _kind, port, to, headers, ...texts } = values;
  const config: JsonObject = { ...texts };
  if (port !== undefined && port !== '') config['port'] = Number(port);
  if (to !== undefined) config['to'] = partsOf(to);
  if (headers !== undefined && headers.trim() !== '') {
    config['headers'] = Object.fromEntries(headers.trim().split('\n').map(headerOf));
  }
  return config;
}

function headerOf(line: string): readonly [name: string, value: string] {
  const cut = line.indexOf(':');
  const pair = [line.slice(0, cut).trim(), line.slice(cut + 1).trim()] as const;
  if (cut < 1 || pair[1] === '') throw new Error(w('header'));
  return pair;
}

/** The form. */
export function AddChannel({ changed }: { readonly changed: () => void }): JSX.Element {
  const [kind, setKind] = useState<Kind>('WEBHOOK');
  return (
    <FoldedEdit
      label={w('title')}
      codes={['alert:write']}
      submit={w('add')}
      fields={[
        { name: 'name', label: w('name'), required: true },
        {
          name: 'kind',
          label: w('kind'),
          value: kind,
          choices: kinds.map((one) => [one, kindNames(one)] as const),
          chosen: (value) => setKind(kindOf(value)),
        },
        ...fieldsOf(kind),
        ...messageFields(),
      ]}
      save={(values) =>
        alerts.upsertAlertChannel({
          channel: {
            name: values['name'] ?? '',
            enabled: true,
            kind: AlertChannelKind[kindOf(values['kind'])],
            config: configOf(values),
          },
        })
      }
      saved={changed}
    />
  );
}
