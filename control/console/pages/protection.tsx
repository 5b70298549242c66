/** Protection beside the rules: address lists, rate limits, countries, and whose address counts. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { CountryAccessService } from '../../../proto/gen/waf/v1/country_access_pb.ts';
import { PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { RateLimitService } from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { TrustService, type ExplainTrustResponse } from '../../../proto/gen/waf/v1/trust_pb.ts';
import { useCall } from '../call.ts';
import { Edit, partsOf } from '../parts/edit.tsx';
import { allItems, FoldedEdit, List } from '../parts/list.tsx';
import { Card, Head, Tabs } from '../parts/panel.tsx';
import { Failure, State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { transport } from '../session.ts';
import { exactNumber, language, localTime, pageTexts } from '../text/text.ts';
import { IpLists } from './ip-lists.tsx';

const limits = createClient(RateLimitService, transport);
const countries = createClient(CountryAccessService, transport);
const trust = createClient(TrustService, transport);
const policies = createClient(PolicyService, transport);

const w = pageTexts({
  title: ['Protection', '防护'],
  note: ['Who may ask, how often, and from where.', '谁可以访问、访问频率以及来源地。'],
  lists: ['Address lists', 'IP 名单'],
  limits: ['Rate limits', '频率限制'],
  countries: ['Countries', '国家/地区'],
  trust: ['Client address', '客户端地址'],
  path: ['Path', '路径'],
  methods: ['Methods', '方法'],
  rate: ['Limit', '限制'],
  perSeconds: ['{count} in {seconds} s', '{seconds} 秒内 {count} 次'],
  after: ['Then', '超出后'],
  remove: ['Delete', '删除'],
  removeAsk: ['Delete it?', '确定删除？'],
  noLimit: [
    'No rate limit: a client may ask as often as it likes.',
    '没有频率限制：客户端可任意访问。',
  ],
  addLimit: ['Add a rate limit', '添加频率限制'],
  add: ['Add', '添加'],
  policy: ['Policy', '策略'],
  count: ['Requests', '请求数'],
  seconds: ['In seconds', '时间窗口（秒）'],
  wait: ['Refuse for seconds', '拒绝时长（秒）'],
  name: ['Name', '名称'],
  kind: ['Effect', '效果'],
  allow: ['allow', '允许'],
  deny: ['deny', '拒绝'],
  where: ['Where', '范围'],
  state: ['State', '状态'],
  on: ['on', '启用'],
  off: ['off', '停用'],
  noCountry: ['No country rule.', '没有国家/地区规则。'],
  addCountry: ['Add a country rule', '添加国家/地区规则'],
  codes: ['Country codes, for example DE, FR', '国家/地区代码，例如 CN, DE'],
  noCatalog: [
    'No geo database is there: country rules have no effect.',
    '没有地理数据库：国家/地区规则不起作用。',
  ],
  peer: ['Address that connects', '连接地址'],
  header: ['X-Forwarded-For', 'X-Forwarded-For'],
  explain: ['Whose address would count?', '将以谁的地址为准？'],
  explained: ['{ip} counts as the client.', '客户端地址为 {ip}。'],
  spoofed: [
    'The header is not believed: the peer is no trusted proxy.',
    '不信任该请求头：对端不是受信代理。',
  ],
  overrides: [
    'Sites with proxies of their own: {count} of {total}',
    '单独设置代理的站点：{count} / {total}',
  ],
  warnings: ['Headers that were not believed of late', '近期未被信任的请求头'],
  noWarning: ['None.', '没有。'],
  since: ['First seen', '首次出现'],
  site: ['Site', '站点'],
  spoofedHeader: ['Header', '请求头'],
});

/** The page. */
export function Protection(): JSX.Element {
  return (
    <>
      <Head title={w('title')} note={w('note')} />
      <Tabs
        label={w('title')}
        tabs={[
          { name: 'lists', title: w('lists'), view: () => <IpLists /> },
          { name: 'limits', title: w('limits'), view: () => <Limits /> },
          { name: 'countries', title: w('countries'), view: () => <Countries /> },
          { name: 'trust', title: w('trust'), view: () => <Trust /> },
        ]}
      />
    </>
  );
}

function Limits(): JSX.Element {
  const known = useCall('policies', (signal) =>
    allItems((page) => policies.listPolicies({ page }, { signal })),
  );
  const items = (known.value ?? []).filter(({ isTemplate }) => !isTemplate);
  const [chosen, setChosen] = useState('');
  const policyId = chosen || (items.find(({ isDefault }) => isDefault)?.id ?? items[0]?.id ?? '');
  return (
    <State of={known}>
      {() => (
        <>
          <div class="filters">
            <label>
              {w('policy')}
              <select
                value={policyId}
                onChange={({ currentTarget }) => setChosen(currentTarget.value)}
              >
                {items.map(({ id, name }) => (
                  <option value={id}>{name}</option>
                ))}
              </select>
            </label>
          </div>
          {policyId !== '' && <PolicyLimits key={policyId} policyId={policyId} />}
        </>
      )}
    </State>
  );
}

function PolicyLimits({ policyId }: { readonly policyId: string }): JSX.Element {
  const found = useCall(policyId, (signal) =>
    limits.listRateLimitEndpoints({ policyId }, { signal }),
  );
  return (
    <>
      <List
        of={found}
        label={w('limits')}
        empty={w('noLimit')}
        columns={[
          { title: w('path'), of: ({ pathPattern }) => pathPattern },
          {
            title: w('methods'),
            of: ({ methods, methodMode }) => methods.join(', ') || methodMode,
          },
          {
            title: w('rate'),
            of: ({ requestCount, windowSeconds }) =>
              w('perSeconds', {
                count: exactNumber(requestCount),
                seconds: exactNumber(windowSeconds),
              }),
          },
          {
            title: w('after'),
            of: ({ action, enforcementMode }) => [action, enforcementMode].join(' '),
          },
        ]}
        remove={{
          label: w('remove'),
          ask: w('removeAsk'),
          codes: ['policy:write'],
          run: ({ id }) => limits.deleteRateLimitEndpoint({ id }),
        }}
      />
      <AddLimit policyId={policyId} changed={found.reload} />
    </>
  );
}

