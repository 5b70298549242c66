/** One site: its names and origins, routes, TLS, and what protects it, each with its own form. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { ResourceStatus } from '../../../proto/gen/waf/v1/common_pb.ts';
import { SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { UpstreamService } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import { go } from '../address.ts';
import { useCall } from '../call.ts';
import { lazy } from '../lazy.tsx';
import { Act } from '../parts/act.tsx';
import { partsOf } from '../parts/edit.tsx';
import { Link } from '../parts/link.tsx';
import { allItems } from '../parts/list.tsx';
import { Back, Card, Tabs } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { pageTexts, t } from '../text/text.ts';
import { SiteAttack } from './site-attack.tsx';
import { enteredOrigins, urlOf, whatIsLeft } from './site-origins.ts';
import { SiteEdit, type ShownSite } from './site-form.tsx';

// A view is loaded when it is looked at.
const SiteRoutes = lazy(async () => (await import('./site-routes.tsx')).SiteRoutes);
const SiteTls = lazy(async () => (await import('./site-tls.tsx')).SiteTls);
const SiteInspection = lazy(async () => (await import('./site-inspection.tsx')).SiteInspection);
const SiteChallenges = lazy(async () => (await import('./site-challenges.tsx')).SiteChallenges);
const RateLimits = lazy(async () => (await import('./rate-limits.tsx')).RateLimits);
const SiteTrust = lazy(async () => (await import('./site-trust.tsx')).SiteTrust);
const SiteDelivery = lazy(async () => (await import('./site-delivery.tsx')).SiteDelivery);
const sites = createClient(SiteService, transport);
const upstreams = createClient(UpstreamService, transport);

const w = pageTexts({
  back: ['All sites', '全部站点'],
  names: ['Names and origins', '域名与源站'],
  routes: ['Routes', '路由'],
  inspection: ['Inspection', '检测'],
  challenges: ['Challenges', '人机验证'],
  limits: ['Rate limits', '频率限制'],
  ownLimits: ['Rate limits of this site', '此站点的频率限制'],
  limitsNote: [
    'Limits of the policy hold as well: Protection has them.',
    '策略的限制同样生效：见“防护”页面。',
  ],
  trust: ['Client address', '客户端地址'],
  delivery: ['Delivery', '交付'],
  name: ['Name', '名称'],
  host: ['Host', '主机名'],
  aliases: ['Further hosts, one a line', '其他主机名，每行一个'],
  pool: ['Origins', '源站'],
  noPool: ['The addresses below', '使用下方地址'],
  origins: ['Addresses of origins, one a line', '源站地址，每行一个'],
  leaves: [
    'These addresses, with what is set for each, are no longer used: {list}.',
    '以下地址及其设置将不再使用：{list}。',
  ],
  serving: ['Serving', '服务状态'],
  on: ['This site serves.', '此站点正在服务。'],
  off: ['This site is disabled: its requests get 404.', '此站点已停用：请求返回 404。'],
  enable: ['Enable', '启用'],
  disable: ['Disable', '停用'],
  disableAsk: ['Stop serving this site?', '停止服务此站点？'],
  remove: ['Delete the site', '删除站点'],
  removeAsk: [
    'Delete it with its routes, exclusions and limits?',
    '连同其路由、排除项和限制一起删除？',
  ],
  attacks: ['Attacks on it', '针对它的攻击'],
});

/** The page of the site with this id. */
export function SitePage({ id }: { readonly id: string }): JSX.Element {
  const found = useCall(id, (signal) => sites.getSite({ id }, { signal }));
  return (
    <>
      <Back href="/sites">{w('back')}</Back>
      <State of={found}>
        {({ site, warnings }) =>
          site === undefined ? (
            <p>{t('common.none')}</p>
          ) : (
            <>
              <div class="page-head">
                <h1>
                  <VisibleText text={site.name} />
                </h1>
                <p class="quiet">
                  <VisibleText text={[site.primaryHost, ...site.aliases].join(', ')} />
                  {' · '}
                  <Link href={`/attacks?site=${site.id}`}>{w('attacks')}</Link>
                </p>
              </div>
              {warnings.map((warning) => (
                <p class="notice">
                  <VisibleText text={said(warning)} />
                </p>
              ))}
              <SiteAttack of={{ site, changed: found.reload }} />
              <Views of={{ site, changed: found.reload }} />
            </>
          )
        }
      </State>
    </>
  );
}

