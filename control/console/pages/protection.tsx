/** Protection beside the rules: address lists, rate limits, countries, and whose address counts. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { CountryAccessService } from '../../../proto/gen/waf/v1/country_access_pb.ts';
import { PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { TrustService } from '../../../proto/gen/waf/v1/trust_pb.ts';
import { never, useCall } from '../call.ts';
import { lazy } from '../lazy.tsx';
import { countryCode, countryName } from '../parts/countries.ts';
import { partsOf } from '../parts/edit.tsx';
import { allItems, FoldedEdit, List } from '../parts/list.tsx';
import { Card, Head, Tabs } from '../parts/panel.tsx';
import { useHitsColumn } from '../parts/rule-hits.tsx';
import { useSiteNames } from '../parts/site-names.tsx';
import { stateName } from '../parts/state-name.ts';
import { Failure, State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { inList } from '../parts/in-list.ts';
import { transport } from '../session.ts';
import { language, languages, pageTexts } from '../text/text.ts';
import { ExplainTrust } from './explain-trust.tsx';
import { IpLists } from './ip-lists.tsx';

// A view is loaded when it is looked at.
const RateLimits = lazy(async () => (await import('./rate-limits.tsx')).RateLimits);
const countries = createClient(CountryAccessService, transport);
const sites = createClient(SiteService, transport);
const trust = createClient(TrustService, transport);
const policies = createClient(PolicyService, transport);

const w = pageTexts({
  title: ['Protection', '防护'],
  note: ['Who may ask, how often, and from where.', '谁可以访问、访问频率以及来源地。'],
  lists: ['Address lists', 'IP 名单'],
  limits: ['Rate limits', '频率限制'],
  countries: ['Countries', '国家/地区'],
  trust: ['Client address', '客户端地址'],
  remove: ['Delete', '删除'],
  removeAsk: ['Delete it?', '确定删除？'],
  add: ['Add', '添加'],
  policy: ['Policy', '策略'],
  count: ['Requests', '请求数'],
  name: ['Name', '名称'],
  kind: ['Effect', '效果'],
  allow: ['Allow', '允许'],
  deny: ['Deny', '拒绝'],
  where: ['Where', '范围'],
  state: ['State', '状态'],
  on: ['On', '启用'],
  off: ['Off', '停用'],
  noCountry: ['No country rule.', '没有国家/地区规则。'],
  addCountry: ['Add a country rule', '添加国家/地区规则'],
  monitor: ['Only record', '仅记录'],
  everySite: ['Every site', '所有站点'],
  codes: ['Countries, for example Germany, FR', '国家/地区，例如 德国, FR'],
  noCatalog: [
    'No geo database is there: country rules have no effect.',
    '没有地理数据库：国家/地区规则不起作用。',
  ],
  peer: ['Address that connects', '连接地址'],
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
          { name: 'lists', codes: ['policy:read'], title: w('lists'), view: () => <IpLists /> },
          { name: 'limits', codes: ['policy:read'], title: w('limits'), view: () => <Limits /> },
          {
            name: 'countries',
            codes: ['policy:read'],
            title: w('countries'),
            view: () => <Countries />,
          },
          { name: 'trust', codes: ['system:read'], title: w('trust'), view: () => <Trust /> },
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
          {policyId !== '' && <RateLimits key={policyId} policyId={policyId} siteId="" />}
        </>
      )}
    </State>
  );
}

function Countries(): JSX.Element {
  const found = useCall('rules', (signal) => countries.listCountryAccessRules({}, { signal }));
  const hits = useHitsColumn(found.value?.items ?? []);
  const catalog = useCall(
    'catalog',
    (signal) => countries.getCountryCatalog({}, { signal }),
    never,
  );
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
            of: ({ countryCodes }) =>
              countryCodes.map((code) => countryName(code, language.value)).join(', '),
          },
          { title: w('kind'), of: ({ kind }) => stateName(kind) },
          {
            title: w('where'),
            of: ({ targets }) =>
              targets
                .map(({ siteName, policyName }) => siteName || policyName || w('everySite'))
                .join(', '),
          },
          { title: w('state'), of: ({ enabled }) => w(enabled ? 'on' : 'off') },
          hits,
        ]}
        remove={{
          label: w('remove'),
          ask: w('removeAsk'),
          codes: ['policy:country:write'],
          run: ({ id }) => countries.deleteCountryAccessRule({ id }),
        }}
      />
      <AddCountry codes={known?.countries.map(({ code }) => code) ?? []} changed={found.reload} />
    </>
  );
}

function AddCountry({
  codes: known,
  changed,
}: {
  /** Those of the data set. */
  readonly codes: readonly string[];
  readonly changed: () => void;
}): JSX.Element {
  const of = useCall('country sites', (signal) =>
    allItems((page) => sites.listSites({ page }, { signal })),
  );
  const tags = Object.keys(languages);
  return (
    <FoldedEdit
      label={w('addCountry')}
      codes={['policy:country:write']}
      submit={w('add')}
      fields={[
        { name: 'name', label: w('name'), required: true },
        { name: 'codes', api: ['countryCodes'], label: w('codes'), required: true },
        {
          name: 'kind',
          label: w('kind'),
          value: 'deny',
          choices: [
            ['deny', w('deny')],
            ['allow', w('allow')],
            ['monitor', w('monitor')],
          ],
        },
        {
          ...{ name: 'site', api: ['siteId'], label: w('where'), value: '' },
          choices: [
            ['', w('everySite')] as const,
            ...(of.value ?? []).map(({ id, name }) => [id, name] as const),
          ],
        },
      ]}
      save={async ({ name = '', codes, kind = '', site = '' }) => {
        const countryCodes = partsOf(codes).map((text) => countryCode(text, known, tags));
        const targets = site === '' ? [{ scope: 'global' }] : [{ scope: 'site', siteId: site }];
        await countries.upsertCountryAccessRule({
          rule: { name, countryCodes, kind, enabled: true, targets, ...inList },
        });
      }}
      saved={changed}
    />
  );
}

function Trust(): JSX.Element {
  const status = useCall('status', (signal) => trust.getTrustStatus({}, { signal }));
  const siteName = useSiteNames();
  return (
    <>
      <ExplainTrust siteId="" />
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
                  { title: w('since'), by: ({ firstSeenAt }) => firstSeenAt },
                  { title: w('site'), of: ({ siteId }) => siteName(siteId) },
                  { title: w('peer'), of: ({ peer }) => peer },
                  { title: w('spoofedHeader'), of: ({ header }) => header },
                  { title: w('count'), number: true, by: ({ count }) => count },
                ]}
              />
            </>
          )}
        </State>
      </Card>
    </>
  );
}
