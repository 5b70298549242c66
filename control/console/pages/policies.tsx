/** Policies: which there are, and a new one from a template. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { EngineState, PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { Link } from '../parts/link.tsx';
import { allItems, FoldedEdit, PageSteps, usePages } from '../parts/list.tsx';
import { Head } from '../parts/panel.tsx';
import { Failure, State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { stateName } from '../parts/state-name.ts';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';

const policies = createClient(PolicyService, transport);

const w = pageTexts({
  title: ['Policies', '策略'],
  note: [
    'Which rules inspect the requests of a site, and how strictly.',
    '用哪些规则、以何种严格程度检测站点请求。',
  ],
  name: ['Name', '名称'],
  engine: ['Rules', '规则引擎'],
  on: ['Block', '拦截'],
  detect: ['Only record', '仅记录'],
  off: ['Off', '关闭'],
  level: ['Paranoia level', '偏执级别'],
  threshold: ['Blocks from score', '拦截分数'],
  state: ['State', '状态'],
  changed: ['Changed', '修改时间'],
  revision: ['Revision', '修订版'],
  isDefault: ['default', '默认'],
  remove: ['Delete', '删除'],
  removeAsk: ['Delete this policy?', '删除此策略？'],
  empty: ['No policy yet: make one from a template.', '还没有策略：请从模板创建。'],
  create: ['Make a policy from a template', '从模板创建策略'],
  template: ['Template', '模板'],
  about: ['What it is for', '用途'],
  submit: ['Make it', '创建'],
});

/** How an engine state is called. */
export function engineText(state: EngineState): string {
  return w(state === EngineState.ON ? 'on' : state === EngineState.OFF ? 'off' : 'detect');
}

/** The page. */
export function Policies(): JSX.Element {
  const found = usePages('policies', (page, signal) => policies.listPolicies({ page }, { signal }));
  const templates = useCall('templates', (signal) =>
    allItems((page) => policies.listPolicyTemplates({ page }, { signal })),
  );
  const choices = (templates.value ?? []).map(({ id, name }) => [id, name] as const);
  return (
    <>
      <Head title={w('title')} note={w('note')} />
      <State of={found}>
        {({ items, page }) => (
          <Table
            label={w('title')}
            items={items.filter(({ isTemplate }) => !isTemplate)}
            empty={w('empty')}
            sortable={items.length >= Number(page?.total ?? 0)}
            columns={[
              {
                title: w('name'),
                by: ({ name }) => name,
                of: ({ id, name, isDefault }) => (
                  <>
                    <Link href={`/policies/${id}`}>
                      <VisibleText text={name} />
                    </Link>{' '}
                    {isDefault && <span class="badge">{w('isDefault')}</span>}
                  </>
                ),
              },
              { title: w('engine'), of: ({ engineState }) => engineText(engineState) },
              {
                title: w('level'),
                number: true,
                by: ({ crsCore }) => crsCore?.blockingParanoiaLevel ?? 0,
              },
              {
                title: w('threshold'),
                number: true,
                by: ({ crsCore }) => crsCore?.inboundAnomalyScoreThreshold ?? 0,
              },
              { title: w('state'), of: ({ status }) => stateName(status) },
              { title: w('revision'), number: true, by: ({ revision }) => revision },
              { title: w('changed'), by: ({ updatedAt }) => updatedAt },
              {
                title: '',
                of: ({ id, isDefault, builtin }) =>
                  isDefault || builtin ? null : (
                    <Act
                      label={w('remove')}
                      ask={w('removeAsk')}
                      codes={['policy:delete']}
                      run={() => policies.deletePolicy({ id })}
                      done={found.reload}
                    />
                  ),
              },
            ]}
          />
        )}
      </State>
      <PageSteps of={found} />
      <Failure of={templates} />
      <Create choices={choices} changed={found.reload} />
    </>
  );
}

function Create({
  choices,
  changed,
}: {
  readonly choices: readonly (readonly [string, string])[];
  readonly changed: () => void;
}): JSX.Element {
  return (
    <FoldedEdit
      label={w('create')}
      codes={['policy:write']}
      submit={w('submit')}
      fields={[
        { name: 'template', label: w('template'), choices },
        { name: 'name', label: w('name'), required: true },
        { name: 'about', label: w('about') },
      ]}
      save={async ({ template = '', name = '', about = '' }) => {
        const templateId = template || (choices[0]?.[0] ?? '');
        await policies.createPolicyFromTemplate({ templateId, name, description: about });
      }}
      saved={changed}
    />
  );
}
