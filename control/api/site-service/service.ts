/** SiteService. */

import { BodyInspectionSchema } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { bodyInspectionOf } from '../../domain/policy/body-inspection.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import { policyOfSite } from '../log-service/explain-event.ts';
import type { Built } from '../method.ts';
import { serve } from '../resource/serve.ts';
import { applicationOf } from './application-of.ts';
import { exportSite, exportSites } from './export-sites.ts';
import { importSite } from './import-site.ts';
import { leftAtPolicy } from './left-at-policy.ts';
import {
  deleteSitePolicyOverride,
  getSitePolicyOverride,
  upsertSitePolicyOverride,
} from './policy-override.ts';
import { previewCompiledConfig } from './preview-compiled-config.ts';
import { getSiteRouting, updateSiteRouting } from './routing.ts';
import { disableSite, enableSite } from './set-site-status.ts';
import { siteResource } from './site.ts';

const statuses = ['active', 'disabled', 'error'];

/** SiteService. */
export function siteService(parts: Uses<'store' | 'clock' | 'engine'>): Built<typeof SiteService> {
  const { show, asked, list, get, create, update, remove } = serve(parts, siteResource);
  return {
    listSites: (request, context) => {
      const status = request.status.toLowerCase().replace(/^resource_status_/, '');
      if (status !== '' && !statuses.includes(status)) {
        throw invalidField('status', `must be one of ${statuses.join(', ')}`);
      }
      const wanted = `RESOURCE_STATUS_${status.toUpperCase()}`;
      const { token } = callerOf(context);
      return list(request, context, {
        fits: (site) =>
          token?.siteIds?.has(site.id) !== false && (status === '' || site.status === wanted),
      });
    },
    getSite: (request, context) => {
      const site = get(request, context);
      const { tenantId } = callerOf(context);
      const inspection = bodyInspectionOf(policyOfSite(parts.store, tenantId, site.id));
      return {
        site,
        ...(inspection && { bodyInspection: toMessage(BodyInspectionSchema, inspection) }),
      };
    },
    // Without a stated WAF, the default policy protects the site.
    createSite: async ({ site, recognizeApplication }, context) => {
      const stored = await create(asked(site), context);
      const found = recognizeApplication ? await applicationOf(parts, stored) : {};
      return { site: show(stored), ...found };
    },
    updateSite: async (request, context) => {
      let warnings: string[] = [];
      const stored = await update(asked(request.site), request, context, {
        also: (tx, after, before) => {
          if (before !== null) warnings = leftAtPolicy(tx, before, after);
        },
      });
      return { site: show(stored), warnings };
    },
    deleteSite: remove,
    enableSite: enableSite(parts),
    disableSite: disableSite(parts),
    previewCompiledConfig: previewCompiledConfig(parts),
    exportSite: exportSite(parts),
    exportSites: exportSites(parts),
    importSite: importSite(parts),
    getSiteRouting: getSiteRouting(parts),
    updateSiteRouting: updateSiteRouting(parts),
    getSitePolicyOverride: getSitePolicyOverride(parts),
    upsertSitePolicyOverride: upsertSitePolicyOverride(parts),
    deleteSitePolicyOverride: deleteSitePolicyOverride(parts),
  };
}