function Views({ of }: { readonly of: ShownSite }): JSX.Element {
  return (
    <Tabs
      label={of.site.name}
      tabs={[
        { name: 'names', title: w('names'), view: () => <Names of={of} /> },
        {
          name: 'routes',
          codes: ['upstream:read'],
          title: w('routes'),
          view: () => <SiteRoutes of={of} />,
        },
        { name: 'tls', codes: ['cert:read'], title: 'TLS', view: () => <SiteTls of={of} /> },
        {
          name: 'inspection',
          codes: ['policy:read'],
          title: w('inspection'),
          view: () => <SiteInspection of={of} />,
        },
        {
          name: 'challenges',
          codes: ['policy:read'],
          title: w('challenges'),
          view: () => <SiteChallenges of={of} />,
        },
        {
          name: 'limits',
          codes: ['policy:read'],
          title: w('limits'),
          view: () => <Limits siteId={of.site.id} />,
        },
        {
          name: 'trust',
          codes: ['system:read'],
          title: w('trust'),
          view: () => <SiteTrust siteId={of.site.id} />,
        },
        { name: 'delivery', title: w('delivery'), view: () => <SiteDelivery of={of} /> },
      ]}
    />
  );
}

function Limits({ siteId }: { readonly siteId: string }): JSX.Element {
  return (
    <Card title={w('ownLimits')} note={w('limitsNote')}>
      <RateLimits policyId="" siteId={siteId} />
    </Card>
  );
}

function Names({ of }: { readonly of: ShownSite }): JSX.Element {
  const pools = useCall('pools', (signal) =>
    allItems((page) => upstreams.listUpstreams({ page }, { signal })),
  );
  return (
    <>
      <State of={pools}>
        {(items) => (
          <Card title={w('names')}>
            <SiteEdit
              of={of}
              label={w('names')}
              mask={['name', 'primaryHost', 'aliases', 'upstreams']}
              fields={(site) => [
                { name: 'name', label: w('name'), value: site.name, required: true },
                {
                  name: 'host',
                  api: ['primaryHost'],
                  label: w('host'),
                  value: site.primaryHost,
                  required: true,
                },
                {
                  name: 'pool',
                  api: ['upstreamId'],
                  label: w('pool'),
                  value: site.upstreams.find((one) => one.upstreamId !== '')?.upstreamId ?? '',
                  choices: [['', w('noPool')], ...items.map(({ id, name }) => [id, name] as const)],
                },
                {
                  name: 'aliases',
                  label: w('aliases'),
                  kind: 'area',
                  value: site.aliases.join('\n'),
                },
                {
                  name: 'origins',
                  api: ['upstreams', 'url'],
                  label: w('origins'),
                  kind: 'area',
                  value: site.upstreams.map(urlOf).filter(Boolean).join('\n'),
                },
              ]}
              ask={async (site, { pool = '', origins }) => {
                const left = whatIsLeft(site.upstreams, pool, partsOf(origins));
                return left.length === 0 ? '' : w('leaves', { list: left.join(', ') });
              }}
              apply={(site, { name = '', host = '', aliases, pool = '', origins }) => ({
                ...site,
                name,
                primaryHost: host,
                aliases: partsOf(aliases),
                upstreams: enteredOrigins(site.upstreams, pool, partsOf(origins)),
              })}
            />
          </Card>
        )}
      </State>
      <Serving of={of} />
    </>
  );
}

function Serving({ of }: { readonly of: ShownSite }): JSX.Element {
  const { id, status } = of.site;
  const active = status === ResourceStatus.ACTIVE;
  const turn = async (): Promise<void> => {
    // What others changed in the site meanwhile stays: only its status is decided here.
    const { site } = await sites.getSite({ id });
    const request = { id, revision: site?.revision ?? of.site.revision };
    await (active ? sites.disableSite(request) : sites.enableSite(request));
  };
  return (
    <Card title={w('serving')} note={w(active ? 'on' : 'off')}>
      <p class="actions">
        <Act
          label={w(active ? 'disable' : 'enable')}
          codes={['site:write']}
          run={turn}
          done={of.changed}
          {...(active ? { ask: w('disableAsk') } : {})}
        />
        <Act
          label={w('remove')}
          ask={w('removeAsk')}
          codes={['site:delete']}
          run={() => sites.deleteSite({ id })}
          done={() => go('/sites')}
        />
      </p>
    </Card>
  );
}
