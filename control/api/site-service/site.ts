/** Sites: found by their hosts and names; what is checked around them is in `surroundings.ts`. */

import { SiteSchema, type SiteJson } from '../../../proto/gen/waf/v1/site_pb.ts';
import { warningsFor } from '../../domain/enforcement.ts';
import { invalidField } from '../../domain/errors.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { keepSiteSecrets } from '../../domain/site/header-secrets.ts';
import { checkSite, hostsOf } from '../../domain/site/site.ts';
import { maskOf } from '../../domain/update-mask.ts';
import { readSiteSpec, siteSpec } from '../../publish/manifests/manifest-site.ts';
import { nextRevision } from '../convert.ts';
import type { Resource } from '../resource/resource.ts';
import {
  dropBeside,
  keepBeside,
  settleBeside,
  storedBeside,
  type BesideSite,
} from './beside-site.ts';
import { leftAtPolicy } from './left-at-policy.ts';
import { siteKind } from './stored-site.ts';
import { surroundingsIn, unchangedPasses } from './surroundings.ts';

/** Sites, with the routing table and the override where these are asked for. */
export const siteResource: Resource<typeof SiteSchema, SiteJson & BesideSite, SiteRecord> = {
  ...siteKind,
  schema: SiteSchema,
  field: 'site',
  prefix: 'site',
  mask: maskOf(SiteSchema),
  searched: (site) => [site.name, ...hostsOf(site)],
  settle: ({ tx, caller, nowMs, document }, asked, before, base) => {
    const { routing, policyOverride, ...site } = asked;
    const kept = keepSiteSecrets(site, before);
    const stated = before === null ? withSiteDefaults(kept) : kept;
    const around = surroundingsIn(tx, caller.tenantId, nowMs);
    // A document must hold by itself; a call may change something else, and nothing beside.
    const isUpdate = document === undefined && before !== null;
    const checked = checkSite(
      { ...stated, id: base.id },
      isUpdate ? unchangedPasses(around, before) : around,
    );
    checkStatus(checked.status);
    const record: SiteRecord = {
      ...checked,
      ...base,
      tls: checked.tls ?? { mode: 'TLS_MODE_NONE' },
      waf: checked.waf ?? standardWaf,
      name: checked.name ?? '',
      primaryHost: checked.primaryHost ?? '',
      revision: before === null ? '1' : nextRevision(before.revision),
    };
    const beside = settleBeside(tx, record, { routing, policyOverride }, around);
    document?.warn(...warningsFor('waf.v1.Site', { ...record }));
    if (before !== null) document?.warn(...leftAtPolicy(tx, before, record));
    return {
      record,
      spec: (references) =>
        siteSpec(
          { site: record, routing: beside.routing, policyOverride: beside.policyOverride },
          references,
        ),
      ...(isUpdate ? {} : { keepMore: (writing) => keepBeside(writing, record, beside) }),
    };
  },
  revisionOf: ({ revision }) => revision,
  dropMore: ({ tx }, { id }) => dropBeside(tx, id),
  document: {
    reference: 'site',
    read: (document, references) => {
      const { site, ...beside } = readSiteSpec(document, references);
      return { ...site, ...beside };
    },
    spec: (site, references, store) => {
      const { routing, policyOverride } = storedBeside(store, site.id);
      return siteSpec({ site, routing, policyOverride }, references);
    },
  },
};

/** Errors: invalid_argument for a status that an operator cannot give. */
function checkStatus(status: SiteJson['status']): void {
  if (status === 'RESOURCE_STATUS_ACTIVE' || status === 'RESOURCE_STATUS_DISABLED') return;
  throw invalidField('site.status', 'must be RESOURCE_STATUS_ACTIVE or RESOURCE_STATUS_DISABLED');
}

/** What protects a site that states nothing: the default policy, blocking. */
const standardWaf = { enabled: true, mode: 'WAF_MODE_BLOCKING' } as const;

/** A site to be created, with standard values where it states none. */
function withSiteDefaults(site: SiteJson): SiteJson {
  const { deletedAt: _deletedAt, ...rest } = site;
  return {
    ...rest,
    status: rest.status ?? 'RESOURCE_STATUS_ACTIVE',
    waf: rest.waf === undefined ? standardWaf : { mode: 'WAF_MODE_BLOCKING', ...rest.waf },
  };
}