function AddLimit({
  policyId,
  changed,
}: {
  readonly policyId: string;
  readonly changed: () => void;
}): JSX.Element {
  return (
    <FoldedEdit
      label={w('addLimit')}
      codes={['policy:write']}
      submit={w('add')}
      fields={[
        { name: 'path', label: w('path'), value: '/', required: true },
        { name: 'count', label: w('count'), kind: 'number', value: '100' },
        { name: 'seconds', label: w('seconds'), kind: 'number', value: '60' },
        { name: 'wait', label: w('wait'), kind: 'number', value: '60' },
      ]}
      save={({ path = '', count, seconds, wait }) =>
        limits.upsertRateLimitEndpoint({
          endpoint: {
            policyId,
            pathPattern: path,
            requestCount: Number(count),
            windowSeconds: Number(seconds),
            mitigationSeconds: Number(wait),
          },
        })
      }
      saved={changed}
    />
  );
}

function Countries(): JSX.Element {
  const found = useCall('rules', (signal) => countries.listCountryAccessRules({}, { signal }));
  const catalog = useCall('catalog', (signal) => countries.getCountryCatalog({}, { signal }));
  const known = catalog.value?.catalog;
  return (
    <>
      <Failure of={catalog} />
      {known?.available === false && <p class="notice">{w('noCatalog')}</p>}
      <List
        of={found}
        label={w('countries')}
        empty={w('noCountry')}
        columns={[
          { title: w('name'), of: ({ name }) => name },
          {
            title: w('countries'),
            of: ({ countryCodes }) => countryCodes.map(countryName).join(', '),
          },
          { title: w('kind'), of: ({ kind }) => kind },
          {
            title: w('where'),
            of: ({ targets }) =>
              targets
                .map(({ scope, siteName, policyName }) => siteName || policyName || scope)
                .join(', '),
          },
          { title: w('state'), of: ({ enabled }) => w(enabled ? 'on' : 'off') },
        ]}
        remove={{
          label: w('remove'),
          ask: w('removeAsk'),
          codes: ['policy:country:write'],
          run: ({ id }) => countries.deleteCountryAccessRule({ id }),
        }}
      />
      <AddCountry changed={found.reload} />
    </>
  );
}

function AddCountry({ changed }: { readonly changed: () => void }): JSX.Element {
  return (
    <FoldedEdit
      label={w('addCountry')}
      codes={['policy:country:write']}
      submit={w('add')}
      fields={[
        { name: 'name', label: w('name'), required: true },
        { name: 'codes', label: w('codes'), required: true },
        {
          name: 'kind',
          label: w('kind'),
          value: 'deny',
          choices: [
            ['deny', w('deny')],
            ['allow', w('allow')],
          ],
        },
      ]}
      save={async ({ name = '', codes, kind = '' }) => {
        const countryCodes = partsOf(codes).map((code) => code.toUpperCase());
        const targets = [{ scope: 'global' }];
        await countries.upsertCountryAccessRule({
          rule: { name, countryCodes, kind, enabled: true, targets },
        });
      }}
      saved={changed}
    />
  );
}

function countryName(code: string): string {
  const names = new Intl.DisplayNames(language.value, { type: 'region', fallback: 'code' });
  return /^[A-Z]{2}$/.test(code) ? `${names.of(code) ?? code} (${code})` : code;
}

function Trust(): JSX.Element {
  const [found, setFound] = useState<ExplainTrustResponse | null>(null);
  const status = useCall('status', (signal) => trust.getTrustStatus({}, { signal }));
  return (
    <>
      <Card title={w('explain')}>
        <Edit
          label={w('explain')}
          codes={['system:read']}
          submit={w('explain')}
          done=""
          keep
          fields={[
            { name: 'peer', label: w('peer'), required: true },
            { name: 'header', label: w('header') },
          ]}
          save={async ({ peer = '', header = '' }) => {
            const headers: Record<string, string> =
              header === '' ? {} : { 'x-forwarded-for': header };
            setFound(await trust.explainTrust({ peer, headers }));
          }}
        />
        <div aria-live="polite">
          {found !== null && (
            <>
              <p>{w('explained', { ip: found.ip })}</p>
              {found.spoofed && <p class="notice">{w('spoofed')}</p>}
            </>
          )}
        </div>
      </Card>
      <Card title={w('warnings')}>
        <State of={status}>
          {({ siteOverrides, totalSites, recentWarnings }) => (
            <>
              <p class="quiet">
                {w('overrides', { count: siteOverrides.length, total: totalSites })}
              </p>
              <Table
                label={w('warnings')}
                items={recentWarnings}
                empty={w('noWarning')}
                columns={[
                  { title: w('since'), of: ({ firstSeenAt }) => localTime(firstSeenAt) },
                  { title: w('site'), of: ({ siteId }) => siteId },
                  { title: w('peer'), of: ({ peer }) => peer },
                  { title: w('spoofedHeader'), of: ({ header }) => header },
                  { title: w('count'), number: true, of: ({ count }) => exactNumber(count) },
                ]}
              />
            </>
          )}
        </State>
      </Card>
    </>
  );
}
