/** The form of a rule of alerts: each kind asks for its numbers; and what a rule says, in words. */

import { createClient } from '@connectrpc/connect';
import type { JsonObject } from '@bufbuild/protobuf';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  AlertService,
  type AlertChannel,
  type AlertSeverity,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { SiteService, type Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { useCall } from '../call.ts';
import type { Field, Values } from '../parts/edit.tsx';
import { allItems, FoldedEdit } from '../parts/list.tsx';
import { Failure } from '../parts/state.tsx';
import { transport } from '../session.ts';
import { exactNumber, pageTexts } from '../text/text.ts';
import { objectOf } from './setting-values.ts';

const alerts = createClient(AlertService, transport);
const sites = createClient(SiteService, transport);

const w = pageTexts({
  title: ['Add a rule', '添加规则'],
  add: ['Add', '添加'],
  name: ['Name', '名称'],
  kind: ['Alert when', '告警条件'],
  severity: ['Severity', '级别'],
  info: ['Info', '提示'],
  warning: ['Warning', '警告'],
  critical: ['Critical', '严重'],
  channel: ['Tell', '通知'],
  nobody: ['Nobody: shown here only', '不通知：仅在此处显示'],
  noChannel: [
    'No channel is there yet: alerts of this rule are shown here only.',
    '尚无通道：此规则的告警仅在此处显示。',
  ],
  threshold: ['Events', '事件数'],
  seconds: ['In seconds', '时间窗口（秒）'],
  outcome: ['Which events', '哪些事件'],
  any: ['All', '全部'],
  blocked: ['Blocked', '已拦截'],
  passed: ['Passed', '已放行'],
  site: ['Site', '站点'],
  everySite: ['Every site', '所有站点'],
  withinDays: ['Days before its end', '到期前天数'],
  status: ['From state', '自何种状态起'],
  fillsUp: ['Fills up', '即将占满'],
  nearlyFull: ['Nearly full', '几乎占满'],
  anyEvents: ['{count} security events in {seconds} s', '{seconds} 秒内 {count} 个安全事件'],
  blockedEvents: ['{count} blocked attacks in {seconds} s', '{seconds} 秒内拦截 {count} 次攻击'],
  passedEvents: ['{count} attacks that passed in {seconds} s', '{seconds} 秒内放行 {count} 次攻击'],
  expires: ['A certificate ends within {days} days', '证书将在 {days} 天内到期'],
});

/** What rules look for, by what people call it. */
const kindTexts = {
  security_threshold: ['there are many security events', '安全事件过多'],
  node_offline: ['a node is offline', '节点离线'],
  config_not_applied: ['a node does not take over the configuration', '节点未应用配置'],
  config_apply_failed: ['a node refused the configuration', '节点拒绝配置'],
  cert_expiring: ['a certificate ends soon', '证书即将到期'],
  origin_down: ['an origin does not answer', '源站无响应'],
  log_storage: ['logs fill the disk', '日志占满磁盘'],
} as const;
type Kind = keyof typeof kindTexts;
const kindName = pageTexts<Kind>(kindTexts);
const kinds = Object.keys(kindTexts) as Kind[];
const kindOf = (value: unknown): Kind | undefined => kinds.find((one) => one === value);

const outcomes = ['any', 'blocked', 'passed'] as const;
const outcomeOf = (value: unknown): (typeof outcomes)[number] =>
  outcomes.find((one) => one === value) ?? 'any';
const severities = ['info', 'warning', 'critical'] as const;

/** Names of what a condition is narrowed to; an outcome is part of its sentence. */
const isNarrowing = (name: string): boolean => name !== 'outcome';

/** What a rule says, in words; the condition itself where it is none that is known here. */
export function ruleText(expression: string, siteName: (id: string) => string): string {
  const condition = readJson(expression);
  const kind = kindOf(condition['kind']);
  if (kind === undefined) return expression;
  const filter = objectOf(condition['filter']);
  const narrowed = Object.entries(filter)
    .filter(([name]) => isNarrowing(name))
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value])
        .filter((one) => typeof one === 'string')
        .map((one) => narrowingText(name, one, siteName)),
    );
  return [sentenceOf(kind, condition, outcomeOf(filter['outcome'])), ...narrowed].join(' · ');
}

function narrowingText(name: string, value: string, siteName: (id: string) => string): string {
  if (name === 'siteId') return siteName(value);
  if (name !== 'minimumStatus') return value;
  return w(value === 'critical' ? 'nearlyFull' : 'fillsUp');
}

