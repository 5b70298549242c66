/** What is kept of requests and for how long, and what that takes of the disk. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import {
  LogDetailMode,
  LogService,
  LogStorageEstimateState as Estimate,
  LogStorageHealthStatus as Status,
  RequestEvidenceBodyMode as Bodies,
  RequestEvidenceMode as Evidence,
  type GlobalLogPolicy,
  type LogStorageHealth,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { useCall } from '../call.ts';
import { Edit, useBase, type Field } from '../parts/edit.tsx';
import { Card } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { byteText, exactNumber, pageTexts } from '../text/text.ts';

const logs = createClient(LogService, transport);
const dayS = 86_400n;

const w = pageTexts({
  keeping: ['What is kept', '保留设置'],
  accessMode: ['Requests', '请求'],
  securityMode: ['Security events', '安全事件'],
  none: ['None', '不保留'],
  exemplars: ['A few of each kind', '每类保留少量'],
  all: ['All', '全部'],
  evidenceMode: ['Header fields', '标头'],
  evidenceNone: ['Not kept', '不保留'],
  evidenceSecurity: ['Of security events', '安全事件的'],
  evidenceRetained: ['Of every request that is kept', '所有保留请求的'],
  bodyMode: ['Bodies', '正文'],
  bodyPrefix: ['Their beginning', '开头部分'],
  bodyFull: ['Whole, up to the bytes below', '完整，不超过以下字节数'],
  accessDays: ['Days requests are kept', '请求保留天数'],
  securityDays: ['Days security events are kept', '安全事件保留天数'],
  evidenceDays: ['Days evidence is kept', '证据保留天数'],
  bodyMax: ['Bytes of a body kept as evidence', '作为证据保留的正文字节数'],
  pairing: ['Keep evidence of blocked requests', '保留被拦截请求的证据'],
  risk: ['I accept that this may fill the disk', '我接受这可能占满磁盘'],
  save: ['Save', '保存'],
  storage: ['Storage', '存储'],
  state: ['State', '状态'],
  unknown: ['Unknown', '未知'],
  healthy: ['Healthy', '健康'],
  warning: ['Fills up', '即将占满'],
  critical: ['Nearly full', '几乎占满'],
  held: ['Logs take', '日志占用'],
  heldText: [
    '{logs}, evidence {evidence} of at most {quota}',
    '{logs}，证据 {evidence}，上限 {quota}',
  ],
  free: ['Free on the disk', '磁盘剩余'],
  freeText: ['{free} of {total}', '{free}，共 {total}'],
  growth: ['Growth per day', '每日增长'],
  left: ['Full in', '预计占满'],
  days: ['{days} days', '{days} 天'],
  collecting: ['Not known yet: an hour of traffic tells', '尚未知晓：需要一小时的流量'],
  never: ['Does not grow', '未增长'],
});

/** The view. */
export function Keeping(): JSX.Element {
  const found = useCall('policy', (signal) => logs.getGlobalLogPolicy({}, { signal }));
  return (
    <State of={found}>
      {({ policy, warnings, storageHealth }) => (
        <>
          {storageHealth !== undefined && <Storage of={storageHealth} />}
          <Card title={w('keeping')}>
            {warnings.map((warning) => (
              <p class="notice">
                <VisibleText text={said(warning)} />
              </p>
            ))}
            {policy !== undefined && <KeepingForm first={policy} changed={found.reload} />}
          </Card>
        </>
      )}
    </State>
  );
}

const states: Readonly<Record<Status, 'unknown' | 'healthy' | 'warning' | 'critical'>> = {
  [Status.UNSPECIFIED]: 'unknown',
  [Status.UNKNOWN]: 'unknown',
  [Status.HEALTHY]: 'healthy',
  [Status.WARNING]: 'warning',
  [Status.CRITICAL]: 'critical',
};

function Storage({ of }: { readonly of: LogStorageHealth }): JSX.Element {
  const { status, managedBytes, evidenceStoredBytes, evidenceQuotaBytes } = of;
  return (
    <Card title={w('storage')}>
      <dl class="facts">
        <dt>{w('state')}</dt>
        <dd class={status === Status.HEALTHY ? 'good' : 'warning'}>
          {w(states[status] ?? 'unknown')}
        </dd>
        <dt>{w('held')}</dt>
        <dd title={exactNumber(managedBytes)}>
          {w('heldText', {
            logs: byteText(managedBytes),
            evidence: byteText(evidenceStoredBytes),
            quota: byteText(evidenceQuotaBytes),
          })}
        </dd>
        <dt>{w('free')}</dt>
        <dd title={exactNumber(of.filesystemAvailableBytes)}>
          {w('freeText', {
            free: byteText(of.filesystemAvailableBytes),
            total: byteText(of.filesystemTotalBytes),
          })}
        </dd>
        <dt>{w('growth')}</dt>
        <dd>{isKnown(of) ? byteText(of.growthBytesPerDay) : '–'}</dd>
        <dt>{w('left')}</dt>
        <dd>{leftText(of)}</dd>
      </dl>
    </Card>
  );
}

