/** The ruleset of a policy: the one that decides, another beside it on live traffic, the switch. */

import { Code, ConnectError, createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { CrsService, type CrsRuleset } from '../../../proto/gen/waf/v1/crs_pb.ts';
import { PolicyService, type Policy } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { ShadowService, type ShadowRun } from '../../../proto/gen/waf/shadow/v1/shadow_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { Edit } from '../parts/edit.tsx';
import { allItems } from '../parts/list.tsx';
import { Card, Sentence } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { transport } from '../session.ts';
import { localTime, pageTexts } from '../text/text.ts';

const crs = createClient(CrsService, transport);
const policies = createClient(PolicyService, transport);
const shadows = createClient(ShadowService, transport);

const w = pageTexts({
  title: ['Ruleset', '规则集'],
  note: [
    'The ruleset whose rules decide. Try another one on live traffic before you switch to it.',
    '由其规则作出判定的规则集。切换之前，可先用实时流量试运行另一规则集。',
  ],
  version: ['Version', '版本'],
  rules: ['Rules', '规则数'],
  imported: ['Imported', '导入时间'],
  inUse: ['In use', '使用中'],
  use: ['Switch to it', '切换到此规则集'],
  useAsk: ['Let its rules decide from now on?', '从现在起由其规则判定？'],
  none: ['No ruleset is imported.', '未导入规则集。'],
  shadow: ['Another ruleset beside it', '试运行另一规则集'],
  shadowNote: [
    'Each request of the share is inspected twice until the time is over, which costs the CPU time of a second inspection. The other ruleset blocks nothing. Answers and bodies over 64 KB are not compared.',
    '在此期间所选比例的每个请求检测两次，需要第二次检测的 CPU 时间。另一规则集不会拦截任何请求。响应和超过 64 KB 的请求体不参与比较。',
  ],
  only: [
    'No other ruleset is imported. `waf crs import` imports one.',
    '没有导入其他规则集。可用 `waf crs import` 导入。',
  ],
  other: ['Ruleset to try', '要试运行的规则集'],
  time: ['For', '时长'],
  share: ['Share of the requests, drawn at random, in percent', '随机抽取的请求比例（百分比）'],
  ofAll: ['{share} % of the requests are drawn.', '抽取 {share}% 的请求。'],
  notSelected: ['Not drawn', '未抽取'],
  hour: ['1 hour', '1 小时'],
  day: ['1 day', '1 天'],
  week: ['7 days', '7 天'],
  month: ['30 days', '30 天'],
  start: ['Start', '开始'],
  started: ['Started. Compiling rules…', '已开始，正在编译规则…'],
  runs: ['{other} beside {current}, until {until}', '{other} 与 {current} 并行，直至 {until}'],
  ended: [
    '{other} beside {current}, ended {until}',
    '{other} 与 {current} 并行，已于 {until} 结束',
  ],
  stop: ['Stop', '停止'],
  counts: ['How they compare', '比较结果'],
  result: ['Result', '结果'],
  requests: ['Requests', '请求数'],
  bothPassed: ['Both let through', '两者均放行'],
  bothBlocked: ['Both block', '两者均拦截'],
  onlyCurrent: ['Only the one in use blocks', '仅使用中的拦截'],
  onlyNew: ['Only the other would block', '仅试运行的会拦截'],
  notCompared: ['Not compared', '未比较'],
  examples: ['Requests on which they disagree', '判定不一致的请求'],
  noExample: ['They agree on every request so far.', '目前对所有请求判定一致。'],
  blockedBy: ['Blocked by', '拦截方'],
  request: ['Request', '请求'],
  rule: ['Rules', '规则'],
});

const spans = [
  [3_600, 'hour'],
  [86_400, 'day'],
  [604_800, 'week'],
  [2_592_000, 'month'],
] as const;

const countNames = [
  ...([
    'bothPassed',
    'bothBlocked',
    'onlyCurrent',
    'onlyNew',
    'notCompared',
    'notSelected',
  ] as const),
];

/** The view. */
export function PolicyRuleset({
  policy,
  changed,
}: {
  readonly policy: Policy;
  readonly changed: () => void;
}): JSX.Element {
  const rulesets = useCall('rulesets', (signal) =>
    allItems((page) => crs.listCrsRulesets({ page }, { signal })),
  );
  const run = useCall(`shadow ${policy.id}`, (signal) => lastRun(policy.id, signal));
  return (
    <State of={rulesets}>
      {(items) => (
        <>
          <Rulesets policy={policy} items={items} changed={changed} />
          <Card title={w('shadow')} note={w('shadowNote')}>
            <Start policy={policy} items={items} started={run.reload} />
            <State of={run}>
              {(found) =>
                found !== undefined && <Compared run={found} items={items} changed={run.reload} />
              }
            </State>
          </Card>
        </>
      )}
    </State>
  );
}

/** The last run of a policy; undefined where none began. Errors: of the call. */
async function lastRun(policyId: string, signal: AbortSignal): Promise<ShadowRun | undefined> {
  try {
    return (await shadows.getShadowRun({ policyId }, { signal })).run;
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) return undefined;
    throw error;
  }
}

