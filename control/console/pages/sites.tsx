/** The sites: what is served, how it is inspected, and a new one in three answers. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ResourceStatus } from '../../../proto/gen/waf/v1/common_pb.ts';
import { SiteService, WafMode, type Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { messageOf } from '../call.ts';
import { textField } from '../parts/form.ts';
import { Link } from '../parts/link.tsx';
import { PageSteps, usePages } from '../parts/list.tsx';
import { State } from '../parts/state.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { person, transport } from '../session.ts';
import { t } from '../text/text.ts';

const sites = createClient(SiteService, transport);

/** The page. */
export function Sites(): JSX.Element {
  const found = usePages('sites', (page, signal) => sites.listSites({ page }, { signal }));
  return (
    <>
      <h1>{t('sites.title')}</h1>
      <CreateSite onCreated={found.reload} />
      <State of={found}>
        {({ items }) => (
          <>
            <SiteTable items={items} />
            <PageSteps of={found} />
          </>
        )}
      </State>
    </>
  );
}

function SiteTable({ items }: { readonly items: readonly Site[] }): JSX.Element {
  if (items.length === 0) return <p class="quiet">{t('sites.empty')}</p>;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>{t('sites.name')}</th>
            <th>{t('sites.host')}</th>
            <th>{t('sites.origin')}</th>
            <th>{t('sites.inspection')}</th>
            <th>{t('sites.status')}</th>
            <th>{t('attacks.title')}</th>
          </tr>
        </thead>
        <tbody>
          {items.map((site) => (
            <tr key={site.id}>
              <td>
                <Link href={`/sites/${site.id}`}>
                  <VisibleText text={site.name} />
                </Link>
              </td>
              <td>
                <VisibleText text={[site.primaryHost, ...site.aliases].join(', ')} />
              </td>
              <td>
                <VisibleText
                  text={site.upstreams
                    .map(({ inline, upstreamId }) => inline?.url ?? upstreamId)
                    .join(', ')}
                />
              </td>
              <td>{t(inspectionOf(site))}</td>
              <td>
                {t(site.status === ResourceStatus.ACTIVE ? 'sites.active' : 'sites.disabled')}
              </td>
              <td>
                <Link href={`/attacks?site=${site.id}`}>{t('attacks.title')}</Link>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inspectionOf({ waf }: Site): 'sites.off' | 'sites.detection' | 'sites.blocking' {
  if (waf?.enabled !== true) return 'sites.off';
  return waf.mode === WafMode.DETECTION ? 'sites.detection' : 'sites.blocking';
}

function CreateSite({ onCreated }: { readonly onCreated: () => void }): JSX.Element {
  const [error, setError] = useState('');
  const [created, setCreated] = useState<{ name: string; host: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const allowed = person.value.codes.has('site:write');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const fields = new FormData(form);
    const value = (name: string): string => textField(fields, name);
    const host = value('host');
    const name = value('name') || host;
    setBusy(true);
    setError('');
    sites
      .createSite({
        site: {
          name,
          primaryHost: host,
          upstreams: [{ inline: { url: value('origin'), weight: 1 } }],
          waf: { enabled: true, mode: WafMode.BLOCKING },
          status: ResourceStatus.ACTIVE,
        },
      })
      .then(
        () => {
          form.reset();
          setCreated({ name, host });
          onCreated();
        },
        (thrown: unknown) => setError(messageOf(thrown)),
      )
      .finally(() => setBusy(false));
  };
  return (
    <details class="card wide">
      <summary>{t('sites.create')}</summary>
      <form class="filters" onSubmit={submit}>
        <label>
          {t('sites.host')}
          <input name="host" required placeholder={t('sites.hostHint')} />
        </label>
        <label>
          {t('sites.origin')}
          <input name="origin" required placeholder={t('sites.originHint')} />
        </label>
        <label>
          {t('sites.name')}
          <input name="name" />
        </label>
        <button class="primary" disabled={busy || !allowed}>
          {t('sites.submit')}
        </button>
        {!allowed && <small>{t('common.notAllowed', { code: 'site:write' })}</small>}
      </form>
      <div aria-live="polite">
        {error !== '' && <p class="notice">{error}</p>}
        {created !== null && <p class="done">{t('sites.created', created)}</p>}
      </div>
    </details>
  );
}
