/** One policy: its settings, exclusions, own rules, a test request, and its versions. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  EngineState,
  PolicyService,
  type Policy,
  type TestPolicyResponse,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import {
  ListChange,
  RuleOverrideAction,
  RuleOverrideService,
} from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { useCall } from '../call.ts';
import { lazy } from '../lazy.tsx';
import { Edit, useBase, type Values } from '../parts/edit.tsx';
import { FoldedEdit, List, usePages } from '../parts/list.tsx';
import { Back, Card, Tabs } from '../parts/panel.tsx';
import { useRuleEvents } from '../parts/rule-events.tsx';
import { useSiteNames } from '../parts/site-names.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { pageTexts, t } from '../text/text.ts';
import { engineText } from './policies.tsx';

const policies = createClient(PolicyService, transport);
const overrides = createClient(RuleOverrideService, transport);

const OwnRules = lazy(async () => (await import('./own-rules.tsx')).OwnRules);
const PolicyVersions = lazy(async () => (await import('./versions.tsx')).PolicyVersions);
const PolicyRuleset = lazy(async () => (await import('./rulesets.tsx')).PolicyRuleset);

const w = pageTexts({
  back: ['All policies', '全部策略'],
  settings: ['Settings', '设置'],
  exclusions: ['Exclusions', '排除项'],
  rules: ['Own rules', '自定义规则'],
  test: ['Test', '测试'],
  ruleset: ['Ruleset', '规则集'],
  versions: ['Versions', '版本'],
  save: ['Save', '保存'],
  saved: ['Saved. Compiling rules…', '已保存，正在编译规则…'],
  engine: ['Rules', '规则引擎'],
  blocking: ['Paranoia level that blocks', '拦截的偏执级别'],
  detection: ['Paranoia level that records', '记录的偏执级别'],
  inbound: ['Blocks requests from score', '请求拦截分数'],
  outbound: ['Blocks responses from score', '响应拦截分数'],
  rule: ['Rule', '规则'],
  effect: ['Effect', '效果'],
  targets: ['Leaves out', '排除的目标'],
  site: ['Site', '站点'],
  everySite: ['All of the policy', '该策略的全部站点'],
  why: ['Why', '原因'],
  when: ['Changed', '修改时间'],
  remove: ['Delete', '删除'],
  removeAsk: ['Delete it? The rule acts again.', '删除？规则将重新生效。'],
  noExclusion: [
    'No exclusion. The page of a blocked request proposes the narrowest.',
    '没有排除项。被拦截请求的页面会给出最窄的建议。',
  ],
  addExclusion: ['Add an exclusion to a rule', '为规则添加排除项'],
  add: ['Add', '添加'],
  target: ['Argument to leave out, for example ARGS:comment', '要排除的参数，例如 ARGS:comment'],
  partly: ['Leave out the argument', '排除该参数'],
  disable: ['Turn the rule off', '关闭规则'],
  logOnly: ['Only record', '仅记录'],
  score: ['Another score', '修改分数'],
  phase: ['Phase', '阶段'],
  method: ['Method', '方法'],
  url: ['Address', '地址'],
  body: ['Body', '正文'],
  ask: ['Ask the engine', '询问引擎'],
  blocked: [
    'Blocked with status {status}. Score {score}.',
    '已拦截，状态码 {status}，分数 {score}。',
  ],
  passed: ['Passes. Score {score}.', '放行，分数 {score}。'],
  message: ['Message', '说明'],
});

const effects: Readonly<Record<number, 'partly' | 'disable' | 'logOnly' | 'score'>> = {
  [RuleOverrideAction.DEFAULT]: 'partly',
  [RuleOverrideAction.DISABLE]: 'disable',
  [RuleOverrideAction.LOG_ONLY]: 'logOnly',
  [RuleOverrideAction.SCORE_OVERRIDE]: 'score',
};

/** The page of the policy with this id. */
export function PolicyPage({ id }: { readonly id: string }): JSX.Element {
  const found = useCall(id, (signal) => policies.getPolicy({ id }, { signal }));
  return (
    <>
      <Back href="/policies">{w('back')}</Back>
      <State of={found}>
        {({ policy, bodyInspection }) =>
          policy === undefined ? (
            <p>{t('common.none')}</p>
          ) : (
            <>
              <div class="page-head">
                <h1>
                  <VisibleText text={policy.name} />
                </h1>
                <p class="quiet">
                  <VisibleText
                    text={[policy.description, bodyInspection?.summary ?? '']
                      .filter((one) => one !== '')
                      .map(said)
                      .join(' · ')}
                  />
                </p>
              </div>
              <Views policy={policy} changed={found.reload} />
            </>
          )
        }
      </State>
    </>
  );
}

