/** Address lists: what they hold, where they act, their feeds, and what an address meets. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  IpListService,
  type IpList,
  type LookupIpScopesResponse,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { Hits, hitsNotCounted, useHitsColumn } from '../parts/rule-hits.tsx';
import { Edit, partsOf } from '../parts/edit.tsx';
import { Link } from '../parts/link.tsx';
import { List, usePages, type Listed, type Pages } from '../parts/list.tsx';
import { Card } from '../parts/panel.tsx';
import { Table } from '../parts/table.tsx';
import { inList } from '../parts/in-list.ts';
import { stateName } from '../parts/state-name.ts';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { exactNumber, pageTexts } from '../text/text.ts';
import { acting, effectChoices, effectName } from './ip-list-effects.ts';
import { NewList, Subscribe } from './ip-list-forms.tsx';

const lists = createClient(IpListService, transport);

const w = pageTexts({
  lists: ['Address lists', 'IP 名单'],
  name: ['Name', '名称'],
  entries: ['Entries', '条目'],
  used: ['Used', '使用处'],
  source: ['Source', '来源'],
  byHand: ['By hand', '手动'],
  state: ['State', '状态'],
  open: ['Open', '打开'],
  remove: ['Delete', '删除'],
  removeAsk: ['Delete this list?', '删除此名单？'],
  empty: [
    'No list yet: make one, then use it to allow or deny.',
    '还没有名单：创建后即可用于允许或拒绝。',
  ],
  addresses: ['Addresses or networks, one a line', '地址或网段，每行一个'],
  sync: ['Fetch now', '立即同步'],
  lookup: ['What does an address meet?', '查询地址命中情况'],
  address: ['Address', '地址'],
  ask: ['Look up', '查询'],
  decision: ['Decision: {decision}', '判定：{decision}'],
  noHit: ['No list names this address.', '没有名单包含此地址。'],
  value: ['Address', '地址'],
  note: ['Note', '备注'],
  until: ['Until', '截止'],
  take: ['Take out', '移除'],
  add: ['Add addresses', '添加地址'],
  noEntry: ['The list is empty.', '名单为空。'],
  close: ['Close', '关闭'],
  bindings: ['Where lists act for all sites', '对所有站点生效的名单'],
  noBinding: ['No list acts for all sites.', '没有对所有站点生效的名单。'],
  bind: ['Let a list act for all sites', '让名单对所有站点生效'],
  kind: ['Effect', '效果'],
  scope: ['Where', '范围'],
  everywhere: ['All sites', '所有站点'],
  ofPolicy: ['Sites of {name}', '{name} 的站点'],
  ofSite: ['Site {name}', '站点 {name}'],
  uses: ['Where this list is used', '此名单的使用处'],
  noUse: ['Nothing uses this list.', '此名单未被使用。'],
  requests: ['Its requests', '其请求'],
  hits: ['Hits', '命中'],
  otherHits: ['Hits of this list without an entry: {count}', '此名单未计入任何条目的命中：{count}'],
});

/** The view. */
export function IpLists(): JSX.Element {
  const found = usePages('lists', (page, signal) => lists.listIpLists({ page }, { signal }));
  const [open, setOpen] = useState<IpList | null>(null);
  return (
    <>
      <ListTable found={found} open={setOpen} />
      {open !== null && (
        <Entries key={open.id} list={open} close={() => setOpen(null)} changed={found.reload} />
      )}
      <NewList changed={found.reload} />
      <Subscribe changed={found.reload} />
      <Bindings known={found.value?.items ?? []} />
      <Lookup />
    </>
  );
}

