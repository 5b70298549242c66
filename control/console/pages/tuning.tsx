/** Tuning: suspected false positives with examples, and what another setting would change. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  ReplayService,
  type ReplayDifference,
  type ReplaySummary,
} from '../../../proto/gen/waf/replay/v1/replay_pb.ts';
import {
  LogService,
  SecurityEventOutcome,
  type SecurityEvent,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { EngineState, PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { address } from '../address.ts';
import { useCall } from '../call.ts';
import { lazy } from '../lazy.tsx';
import { Edit, type Values } from '../parts/edit.tsx';
import { Link } from '../parts/link.tsx';
import { allItems } from '../parts/list.tsx';
import { Card, Head } from '../parts/panel.tsx';
import { SpanChoice } from '../parts/span-choice.tsx';
import { Failure, State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { MessageText, VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { exactNumber, pageTexts, t } from '../text/text.ts';
import { spanOf, timeRange } from '../time-span.ts';
import { suspectsOf, type Suspect } from './suspicion.ts';

const Learning = lazy(async () => (await import('./learning.tsx')).Learning);
const logs = createClient(LogService, transport);
const policies = createClient(PolicyService, transport);
const replays = createClient(ReplayService, transport);
const eventsMax = 500;
const pageSize = 100;
const suspectsShown = 50;
const differencesShown = 20;

const w = pageTexts({
  title: ['Tuning', '调优'],
  note: [
    'Rules that probably meet honest requests, and what a change would do.',
    '可能误伤正常请求的规则，以及调整后的效果。',
  ],
  suspects: ['Suspected false positives', '疑似误报'],
  suspectsNote: [
    'From the newest {count} events of this time. Many clients, one path, low scores: probably honest.',
    '基于此时间段内最新的 {count} 个事件。客户端多、路径单一、分数低：很可能是正常请求。',
  ],
  suspicion: ['Suspicion', '可疑度'],
  rule: ['Rule', '规则'],
  place: ['Found in', '位置'],
  events: ['Events', '事件'],
  clients: ['Clients', '客户端'],
  paths: ['Paths', '路径'],
  score: ['Mean score', '平均分数'],
  examples: ['Examples: open one to allow it', '示例：打开即可放行'],
  none: ['No event in this time: nothing to tune.', '此时间段内没有事件，无需调优。'],
  draft: ['Try another setting on retained requests', '用保留的请求试算其他设置'],
  draftNote: [
    'Nothing changes. The requests that are kept are inspected again.',
    '不会更改任何设置，仅重新检测保留的请求。',
  ],
  policy: ['Policy', '策略'],
  level: ['Paranoia level', '偏执级别'],
  threshold: ['Blocks from score', '拦截分数'],
  mode: ['Rules', '规则引擎'],
  on: ['Block', '拦截'],
  detect: ['Only record', '仅记录'],
  run: ['Try', '试算'],
  progress: ['{done} of {total} tried', '已试算 {done} / {total}'],
  result: [
    'Tried {replayed}. Newly blocked: {blocked}. Newly passed: {passed}.',
    '试算 {replayed} 个。新拦截：{blocked}，新放行：{passed}。',
  ],
  nowBlocked: ['Newly blocked', '新拦截'],
  nowPassed: ['Newly passed', '新放行'],
  request: ['Request', '请求'],
  same: ['No retained request would be judged differently.', '保留的请求判定均无变化。'],
});

/** The page. */
export function Tuning(): JSX.Element {
  const span = spanOf(address.value.query.get('span'));
  const found = useCall(span, newestEvents);
  return (
    <>
      <div class="head">
        <Head title={w('title')} note={w('note')} />
        <SpanChoice />
      </div>
      <State of={found}>{(events) => <Suspects events={events} />}</State>
      <Learning />
      <Draft />
    </>
  );
}

async function newestEvents(signal: AbortSignal): Promise<SecurityEvent[]> {
  const range = timeRange(spanOf(address.value.query.get('span')));
  const events: SecurityEvent[] = [];
  let cursor = '';
  do {
    const answer = await logs.querySecurityEvents(
      { page: { pageSize, cursor }, timeRange: range, outcome: SecurityEventOutcome.ANY },
      { signal },
    );
    events.push(...answer.items);
    cursor = answer.page?.hasMore === true ? answer.page.nextCursor : '';
  } while (cursor !== '' && events.length < eventsMax);
  return events;
}

