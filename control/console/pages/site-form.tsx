/**
 * Forms on parts of a site: each saves the fields that it shows and no other. A site that was saved
 * meanwhile is a conflict only where these fields hold something else.
 */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { SiteService, type Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { Edit, heldBy, useBase, type Field, type Values } from '../parts/edit.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';

const sites = createClient(SiteService, transport);

const w = pageTexts({
  save: ['Save', '保存'],
  saved: ['Saved. The proxy takes it over now.', '已保存，代理正在应用。'],
});

/** A site as its page shows it. */
export interface ShownSite {
  readonly site: Site;
  /** Called after each save. */
  readonly changed: () => void;
}

interface SiteEditProps {
  readonly of: ShownSite;
  readonly label: string;
  /** The fields with what the site holds. */
  readonly fields: (site: Site) => readonly Field[];
  /** Names of what is saved, as the API's masks have them. */
  readonly mask: readonly string[];
  /** The site with what was entered. */
  readonly apply: (site: Site, values: Values) => Site;
  readonly ask?: (site: Site, values: Values) => Promise<string>;
}

/** The form. */
export function SiteEdit({ of, label, fields, mask, apply, ask }: SiteEditProps): JSX.Element {
  const base = useBase(of.site);
  const save = async (values: Values): Promise<void> => {
    const before = base.current;
    const { site } = await sites.updateSite({
      site: apply(before, values),
      revision: before.revision,
      updateMask: mask.join(','),
    });
    base.current = site ?? before;
  };
  const latest = async (): Promise<Values> => {
    const { site } = await sites.getSite({ id: of.site.id });
    if (site !== undefined) base.current = site;
    return heldBy(fields(base.current));
  };
  return (
    <Edit
      label={label}
      codes={['site:write']}
      submit={w('save')}
      done={w('saved')}
      base={base}
      fields={fields(of.site)}
      save={save}
      saved={of.changed}
      latest={latest}
      apart
      {...(ask === undefined ? {} : { ask: (values: Values) => ask(base.current, values) })}
    />
  );
}