function ListTable({
  found,
  open,
}: {
  readonly found: Pages<Listed<IpList>>;
  readonly open: (list: IpList) => void;
}): JSX.Element {
  return (
    <List
      of={found}
      label={w('lists')}
      empty={w('empty')}
      columns={[
        { title: w('name'), of: ({ name }) => name },
        { title: w('entries'), number: true, by: ({ entryCount }) => entryCount },
        {
          title: w('used'),
          number: true,
          by: ({ globalRefCount, policyRefCount, siteRefCount }) =>
            globalRefCount + policyRefCount + siteRefCount,
        },
        { title: w('source'), of: ({ source }) => source?.url ?? w('byHand') },
        {
          title: w('state'),
          of: ({ syncStatus, deploymentStatus }) =>
            said(syncStatus?.lastError ?? '') || stateName(deploymentStatus),
        },
        {
          title: '',
          of: (list) => (
            <span class="actions">
              <button type="button" onClick={() => open(list)}>
                {w('open')}
              </button>
              {list.source !== undefined && (
                <Act
                  label={w('sync')}
                  codes={['policy:iplist:sync']}
                  run={() => lists.syncIpListNow({ id: list.id })}
                  done={found.reload}
                />
              )}
              <Act
                label={w('remove')}
                ask={w('removeAsk')}
                codes={['policy:iplist:write']}
                run={() => lists.deleteIpList({ id: list.id })}
                done={found.reload}
              />
            </span>
          ),
        },
      ]}
    />
  );
}

function Entries({
  list,
  close,
  changed,
}: {
  readonly list: IpList;
  readonly close: () => void;
  readonly changed: () => void;
}): JSX.Element {
  const ipListId = list.id;
  const found = usePages(ipListId, async (page, signal) => {
    const answer = await lists.listIpListEntries({ ipListId, page }, { signal });
    const items = answer.items.map((one, at) => ({ ...one, counted: answer.hits[at] }));
    const { hitsNotCounted } = answer;
    return { items, page: answer.page, otherHits: answer.otherHits?.hits ?? 0n, hitsNotCounted };
  });
  const others = found.value?.otherHits ?? 0n;
  const allows = found.value?.hitsNotCounted === true;
  const both = (): void => {
    found.reload();
    changed();
  };
  return (
    <Card title={list.name}>
      <List
        of={found}
        label={list.name}
        empty={w('noEntry')}
        columns={[
          { title: w('value'), of: ({ value }) => value },
          { title: w('note'), of: ({ note }) => said(note) },
          { title: w('until'), by: ({ expiresAt }) => expiresAt },
          {
            title: w('hits'),
            number: true,
            by: ({ counted }) => counted?.hits,
            of: ({ counted }) => <Hits of={counted} allows={allows} />,
          },
          {
            title: '',
            of: ({ value }) => (
              <span class="actions">
                <Link href={`/logs?${new URLSearchParams({ span: '7d', client: value })}`}>
                  {w('requests')}
                </Link>
                <Act
                  label={w('take')}
                  codes={['policy:iplist:write']}
                  run={() => lists.removeEntries({ ipListId, values: [value] })}
                  done={both}
                />
              </span>
            ),
          },
        ]}
      />
      {allows && <p>{hitsNotCounted()}</p>}
      {others > 0n && <p>{w('otherHits', { count: exactNumber(others) })}</p>}
      {list.source === undefined && <AddEntries ipListId={ipListId} added={both} />}
      <Uses ipListId={ipListId} />
      <button type="button" onClick={close}>
        {w('close')}
      </button>
    </Card>
  );
}

function AddEntries({
  ipListId,
  added,
}: {
  readonly ipListId: string;
  readonly added: () => void;
}): JSX.Element {
  return (
    <Edit
      label={w('add')}
      codes={['policy:iplist:write']}
      submit={w('add')}
      fields={[
        { name: 'note', label: w('note') },
        {
          name: 'addresses',
          api: ['entries', 'value', 'values'],
          label: w('addresses'),
          kind: 'area',
          required: true,
        },
      ]}
      save={async ({ addresses, note = '' }) => {
        const entries = partsOf(addresses).map((value) => ({ value, note }));
        await lists.addEntries({ ipListId, entries });
      }}
      saved={added}
    />
  );
}

