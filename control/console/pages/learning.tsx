/** What a site learns: values that regularly hold what looks like an attack; decisions on it. */

import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import {
  LearningService,
  type ListProposalsResponse,
  type Proposal,
} from '../../../proto/gen/waf/learning/v1/learning_pb.ts';
import { SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { address, go, withQuery } from '../address.ts';
import { useCall, type Loaded } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { Edit, useBase, type Values } from '../parts/edit.tsx';
import { allItems } from '../parts/list.tsx';
import { Card } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { exactNumber, pageTexts } from '../text/text.ts';

const learning = createClient(LearningService, transport);
const sites = createClient(SiteService, transport);
const system = createClient(SystemService, transport);
const option = 'detection.learning';
const modes = ['suggest', 'off', 'auto'] as const;

const w = pageTexts({
  title: ['What a site learns', '站点学习到的内容'],
  note: [
    'Values in which many clients send what looks like an attack: probably ordinary content. Signs that prove an attack always count.',
    '许多客户端在这些参数中发送形似攻击的内容，很可能是正常内容。能证明攻击的依据始终计分。',
  ],
  site: ['Site', '站点'],
  noSite: ['No site yet: create one first.', '还没有站点：请先创建。'],
  empty: [
    'Nothing is proposed. A value is proposed once ten networks show such signs over three hours.',
    '没有建议。某个参数在三个小时内被十个网络触发后才会提出建议。',
  ],
  off: ['This site does not learn.', '此站点不学习。'],
  no_policy: [
    'No policy inspects the site: it learns nothing, and what is accepted has no effect.',
    '没有策略检测此站点：站点不学习，已接受的内容也不起作用。',
  ],
  anomaly_score: [
    'The policy decides by the anomaly score alone: the site learns nothing, and what is accepted has no effect.',
    '策略仅按异常分数判定：站点不学习，已接受的内容也不起作用。',
  ],
  also_anomaly_score: [
    'The policy also refuses by the anomaly score, which what is accepted does not change.',
    '策略同时按异常分数拦截，已接受的内容不改变该分数。',
  ],
  value: ['Value', '参数'],
  family: ['Looks like', '形似'],
  state: ['State', '状态'],
  clients: ['Clients', '客户端'],
  own: ['{clients}, {own} of them with no other sign', '{clients} 个，其中 {own} 个没有其他依据'],
  hours: ['Hours', '小时数'],
  requests: ['Requests', '请求'],
  confidence: ['Confidence', '可信度'],
  ends: ['Ends', '到期'],
  accept: ['Accept', '接受'],
  acceptAsk: [
    'Weak signs of this kind no longer count here for 90 days?',
    '90 天内此处的这类弱依据不再计分？',
  ],
  dismiss: ['Dismiss', '忽略'],
  withdraw: ['End it', '终止'],
  reset: ['Forget all of it', '全部清除'],
  resetAsk: [
    'Forget what this site learned and all decisions?',
    '清除此站点学到的内容和所有决定？',
  ],
  mode: ['The site', '站点的做法'],
  save: ['Save', '保存'],
  changed: ['Somebody else changed this meanwhile.', '其他人已修改此项。'],
  suggest: ['Proposes, a person decides', '提出建议，由人决定'],
  offMode: ['Does not learn', '不学习'],
  auto: ['Acts by itself, for 30 days', '自动处理，有效 30 天'],
  waiting: ['Waits for a person', '等待决定'],
  accepted: ['Accepted', '已接受'],
  dismissed: ['Dismissed', '已忽略'],
  expired: ['Ended', '已到期'],
  otherFamily: ['Another kind is accepted', '已接受另一类'],
  low: ['Low', '低'],
  medium: ['Medium', '中'],
  high: ['High', '高'],
});

const states: Readonly<Record<string, Parameters<typeof w>[0]>> = {
  ...({ waiting: 'waiting', accepted: 'accepted', dismissed: 'dismissed' } as const),
  ...({ expired: 'expired', family: 'otherFamily' } as const),
};
const confidences: Readonly<Record<string, Parameters<typeof w>[0]>> = {
  ...({ low: 'low', medium: 'medium', high: 'high' } as const),
};

/** Names that the page knows in its language; any other stays as the API has it. */
const named = (names: Readonly<Record<string, Parameters<typeof w>[0]>>, name: string): string =>
  names[name] === undefined ? name : w(names[name]);

/** The card: a site, what it proposes, and what was decided. */
export function Learning(): JSX.Element {
  const found = useCall('sites', (signal) =>
    allItems((page) => sites.listSites({ page }, { signal })),
  );
  return (
    <Card title={w('title')} note={w('note')}>
      <State of={found}>
        {(known) => {
          const wanted = address.value.query.get('site');
          const chosen = known.find(({ id }) => id === wanted) ?? known[0];
          if (chosen === undefined) return <p class="empty">{w('noSite')}</p>;
          return (
            <>
              <label class="choose">
                {w('site')}
                <select
                  value={chosen.id}
                  onChange={({ currentTarget }) =>
                    go(withQuery({ site: currentTarget.value }), true)
                  }
                >
                  {known.map(({ id, name }) => (
                    <option value={id} selected={id === chosen.id}>
                      {name}
                    </option>
                  ))}
                </select>
              </label>
              <Learned key={chosen.id} siteId={chosen.id} />
            </>
          );
        }}
      </State>
    </Card>
  );
}

const limits = ['no_policy', 'anomaly_score', 'also_anomaly_score'] as const;
const isLimit = (word: string): word is (typeof limits)[number] =>
  limits.some((one) => one === word);

function Learned({ siteId }: { readonly siteId: string }): JSX.Element {
  const found = useCall(siteId, (signal) => learning.listProposals({ siteId }, { signal }));
  return (
    <State of={found}>
      {({ mode, items, limitedBy }) => (
        <>
          {isLimit(limitedBy) && <p class="note">{w(limitedBy)}</p>}
          <Table
            label={w('title')}
            items={items}
            empty={w(mode === 'off' ? 'off' : 'empty')}
            columns={[
              { title: w('value'), of: (one) => <Value of={one} /> },
              { title: w('family'), of: ({ family }) => family },
              { title: w('state'), of: ({ state }) => named(states, state) },
              {
                title: w('clients'),
                by: ({ clients }) => clients,
                of: ({ clients, ownClients }) =>
                  w('own', { clients: exactNumber(clients), own: exactNumber(ownClients) }),
              },
              { title: w('hours'), number: true, by: ({ hours }) => hours },
              { title: w('requests'), number: true, by: ({ requests }) => requests },
              { title: w('confidence'), of: ({ confidence }) => named(confidences, confidence) },
              { title: w('ends'), by: ({ endsAt }) => endsAt },
              {
                title: '',
                of: (one) => <Decide siteId={siteId} of={one} changed={found.reload} />,
              },
            ]}
          />
          <Mode siteId={siteId} of={found} />
          <p class="actions">
            <Act
              label={w('reset')}
              ask={w('resetAsk')}
              codes={['site:write']}
              run={() => learning.resetLearning({ siteId })}
              done={found.reload}
            />
          </p>
        </>
      )}
    </State>
  );
}

function Value({ of }: { readonly of: Proposal }): JSX.Element {
  const { method, path, name, summary } = of;
  return (
    <span title={said(summary)}>
      <VisibleText text={`${method} ${path}`} />{' '}
      <small>
        <VisibleText text={name} />
      </small>
    </span>
  );
}

function Decide({
  siteId,
  of: { id, state },
  changed,
}: {
  readonly siteId: string;
  readonly of: Proposal;
  readonly changed: () => void;
}): JSX.Element {
  const accepted = state === 'accepted';
  return (
    <span class="actions">
      {!accepted && (
        <Act
          label={w('accept')}
          ask={w('acceptAsk')}
          codes={['site:write']}
          run={() => learning.acceptProposal({ siteId, id })}
          done={changed}
        />
      )}
      {state !== 'dismissed' && (
        <Act
          label={w(accepted ? 'withdraw' : 'dismiss')}
          codes={['site:write']}
          run={() => learning.dismissProposal({ siteId, id })}
          done={changed}
        />
      )}
    </span>
  );
}

/** Whether the site learns: one entry of a setting that other sites share. */
function Mode({
  siteId,
  of,
}: {
  readonly siteId: string;
  readonly of: Loaded<ListProposalsResponse>;
}): JSX.Element {
  const base = useBase(of.value?.mode ?? '');
  const texts = { suggest: w('suggest'), off: w('offMode'), auto: w('auto') };
  const latest = async (): Promise<Values> => {
    base.current = (await learning.listProposals({ siteId })).mode;
    return { mode: base.current };
  };
  const save = async (mode: string): Promise<void> => {
    const { settings } = await system.getSystemSettings({});
    const { mode: now } = await learning.listProposals({ siteId });
    if (now !== base.current) throw new ConnectError(w('changed'), Code.Aborted);
    const held = settings?.values?.[option];
    const before = typeof held === 'object' && held !== null && !Array.isArray(held) ? held : {};
    await system.updateSystemSettings({
      values: { [option]: { ...before, [siteId]: mode } },
      expectedUpdatedAt: settings?.updatedAt ?? timestampFromMs(0),
    });
    base.current = mode;
  };
  return (
    <Edit
      label={w('mode')}
      codes={['system:read', 'system:write']}
      submit={w('save')}
      base={base}
      latest={latest}
      apart
      save={({ mode = '' }) => save(mode)}
      saved={of.reload}
      fields={[
        {
          ...{ name: 'mode', label: w('mode'), value: of.value?.mode ?? '' },
          choices: modes.map((one) => [one, texts[one]] as const),
        },
      ]}
    />
  );
}
