/** Alerts: what fired, the rules, the channels that tell people, and silences. */

import { createClient } from '@connectrpc/connect';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import {
  AlertService,
  AlertSeverity,
  AlertStatus,
  type Alert,
  type AlertChannel,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { allItems, FoldedEdit, List, usePages } from '../parts/list.tsx';
import { Head, Tabs } from '../parts/panel.tsx';
import { useSiteNames } from '../parts/site-names.tsx';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { pageTexts } from '../text/text.ts';
import { AddChannel, channelName } from './alert-channel-form.tsx';
import { AddRule, ruleText } from './alert-rule-form.tsx';

const alerts = createClient(AlertService, transport);
const hourMs = 3_600_000;

const w = pageTexts({
  title: ['Alerts', '告警'],
  note: [
    'What needs a person, and how that person is notified.',
    '需要人工处理的事项及其通知方式。',
  ],
  fired: ['Alerts', '告警'],
  rules: ['Rules', '规则'],
  channels: ['Channels', '通道'],
  silences: ['Silences', '静默'],
  when: ['Opened', '触发时间'],
  what: ['Alert', '内容'],
  severity: ['Severity', '级别'],
  state: ['State', '状态'],
  info: ['Info', '提示'],
  warning: ['Warning', '警告'],
  critical: ['Critical', '严重'],
  open: ['Open', '未处理'],
  acked: ['Acknowledged', '已确认'],
  resolved: ['Resolved', '已解决'],
  ack: ['Acknowledge', '确认'],
  resolve: ['Resolve', '解决'],
  calm: ['No alert. Rules decide when one opens.', '没有告警。由规则决定何时触发。'],
  name: ['Name', '名称'],
  expression: ['Alert when', '告警条件'],
  told: ['Tells', '通知'],
  nobody: ['Nobody: shown here only', '不通知：仅在此处显示'],
  on: ['On', '启用'],
  off: ['Off', '停用'],
  turnOn: ['Turn on', '启用'],
  turnOff: ['Turn off', '停用'],
  remove: ['Delete', '删除'],
  removeAsk: ['Delete it?', '确定删除？'],
  noRule: ['No rule: nothing is ever alerted.', '没有规则：不会产生告警。'],
  noChannels: ['No channel: alerts are shown here only.', '没有通道：告警仅显示在此处。'],
  kind: ['Kind', '类型'],
  sent: ['Sent', '已发送'],
  failed: ['Failed', '失败'],
  test: ['Send a test', '发送测试'],
  matchers: ['Silences alerts with', '静默条件'],
  until: ['Until', '截止'],
  reason: ['Reason', '原因'],
  noSilence: ['No silence.', '没有静默。'],
  addSilence: ['Silence alerts', '静默告警'],
  label: ['Label', '标签'],
  value: ['Value', '值'],
  hours: ['For hours', '小时数'],
  alertKind: ['Kind of alert', '告警类型'],
  rule: ['Id of the rule', '规则标识'],
  site: ['Id of the site', '站点标识'],
  node: ['Id of the node', '节点标识'],
});

const severities: Readonly<Record<number, 'info' | 'warning' | 'critical'>> = {
  [AlertSeverity.INFO]: 'info',
  [AlertSeverity.WARNING]: 'warning',
  [AlertSeverity.CRITICAL]: 'critical',
};
const states: Readonly<Record<number, 'open' | 'acked' | 'resolved'>> = {
  [AlertStatus.OPEN]: 'open',
  [AlertStatus.ACKED]: 'acked',
  [AlertStatus.RESOLVED]: 'resolved',
};
/** Labels of alerts that a silence can name, and what people call them. */
const labels = {
  severity: 'severity',
  kind: 'alertKind',
  ruleId: 'rule',
  siteId: 'site',
  agentId: 'node',
} as const;
const isLabel = (name: string): name is keyof typeof labels => Object.hasOwn(labels, name);

/** A label with its value; a severity as people write it. */
function matcherText([name, value]: readonly [name: string, value: string]): string {
  const [, level = ''] = /^ALERT_SEVERITY_(\w+)$/.exec(value) ?? [];
  const severity = Object.values(severities).find((one) => one === level.toLowerCase());
  return `${isLabel(name) ? w(labels[name]) : name}: ${severity === undefined ? value : w(severity)}`;
}

/** The page. */
export function Alerts(): JSX.Element {
  return (
    <>
      <Head title={w('title')} note={w('note')} />
      <Tabs
        label={w('title')}
        tabs={[
          { name: 'alerts', title: w('fired'), view: () => <Fired /> },
          { name: 'rules', title: w('rules'), view: () => <Rules /> },
          { name: 'channels', title: w('channels'), view: () => <Channels /> },
          { name: 'silences', title: w('silences'), view: () => <Silences /> },
        ]}
      />
    </>
  );
}

function Severity({ of }: { readonly of: AlertSeverity }): JSX.Element {
  const name = severities[of] ?? 'info';
  const look = { info: '', warning: 'warning', critical: 'blocked' }[name];
  return <span class={`badge ${look}`}>{w(name)}</span>;
}

function Fired(): JSX.Element {
  const found = usePages('alerts', (page, signal) => alerts.listAlerts({ page }, { signal }));
  const act = ({ id, status }: Alert): JSX.Element => (
    <span class="actions">
      {status === AlertStatus.OPEN && (
        <Act
          label={w('ack')}
          codes={['alert:ack']}
          run={() => alerts.ackAlert({ id })}
          done={found.reload}
        />
      )}
      {status !== AlertStatus.RESOLVED && (
        <Act
          label={w('resolve')}
          codes={['alert:resolve']}
          run={() => alerts.resolveAlert({ id })}
          done={found.reload}
        />
      )}
    </span>
  );
  return (
    <List
      of={found}
      label={w('fired')}
      empty={w('calm')}
      columns={[
        { title: w('when'), by: ({ openedAt }) => openedAt },
        {
          title: w('severity'),
          by: ({ severity }) => severity,
          of: ({ severity }) => <Severity of={severity} />,
        },
        {
          title: w('what'),
          of: ({ title, message }) => [title, message].filter(Boolean).map(said).join(': '),
        },
        { title: w('state'), of: ({ status }) => w(states[status] ?? 'open') },
        { title: '', of: act },
      ]}
    />
  );
}

function Rules(): JSX.Element {
  const found = usePages('rules', (page, signal) => alerts.listAlertRules({ page }, { signal }));
  const known = useCall('told channels', (signal) =>
    allItems((page) => alerts.listAlertChannels({ page }, { signal })),
  );
  const siteName = useSiteNames();
  return (
    <>
      <List
        of={found}
        label={w('rules')}
        empty={w('noRule')}
        columns={[
          { title: w('name'), of: ({ name }) => name },
          {
            title: w('severity'),
            by: ({ severity }) => severity,
            of: ({ severity }) => <Severity of={severity} />,
          },
          {
            title: w('expression'),
            of: ({ expression }) => (
              <span title={expression}>{ruleText(expression, siteName)}</span>
            ),
          },
          { title: w('told'), of: ({ channelIds }) => toldText(channelIds, known.value ?? []) },
          { title: w('state'), of: ({ enabled }) => w(enabled ? 'on' : 'off') },
          {
            title: '',
            of: (rule) => (
              <span class="actions">
                <Act
                  label={w(rule.enabled ? 'turnOff' : 'turnOn')}
                  codes={['alert:write']}
                  run={() =>
                    alerts.upsertAlertRule({
                      rule: { ...rule, enabled: !rule.enabled },
                      updateMask: 'enabled',
                      ...(rule.updatedAt === undefined
                        ? {}
                        : { expectedUpdatedAt: rule.updatedAt }),
                    })
                  }
                  done={found.reload}
                />
                <Act
                  label={w('remove')}
                  ask={w('removeAsk')}
                  codes={['alert:write']}
                  run={() => alerts.deleteAlertRule({ id: rule.id })}
                  done={found.reload}
                />
              </span>
            ),
          },
        ]}
      />
      <AddRule changed={found.reload} />
    </>
  );
}

/** The names of the channels that a rule tells. */
function toldText(ids: readonly string[], known: readonly AlertChannel[]): string {
  if (ids.length === 0) return w('nobody');
  return ids.map((id) => known.find((one) => one.id === id)?.name ?? id).join(', ');
}

function Channels(): JSX.Element {
  const found = usePages('channels', (page, signal) =>
    alerts.listAlertChannels({ page }, { signal }),
  );
  return (
    <>
      <List
        of={found}
        label={w('channels')}
        empty={w('noChannels')}
        columns={[
          { title: w('name'), of: ({ name }) => name },
          { title: w('kind'), of: ({ kind }) => channelName(kind) },
          {
            title: w('sent'),
            number: true,
            by: ({ health }) => health?.sentCount ?? 0,
          },
          {
            title: w('failed'),
            number: true,
            by: ({ health }) => health?.failedCount ?? 0,
          },
          {
            title: w('state'),
            of: ({ health, enabled }) => said(health?.lastError ?? '') || w(enabled ? 'on' : 'off'),
          },
          {
            title: '',
            of: (channel) => (
              <span class="actions">
                <Act
                  label={w('test')}
                  codes={['alert:write']}
                  run={async () => {
                    const { success, message } = await alerts.testAlertChannel({ channel });
                    if (!success) throw new Error(message);
                  }}
                  done={found.reload}
                />
                <Act
                  label={w('remove')}
                  ask={w('removeAsk')}
                  codes={['alert:write']}
                  run={() => alerts.deleteAlertChannel({ id: channel.id })}
                  done={found.reload}
                />
              </span>
            ),
          },
        ]}
      />
      <AddChannel changed={found.reload} />
    </>
  );
}

function Silences(): JSX.Element {
  const found = usePages('silences', (page, signal) =>
    alerts.listAlertSilences({ page }, { signal }),
  );
  return (
    <>
      <List
        of={found}
        label={w('silences')}
        empty={w('noSilence')}
        columns={[
          {
            title: w('matchers'),
            of: ({ matchers }) => Object.entries(matchers).map(matcherText).join(', '),
          },
          { title: w('until'), by: ({ endsAt }) => endsAt },
          { title: w('reason'), of: ({ reason }) => reason },
        ]}
        remove={{
          label: w('remove'),
          codes: ['alert:write'],
          run: ({ id }) => alerts.deleteAlertSilence({ id }),
        }}
      />
      <FoldedEdit
        label={w('addSilence')}
        codes={['alert:write']}
        submit={w('addSilence')}
        fields={[
          {
            name: 'label',
            api: ['matchers'],
            label: w('label'),
            value: 'severity',
            choices: Object.keys(labels)
              .filter(isLabel)
              .map((name) => [name, w(labels[name])] as const),
          },
          { name: 'value', label: w('value'), value: 'info', required: true },
          { name: 'hours', api: ['endsAt'], label: w('hours'), kind: 'number', value: '4' },
          { name: 'reason', label: w('reason'), required: true },
        ]}
        save={async ({ label = '', value = '', hours, reason = '' }) => {
          const now = Date.now();
          await alerts.createAlertSilence({
            matchers: { [label]: value },
            startsAt: timestampFromMs(now),
            endsAt: timestampFromMs(now + Number(hours) * hourMs),
            reason,
          });
        }}
        saved={found.reload}
      />
    </>
  );
}
