/** The sites: what is served, how it is inspected, and a new one in three answers. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ResourceStatus } from '../../../proto/gen/waf/v1/common_pb.ts';
import {
  SiteService,
  TlsHttpBehavior,
  TlsMode,
  WafMode,
  type CreateSiteResponse,
  type Site,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { lazy } from '../lazy.tsx';
import { Link } from '../parts/link.tsx';
import { FoldedEdit, List, usePages } from '../parts/list.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { pageTexts, t } from '../text/text.ts';

const sites = createClient(SiteService, transport);

const KnownApplication = lazy(
  async () => (await import('./known-application.tsx')).KnownApplication,
);

const w = pageTexts({
  certificate: ['Certificate', '证书'],
  none: ['None: plain HTTP', '无：仅 HTTP'],
  managed: ['Managed: ordered and renewed (ACME)', '托管：自动申请与续期（ACME）'],
  ownHint: [
    'One of your own is uploaded on the page of the site. A managed one needs port 80 of the host.',
    '自有证书在站点页面上传。托管证书要求该主机名的 80 端口可达。',
  ],
});

/** Ordered as the site is made; plain HTTP leads to it. */
const managedTls = {
  mode: TlsMode.MANAGED_ACME,
  httpBehavior: TlsHttpBehavior.REDIRECT_TO_HTTPS,
} as const;

/** The page. */
export function Sites(): JSX.Element {
  const found = usePages('sites', (page, signal) => sites.listSites({ page }, { signal }));
  return (
    <>
      <h1>{t('sites.title')}</h1>
      <List
        of={found}
        label={t('sites.title')}
        empty={t('sites.empty')}
        columns={[
          {
            title: t('sites.name'),
            by: ({ name }) => name,
            of: ({ id, name }) => (
              <Link href={`/sites/${id}`}>
                <VisibleText text={name} />
              </Link>
            ),
          },
          {
            title: t('sites.host'),
            of: ({ primaryHost, aliases }) => [primaryHost, ...aliases].join(', '),
          },
          {
            title: t('sites.origin'),
            of: ({ upstreams }) =>
              upstreams.map(({ inline, upstreamId }) => inline?.url ?? upstreamId).join(', '),
          },
          { title: t('sites.inspection'), of: (site) => t(inspectionOf(site)) },
          {
            title: t('sites.status'),
            of: ({ status }) =>
              t(status === ResourceStatus.ACTIVE ? 'sites.active' : 'sites.disabled'),
          },
          {
            title: '',
            of: ({ id }) => <Link href={`/attacks?site=${id}`}>{t('attacks.title')}</Link>,
          },
        ]}
      />
      <CreateSite onCreated={found.reload} />
    </>
  );
}

function inspectionOf({ waf }: Site): 'sites.off' | 'sites.detection' | 'sites.blocking' {
  if (waf?.enabled !== true) return 'sites.off';
  return waf.mode === WafMode.DETECTION ? 'sites.detection' : 'sites.blocking';
}

function CreateSite({ onCreated }: { readonly onCreated: () => void }): JSX.Element {
  const [created, setCreated] = useState({ name: '', host: '' });
  const [answer, setAnswer] = useState<CreateSiteResponse | null>(null);
  const found = answer?.recognizedApplication;
  return (
    <>
      <FoldedEdit
        label={t('sites.create')}
        codes={['site:write']}
        submit={t('sites.submit')}
        done={t('sites.created', created)}
        fields={[
          {
            ...{ name: 'host', label: t('sites.host'), hint: t('sites.hostHint'), required: true },
            api: ['primaryHost'],
          },
          {
            ...{ name: 'origin', label: t('sites.origin'), hint: t('sites.originHint') },
            ...{ required: true, api: ['upstreams', 'url'] },
          },
          { name: 'name', label: t('sites.name') },
          {
            ...{ name: 'certificate', api: ['tls'], label: w('certificate'), value: 'none' },
            hint: w('ownHint'),
            choices: [
              ['none', w('none')],
              ['managed', w('managed')],
            ],
          },
        ]}
        save={async ({ host = '', origin = '', name = '', certificate }) => {
          const site = {
            ...{ name: name || host, primaryHost: host, status: ResourceStatus.ACTIVE },
            upstreams: [{ inline: { url: origin, weight: 1 } }],
            waf: { enabled: true, mode: WafMode.BLOCKING },
            ...(certificate === 'managed' ? { tls: managedTls } : {}),
          };
          setAnswer(await sites.createSite({ site, recognizeApplication: true }));
          setCreated({ name: site.name, host });
        }}
        saved={onCreated}
      />
      {found !== undefined && <KnownApplication siteId={answer?.site?.id ?? ''} found={found} />}
    </>
  );
}