function Views({
  policy,
  changed,
}: {
  readonly policy: Policy;
  readonly changed: () => void;
}): JSX.Element {
  return (
    <Tabs
      label={policy.name}
      tabs={[
        {
          name: 'settings',
          title: w('settings'),
          view: () => <Settings first={policy} changed={changed} />,
        },
        { name: 'exclusions', title: w('exclusions'), view: () => <Exclusions id={policy.id} /> },
        { name: 'rules', title: w('rules'), view: () => <OwnRules id={policy.id} /> },
        {
          name: 'ruleset',
          title: w('ruleset'),
          view: () => <PolicyRuleset policy={policy} changed={changed} />,
        },
        { name: 'test', title: w('test'), view: () => <TestRequest id={policy.id} /> },
        {
          name: 'versions',
          title: w('versions'),
          view: () => <PolicyVersions id={policy.id} changed={changed} />,
        },
      ]}
    />
  );
}

const core = {
  blocking: 'blockingParanoiaLevel',
  detection: 'detectionParanoiaLevel',
  inbound: 'inboundAnomalyScoreThreshold',
  outbound: 'outboundAnomalyScoreThreshold',
} as const;
const coreNames = Object.keys(core) as (keyof typeof core)[];

function valuesOf({ engineState, crsCore }: Policy): Record<string, string> {
  const numbers = coreNames.map((name) => [name, String(crsCore?.[core[name]] ?? 0)]);
  return { engine: String(engineState), ...Object.fromEntries(numbers) };
}

function Settings({
  first,
  changed,
}: {
  readonly first: Policy;
  readonly changed: () => void;
}): JSX.Element {
  const base = useBase(first);
  const values = valuesOf(first);
  const states = [EngineState.ON, EngineState.DETECTION_ONLY, EngineState.OFF];
  const save = async (entered: Values): Promise<void> => {
    const { crsCore, id: policyId } = base.current;
    const numbers = coreNames.map((name) => [core[name], Number(entered[name])]);
    const answer = await policies.updatePolicy({
      policy: { ...base.current, crsCore: { ...crsCore!, ...Object.fromEntries(numbers) } },
      revision: base.current.revision,
      updateMask: 'crs_core',
    });
    base.current = answer.policy ?? base.current;
    const engineState = Number(entered['engine']) as EngineState;
    if (engineState === base.current.engineState) return;
    const { revision } = base.current;
    const { policy } = await policies.setEngineState({ policyId, revision, engineState });
    base.current = policy ?? base.current;
  };
  return (
    <Card title={w('settings')}>
      <Edit
        label={w('settings')}
        codes={['policy:write']}
        submit={w('save')}
        done={w('saved')}
        save={save}
        saved={changed}
        base={base}
        apart
        latest={async () => {
          const { policy } = await policies.getPolicy({ id: first.id });
          if (policy !== undefined) base.current = policy;
          return valuesOf(base.current);
        }}
        fields={[
          {
            name: 'engine',
            api: ['engineState'],
            label: w('engine'),
            value: values['engine'] ?? '',
            choices: states.map((one) => [String(one), engineText(one)] as const),
          },
          ...coreNames.map((name) => ({
            name,
            api: [core[name]],
            label: w(name),
            kind: 'number' as const,
            value: values[name] ?? '',
            required: true,
          })),
        ]}
      />
    </Card>
  );
}