/** Who uses a list, and how often each use decided. */
function Uses({ ipListId }: { readonly ipListId: string }): JSX.Element {
  const found = useCall(`uses ${ipListId}`, async (signal) => {
    const { items } = await lists.listIpListReferences({ ipListId }, { signal });
    return { items: items.map((one) => ({ ...one, id: one.bindingId || one.customRuleId })) };
  });
  const hits = useHitsColumn((found.value?.items ?? []).filter(({ id }) => id !== ''));
  return (
    <>
      <h3>{w('uses')}</h3>
      <List
        of={found}
        label={w('uses')}
        empty={w('noUse')}
        columns={[
          { title: w('scope'), of: placeText },
          {
            title: w('kind'),
            of: ({ kind, role, customRuleName, trustNodeName }) =>
              customRuleName || trustNodeName || stateName(kind || role),
          },
          hits,
        ]}
      />
    </>
  );
}

interface Place {
  readonly siteName: string;
  readonly policyName: string;
}

/** Where a list acts. */
function placeText({ siteName, policyName }: Place): string {
  if (siteName !== '') return w('ofSite', { name: siteName });
  return policyName === '' ? w('everywhere') : w('ofPolicy', { name: policyName });
}

function effectOf({ kind, bypassMode }: { kind: string; bypassMode: string }): string {
  if (kind !== 'allow') return stateName(kind);
  return effectName(bypassMode === 'all_waf' ? 'trust' : 'allow');
}

function Bindings({ known }: { readonly known: readonly IpList[] }): JSX.Element {
  const found = useCall('bindings', (signal) => lists.listGlobalIpListBindings({}, { signal }));
  const hits = useHitsColumn(found.value?.items ?? []);
  return (
    <Card title={w('bindings')}>
      <List
        of={found}
        label={w('bindings')}
        empty={w('noBinding')}
        columns={[
          { title: w('name'), of: ({ ipListName }) => ipListName },
          { title: w('kind'), of: effectOf },
          hits,
        ]}
        remove={{
          label: w('remove'),
          ask: `${w('remove')}?`,
          codes: ['policy:iplist:write'],
          run: ({ id }) => lists.deleteGlobalIpListBinding({ id }),
        }}
      />
      {known.length > 0 && (
        <Edit
          label={w('bind')}
          codes={['policy:iplist:write']}
          submit={w('bind')}
          fields={[
            {
              name: 'list',
              label: w('name'),
              choices: known.map(({ id, name }) => [id, name] as const),
            },
            {
              name: 'kind',
              label: w('kind'),
              value: 'deny',
              choices: effectChoices(),
            },
          ]}
          save={({ list = '', kind = '' }) =>
            lists.upsertGlobalIpListBinding({
              binding: { ipListId: list, ...acting(kind), ...inList },
              // One that is there already may have been made with care.
              expected: {},
            })
          }
          saved={found.reload}
        />
      )}
    </Card>
  );
}

function Lookup(): JSX.Element {
  const [found, setFound] = useState<LookupIpScopesResponse | null>(null);
  return (
    <Card title={w('lookup')}>
      <Edit
        label={w('lookup')}
        codes={['policy:read']}
        submit={w('ask')}
        done=""
        keep
        fields={[{ name: 'ip', label: w('address'), required: true }]}
        save={async ({ ip = '' }) => setFound(await lists.lookupIpScopes({ ip }))}
      />
      {found !== null && (
        <>
          <p aria-live="polite">
            {w('decision', { decision: found.decision || found.decisionStatus || '–' })}
          </p>
          <Table
            label={w('lookup')}
            items={found.hits}
            empty={w('noHit')}
            columns={[
              { title: w('name'), of: ({ ipListName }) => ipListName },
              { title: w('kind'), of: ({ kind }) => stateName(kind) },
              { title: w('scope'), of: placeText },
            ]}
          />
        </>
      )}
    </Card>
  );
}