function Suspects({ events }: { readonly events: readonly SecurityEvent[] }): JSX.Element {
  const all = suspectsOf(events);
  const suspects = all.slice(0, suspectsShown);
  const examples = ({ examples: some }: Suspect): JSX.Element => (
    <ul class="plain">
      {some.map(({ id, method, host, path, clientIp }) => (
        <li>
          <Link href={`/attacks/${id}`}>
            <VisibleText text={`${method} ${host}${path}`} />
          </Link>{' '}
          <small>{clientIp}</small>
        </li>
      ))}
    </ul>
  );
  return (
    <Card title={w('suspects')} note={w('suspectsNote', { count: exactNumber(events.length) })}>
      <Table
        label={w('suspects')}
        items={suspects}
        empty={w('none')}
        sortable={suspects.length === all.length}
        columns={[
          {
            title: w('suspicion'),
            by: ({ suspicion }) => suspicion,
            of: ({ suspicion }) => (
              <span class="meter">
                <progress max={100} value={suspicion} aria-label={w('suspicion')} /> {suspicion}
              </span>
            ),
          },
          {
            title: w('rule'),
            by: ({ ruleId }) => ruleId,
            of: ({ ruleId, message }) => (
              <>
                <Link href={`/attacks?rule=${encodeURIComponent(ruleId)}`}>{ruleId}</Link>{' '}
                <small>
                  <MessageText text={message} />
                </small>
              </>
            ),
          },
          { title: w('place'), of: ({ place }) => place },
          { title: w('events'), number: true, by: (one) => one.events },
          { title: w('clients'), number: true, by: ({ clients }) => clients },
          { title: w('paths'), number: true, by: ({ paths }) => paths },
          {
            title: w('score'),
            number: true,
            by: ({ scoreMean }) => scoreMean,
            of: ({ scoreMean }) => scoreMean.toFixed(1),
          },
          { title: w('examples'), of: examples },
        ]}
      />
      <LeftOut count={all.length - suspects.length} />
    </Card>
  );
}

/** Says how many rows a table leaves out. */
function LeftOut({ count }: { readonly count: number }): JSX.Element | null {
  return count <= 0 ? null : (
    <p class="quiet">{t('allow.leftOut', { count: exactNumber(count) })}</p>
  );
}

interface Trial {
  readonly done: bigint;
  readonly total: bigint;
  readonly differences: readonly ReplayDifference[];
  readonly summary: ReplaySummary | null;
}

function Draft(): JSX.Element {
  const [trial, setTrial] = useState<Trial | null>(null);
  const found = useCall('policies', (signal) =>
    allItems((page) => policies.listPolicies({ page }, { signal })),
  );
  const known = (found.value ?? []).filter(({ isTemplate }) => !isTemplate);
  const run = async (values: Values): Promise<void> => {
    const policy = known.find(({ id }) => id === values['policy']) ?? known[0];
    if (policy === undefined) return;
    const candidate = {
      ...policy,
      engineState: Number(values['mode']) as EngineState,
      crsCore: {
        ...policy.crsCore!,
        blockingParanoiaLevel: Number(values['level']),
        detectionParanoiaLevel: Number(values['level']),
        inboundAnomalyScoreThreshold: Number(values['threshold']),
      },
    };
    let now: Trial = { done: 0n, total: 0n, differences: [], summary: null };
    for await (const { message } of replays.runReplay({ policyId: policy.id, candidate })) {
      if (message.case === 'progress') {
        now = { ...now, done: message.value.done, total: message.value.total };
      }
      if (message.case === 'difference') {
        now = { ...now, differences: [...now.differences, message.value] };
      }
      if (message.case === 'summary') now = { ...now, summary: message.value };
      setTrial(now);
    }
  };
  return (
    <Card title={w('draft')} note={w('draftNote')}>
      <Failure of={found} />
      <Edit
        label={w('draft')}
        codes={['policy:test', 'log:read']}
        submit={w('run')}
        done=""
        keep
        save={run}
        fields={[
          {
            name: 'policy',
            label: w('policy'),
            choices: known.map(({ id, name }) => [id, name] as const),
          },
          {
            name: 'mode',
            label: w('mode'),
            value: String(EngineState.ON),
            choices: [
              [String(EngineState.ON), w('on')],
              [String(EngineState.DETECTION_ONLY), w('detect')],
            ],
          },
          {
            name: 'level',
            label: w('level'),
            value: '1',
            choices: ['1', '2', '3', '4'].map((one) => [one, one] as const),
          },
          { name: 'threshold', label: w('threshold'), kind: 'number', value: '5' },
        ]}
      />
      <div aria-live="polite">{trial !== null && <Outcome trial={trial} />}</div>
    </Card>
  );
}

function Outcome({ trial }: { readonly trial: Trial }): JSX.Element {
  const { done, total, summary, differences } = trial;
  if (summary === null) {
    return (
      <p class="quiet">{w('progress', { done: exactNumber(done), total: exactNumber(total) })}</p>
    );
  }
  const lists = [
    ['nowBlocked', differences.filter(({ after }) => after?.blocked === true)],
    ['nowPassed', differences.filter(({ after }) => after?.blocked !== true)],
  ] as const;
  return (
    <>
      <p>
        {w('result', {
          replayed: exactNumber(summary.replayed),
          blocked: exactNumber(summary.newlyBlocked),
          passed: exactNumber(summary.newlyPassed),
        })}
      </p>
      {differences.length === 0 && <p class="quiet">{w('same')}</p>}
      {lists.map(([name, some]) =>
        some.length === 0 ? null : (
          <>
            <h3>{w(name)}</h3>
            <Table
              label={w(name)}
              items={some.slice(0, differencesShown)}
              empty=""
              sortable={some.length <= differencesShown}
              columns={[
                { title: w('request'), of: ({ method, host, path }) => `${method} ${host}${path}` },
                { title: w('rule'), of: ({ ruleIds }) => ruleIds.join(', ') },
              ]}
            />
            <LeftOut count={some.length - differencesShown} />
          </>
        ),
      )}
    </>
  );
}
