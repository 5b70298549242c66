/** SiteService. */

import type { SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { createSite } from './create-site.ts';
import { deleteSite } from './delete-site.ts';
import { exportSite, exportSites } from './export-sites.ts';
import { getSite } from './get-site.ts';
import { importSite } from './import-site.ts';
import { listSites } from './list-sites.ts';
import { previewCompiledConfig } from './preview-compiled-config.ts';
import {
  deleteSitePolicyOverride,
  getSitePolicyOverride,
  upsertSitePolicyOverride,
} from './policy-override.ts';
import { getSiteRouting, updateSiteRouting } from './routing.ts';
import { disableSite, enableSite } from './set-site-status.ts';
import { updateSite } from './update-site.ts';

/** SiteService. */
export function siteService(parts: Uses<'store' | 'clock' | 'engine'>): Built<typeof SiteService> {
  return {
    listSites: listSites(parts),
    getSite: getSite(parts),
    createSite: createSite(parts),
    updateSite: updateSite(parts),
    deleteSite: deleteSite(parts),
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