const nameOf = (items: readonly CrsRuleset[], id: string): string => {
  const found = items.find((one) => one.id === id);
  return found === undefined ? id : `CRS ${found.version}`;
};

function Rulesets({
  policy,
  items,
  changed,
}: {
  readonly policy: Policy;
  readonly items: readonly CrsRuleset[];
  readonly changed: () => void;
}): JSX.Element {
  const { id: policyId, revision, crsRulesetId } = policy;
  return (
    <Card title={w('title')} note={w('note')}>
      <Table
        label={w('title')}
        items={items}
        empty={w('none')}
        columns={[
          { title: w('version'), of: ({ version }) => `CRS ${version}` },
          { title: w('rules'), number: true, by: ({ ruleCount }) => ruleCount },
          { title: w('imported'), by: ({ ingestedAt }) => ingestedAt },
          {
            title: '',
            of: ({ id }) =>
              id === crsRulesetId ? (
                <span class="badge">{w('inUse')}</span>
              ) : (
                <Act
                  label={w('use')}
                  ask={w('useAsk')}
                  codes={['policy:crs:write']}
                  run={() => policies.setActiveCrsRuleset({ policyId, revision, crsRulesetId: id })}
                  done={changed}
                />
              ),
          },
        ]}
      />
    </Card>
  );
}

function Start({
  policy,
  items,
  started,
}: {
  readonly policy: Policy;
  readonly items: readonly CrsRuleset[];
  readonly started: () => void;
}): JSX.Element {
  const others = items.filter(({ id }) => id !== policy.crsRulesetId);
  if (others.length === 0)
    return (
      <p class="quiet">
        <Sentence text={w('only')} />
      </p>
    );
  return (
    <Edit
      label={w('shadow')}
      codes={['policy:write']}
      submit={w('start')}
      done={w('started')}
      keep
      fields={[
        {
          name: 'other',
          api: ['crsRulesetId'],
          label: w('other'),
          choices: others.map(({ id }) => [id, nameOf(items, id)] as const),
        },
        {
          name: 'time',
          api: ['durationSeconds'],
          label: w('time'),
          choices: spans.map(([seconds, name]) => [String(seconds), w(name)] as const),
        },
        {
          ...{ name: 'share', api: ['sharePercent'], label: w('share'), kind: 'number' },
          ...{ value: '100', required: true },
        },
      ]}
      save={({ other = '', time, share }) =>
        shadows.startShadowRun({
          policyId: policy.id,
          crsRulesetId: other,
          durationSeconds: Number(time),
          sharePercent: Number(share),
        })
      }
      saved={started}
    />
  );
}

function Compared({
  run,
  items,
  changed,
}: {
  readonly run: ShadowRun;
  readonly items: readonly CrsRuleset[];
  readonly changed: () => void;
}): JSX.Element {
  const { policyId, running, endsAt, examples } = run;
  const values = {
    current: nameOf(items, run.currentRulesetId),
    other: nameOf(items, run.crsRulesetId),
    until: localTime(endsAt),
    share: String(run.sharePercent),
  };
  return (
    <>
      <h3>{w('counts')}</h3>
      <p class="actions">
        {w(running ? 'runs' : 'ended', values)} {w('ofAll', values)}{' '}
        {running && (
          <Act
            label={w('stop')}
            codes={['policy:write']}
            run={() => shadows.stopShadowRun({ policyId })}
            done={changed}
          />
        )}
      </p>
      <Table
        label={w('counts')}
        items={countNames}
        empty=""
        keyOf={(name) => name}
        columns={[
          { title: w('result'), of: (name) => w(name) },
          { title: w('requests'), number: true, by: (name) => run[name] },
        ]}
      />
      <h3>{w('examples')}</h3>
      <Table
        label={w('examples')}
        items={examples}
        empty={w('noExample')}
        keyOf={({ requestId }) => requestId}
        columns={[
          { title: w('blockedBy'), of: ({ onlyNew }) => values[onlyNew ? 'other' : 'current'] },
          { title: w('request'), of: ({ method, path }) => `${method} ${path}` },
          { title: w('rule'), of: ({ ruleIds }) => ruleIds.join(', ') },
        ]}
      />
    </>
  );
}