function sentenceOf(kind: Kind, condition: JsonObject, outcome: (typeof outcomes)[number]): string {
  const number = (name: string): string => exactNumber(Number(condition[name] ?? 0));
  if (kind === 'security_threshold') {
    return w(`${outcome}Events`, { count: number('threshold'), seconds: number('windowSeconds') });
  }
  if (kind === 'cert_expiring') return w('expires', { days: number('withinDays') });
  const name = kindName(kind);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The fields of a condition; none of what is no JSON, which is shown as it is. */
function readJson(text: string): JsonObject {
  try {
    return objectOf(JSON.parse(text) as JsonObject);
  } catch {
    return {};
  }
}

/** The form. */
export function AddRule({ changed }: { readonly changed: () => void }): JSX.Element {
  const [kind, setKind] = useState<Kind>('security_threshold');
  const channels = useCall('rule channels', (signal) =>
    allItems((page) => alerts.listAlertChannels({ page }, { signal })),
  );
  const known = useCall('rule sites', (signal) =>
    allItems((page) => sites.listSites({ page }, { signal })),
  );
  return (
    <>
      <Failure of={channels} />
      <FoldedEdit
        label={w('title')}
        codes={['alert:write']}
        submit={w('add')}
        fields={[
          { name: 'name', label: w('name'), required: true },
          {
            ...{ name: 'kind', label: w('kind'), value: kind },
            choices: kinds.map((one) => [one, kindName(one)] as const),
            chosen: (value) => setKind(kindOf(value) ?? kind),
          },
          ...fieldsOf(kind, known.value ?? []),
          {
            ...{ name: 'severity', label: w('severity'), value: '2' },
            choices: severities.map((one, at) => [String(at + 1), w(one)] as const),
          },
          channelField(channels.value ?? []),
        ]}
        save={(values) =>
          alerts.upsertAlertRule({
            rule: {
              name: values['name'] ?? '',
              expression: JSON.stringify(conditionOf(values)),
              severity: Number(values['severity']) as AlertSeverity,
              channelIds: [values['channel'] ?? ''].filter((id) => id !== ''),
              enabled: true,
            },
          })
        }
        saved={changed}
      />
    </>
  );
}

/** Who gets the alert: the first channel unless another one is chosen. */
const channelField = (known: readonly AlertChannel[]): Field => ({
  ...{ name: 'channel', api: ['channelIds'], label: w('channel'), value: known[0]?.id ?? '' },
  choices: [...known.map(({ id, name }) => [id, name] as const), ['', w('nobody')] as const],
  ...(known.length === 0 ? { hint: w('noChannel') } : {}),
});

/** What each kind asks for, by the names of the API. */
function fieldsOf(kind: Kind, known: readonly Site[]): readonly Field[] {
  const site: Field = {
    ...{ name: 'siteId', label: w('site'), value: '' },
    choices: [['', w('everySite')] as const, ...known.map(({ id, name }) => [id, name] as const)],
  };
  const number = { kind: 'number', required: true } as const;
  switch (kind) {
    case 'security_threshold':
      return [
        { name: 'threshold', label: w('threshold'), value: '100', ...number },
        { name: 'windowSeconds', label: w('seconds'), value: '300', ...number },
        {
          ...{ name: 'outcome', label: w('outcome'), value: 'any' },
          choices: outcomes.map((one) => [one, w(one)] as const),
        },
        site,
      ];
    case 'cert_expiring':
      return [{ name: 'withinDays', label: w('withinDays'), value: '14', ...number }, site];
    case 'origin_down':
      return [site];
    case 'log_storage':
      return [
        {
          ...{ name: 'minimumStatus', label: w('status'), value: 'warning' },
          choices: [
            ['warning', w('fillsUp')],
            ['critical', w('nearlyFull')],
          ],
        },
      ];
    case 'node_offline':
    case 'config_not_applied':
    case 'config_apply_failed':
      return [];
  }
}

/** The condition that was entered, as the API takes it. */
function conditionOf(values: Values): JsonObject {
  const entered = (names: readonly string[]): readonly (readonly [string, string])[] =>
    names.flatMap((name) => {
      const value = values[name] ?? '';
      return value === '' ? [] : [[name, value] as const];
    });
  const numbers = entered(['threshold', 'windowSeconds', 'withinDays']);
  return {
    kind: values['kind'] ?? '',
    filter: Object.fromEntries(entered(['siteId', 'outcome', 'minimumStatus'])),
    ...Object.fromEntries(numbers.map(([name, value]) => [name, Number(value)])),
  };
}