function Exclusions({ id: policyId }: { readonly id: string }): JSX.Element {
  const found = usePages(policyId, (page, signal) =>
    overrides.listRuleOverrides({ policyId, page }, { signal }),
  );
  const siteName = useSiteNames();
  const events = useRuleEvents(found.value?.items ?? [], ({ crsRuleId }) => crsRuleId);
  return (
    <>
      <List
        of={found}
        label={w('exclusions')}
        empty={w('noExclusion')}
        columns={[
          { title: w('rule'), of: ({ crsRuleId, tags }) => crsRuleId || tags.join(', ') },
          { title: w('effect'), of: ({ actionEnum }) => w(effects[actionEnum] ?? 'partly') },
          { title: w('targets'), of: ({ removedTargets }) => removedTargets.join(', ') },
          {
            title: w('site'),
            of: ({ siteId }) => (siteId === '' ? w('everySite') : siteName(siteId)),
          },
          { title: w('why'), of: ({ rationale }) => said(rationale) },
          { title: w('when'), by: ({ updatedAt }) => updatedAt },
          events,
        ]}
        remove={{
          label: w('remove'),
          ask: w('removeAsk'),
          codes: ['policy:rule:override'],
          run: ({ id }) => overrides.deleteRuleOverride({ id }),
        }}
      />
      <FoldedEdit
        label={w('addExclusion')}
        codes={['policy:rule:override']}
        submit={w('add')}
        done={w('saved')}
        fields={[
          { name: 'rule', api: ['crsRuleId'], label: w('rule'), required: true },
          {
            name: 'effect',
            api: ['actionEnum'],
            label: w('effect'),
            value: String(RuleOverrideAction.DEFAULT),
            choices: [1, 2, 3].map((one) => [String(one), w(effects[one]!)] as const),
          },
          { name: 'target', api: ['removedTargets'], label: w('target') },
          { name: 'why', api: ['rationale'], label: w('why') },
        ]}
        save={({ rule = '', effect, target = '', why = '' }) =>
          overrides.upsertRuleOverride({
            override: {
              policyId,
              crsRuleId: rule,
              actionEnum: Number(effect) as RuleOverrideAction,
              removedTargets: target === '' ? [] : [target],
              rationale: why,
            },
            // What is excluded of the rule already stays.
            listChange: ListChange.ADD,
          })
        }
        saved={found.reload}
      />
    </>
  );
}

function TestRequest({ id: policyId }: { readonly id: string }): JSX.Element {
  const [found, setFound] = useState<TestPolicyResponse | null>(null);
  return (
    <Card title={w('test')}>
      <Edit
        label={w('test')}
        codes={['policy:test']}
        submit={w('ask')}
        done=""
        keep
        fields={[
          { name: 'method', label: w('method'), value: 'GET', required: true },
          {
            name: 'url',
            api: ['url'],
            label: w('url'),
            value: '/?id=1%27%20OR%20%271%27=%271',
            required: true,
          },
          { name: 'body', label: w('body'), kind: 'area' },
        ]}
        save={async ({ method = '', url = '', body = '' }) =>
          setFound(
            await policies.testPolicy({
              policyId,
              method,
              // As a browser sends it.
              url: url.replaceAll(' ', '%20'),
              body: new TextEncoder().encode(body),
            }),
          )
        }
      />
      {found !== null && (
        <>
          <p class={found.blocked ? 'blocked' : 'good'} aria-live="polite">
            {w(found.blocked ? 'blocked' : 'passed', {
              status: found.status,
              score: found.totalInboundScore,
            })}
          </p>
          <Table
            label={w('rules')}
            items={found.matchedRules}
            empty={t('common.none')}
            columns={[
              { title: w('rule'), of: ({ ruleId }) => String(ruleId) },
              { title: w('message'), of: ({ message }) => message },
              { title: w('phase'), number: true, by: ({ phase }) => phase },
            ]}
          />
        </>
      )}
    </Card>
  );
}
