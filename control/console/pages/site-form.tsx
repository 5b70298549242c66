/**
 * Owns forms on parts of a site: each saves the fields that it shows and no other. What one form of
 * the page saved is known to the others; what somebody else saved is shown as a conflict.
 */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { SiteService, type Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { Edit, type Field, type Values } from '../parts/edit.tsx';
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
  /** What saves of this page made of a revision. */
  readonly steps: Map<bigint, Site>;
}

/** The newest site that only this page's saves lead to. */
export function followSteps(steps: ReadonlyMap<bigint, Site>, from: Site): Site {
  let site = from;
  for (let next = steps.get(site.revision); next !== undefined; next = steps.get(site.revision)) {
    site = next;
  }
  return site;
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
  const base = useRef(of.site);
  const newest = (): Site => followSteps(of.steps, base.current);
  const save = async (values: Values): Promise<void> => {
    const before = newest();
    const { site } = await sites.updateSite({
      site: apply(before, values),
      revision: before.revision,
      updateMask: mask.join(','),
    });
    if (site === undefined) return;
    of.steps.set(before.revision, site);
    base.current = site;
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
      fields={fields(of.site)}
      save={save}
      saved={of.changed}
      latest={latest}
      {...(ask === undefined ? {} : { ask: (values: Values) => ask(newest(), values) })}
    />
  );
}

/** What fields hold, by name. */
export function heldBy(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map(({ name, value = '' }) => [name, value]));
}