const isKnown = ({ estimateState }: LogStorageHealth): boolean =>
  estimateState === Estimate.PRELIMINARY || estimateState === Estimate.READY;

/** When the disk is full as logs grow now. */
function leftText(of: LogStorageHealth): string {
  if (of.estimateState === Estimate.NOT_GROWING) return w('never');
  if (of.estimateState === Estimate.COLLECTING) return w('collecting');
  if (!isKnown(of)) return w('unknown');
  return w('days', { days: exactNumber(of.estimatedRemainingSeconds / dayS) });
}

const numbers = {
  accessDays: 'accessFullRetentionDays',
  securityDays: 'securityFullRetentionDays',
  evidenceDays: 'requestEvidenceRetentionDays',
  bodyMax: 'requestEvidenceBodyMaxBytes',
} as const;

const detail = [
  [LogDetailMode.ALL, 'all'],
  [LogDetailMode.EXEMPLARS, 'exemplars'],
  [LogDetailMode.NONE, 'none'],
] as const;

/** Fields of the policy that are one of some words. */
const choices = {
  accessMode: ['accessMode', detail],
  securityMode: ['securityMode', detail],
  evidenceMode: [
    'requestEvidenceMode',
    [
      [Evidence.OFF, 'evidenceNone'],
      [Evidence.SECURITY_ONLY, 'evidenceSecurity'],
      [Evidence.RETAINED_LOGS, 'evidenceRetained'],
    ],
  ],
  bodyMode: [
    'requestEvidenceBodyMode',
    [
      [Bodies.OFF, 'evidenceNone'],
      [Bodies.PREFIX, 'bodyPrefix'],
      [Bodies.FULL, 'bodyFull'],
    ],
  ],
} as const;

const plain = { ...numbers, ...namesOf(choices) };
type Name = keyof typeof plain;
const names = Object.keys(plain) as Name[];

function namesOf<T extends Record<string, readonly [string, unknown]>>(
  of: T,
): { readonly [K in keyof T]: T[K][0] } {
  const entries = Object.entries(of).map(([name, [field]]) => [name, field]);
  return Object.fromEntries(entries) as { readonly [K in keyof T]: T[K][0] };
}

/** What the fields hold for a policy. */
function keptValues({ policy }: GlobalLogPolicy): Record<string, string> {
  const entries = names.map((name) => [name, String(policy?.[plain[name]] ?? 0)]);
  return { ...Object.fromEntries(entries), pairing: policy?.evidencePairing === true ? 'on' : '' };
}

function fieldsOf(values: Readonly<Record<string, string>>): Field[] {
  const choosing = Object.entries(choices).map(([name, [field, list]]) => ({
    ...{ name, api: [field], label: w(name as keyof typeof choices), value: values[name] ?? '' },
    choices: list.map(([value, text]) => [String(value), w(text)] as const),
  }));
  const counting = Object.entries(numbers).map(([name, field]) => ({
    ...{ name, api: [field], label: w(name as keyof typeof numbers), value: values[name] ?? '' },
    kind: 'number' as const,
  }));
  return [
    ...choosing,
    ...counting,
    { name: 'pairing', label: w('pairing'), kind: 'check', value: values['pairing'] ?? '' },
    { name: 'risk', label: w('risk'), kind: 'check' },
  ];
}

function KeepingForm({
  first,
  changed,
}: {
  readonly first: GlobalLogPolicy;
  readonly changed: () => void;
}): JSX.Element {
  const base = useBase(first);
  const latest = async (): Promise<Record<string, string>> => {
    const { policy } = await logs.getGlobalLogPolicy({});
    if (policy !== undefined) base.current = policy;
    return keptValues(base.current);
  };
  return (
    <Edit
      label={w('keeping')}
      codes={['system:write']}
      submit={w('save')}
      base={base}
      saved={changed}
      fields={fieldsOf(keptValues(first))}
      latest={latest}
      apart
      save={async (entered) => {
        const wanted = names.map((name) => [plain[name], Number(entered[name])]);
        const { policy } = await logs.updateGlobalLogPolicy({
          policy: {
            ...base.current.policy!,
            ...Object.fromEntries(wanted),
            evidencePairing: entered['pairing'] === 'on',
          },
          expectedRevision: base.current.revision,
          acknowledgeStorageRisk: entered['risk'] === 'on',
        });
        if (policy !== undefined) base.current = policy;
      }}
    />
  );
}
