/** SystemService. */

import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import type { ApiParts } from '../context.ts';
import { listUpstreamCrsReleases } from '../crs-service/fetch-releases.ts';
import { pageOfRulesets, showRuleset } from '../crs-service/rulesets.ts';
import type { Built } from '../method.ts';
import { getAttackDistribution, getDashboardStats, getTopAttackers } from './dashboard.ts';
import { applyBinaryRelease, rollbackBinaryRelease } from './apply-release.ts';
import { apply, previewApply } from './apply.ts';
import { checkForUpdates } from './check-updates.ts';
import { downloadGeoDatabase } from './download-geo.ts';
import { deleteGeoDatabase, listGeoDatabases, uploadGeoDatabase } from './geo-databases.ts';
import { deleteBinaryRelease, getBinaryRelease, listBinaryReleases } from './releases.ts';
import { importBinaryRelease } from './import-release.ts';
import { health } from './health.ts';
import { getDashboardOverview } from './overview.ts';
import { getObservationPipelineStats } from './pipeline-stats.ts';
import { deleteCrsRuleset, importCrsRuleset } from './rulesets.ts';
import { getSystemSettings, updateSystemSettings } from './settings.ts';
import { getTrafficTimeseries } from './traffic.ts';
import {
  cancelUpgradeRun,
  getUpgradeRun,
  listUpgradeRuns,
  streamUpgradeRun,
} from './upgrade-runs.ts';
import { version } from './version.ts';

/** SystemService. */
export function systemService(parts: ApiParts): Built<typeof SystemService> {
  return {
    version: version(parts),
    health: health(parts),
    getSystemSettings: getSystemSettings(parts),
    updateSystemSettings: updateSystemSettings(parts),
    listGeoDatabases: listGeoDatabases(parts),
    downloadGeoDatabase: downloadGeoDatabase(parts),
    uploadGeoDatabase: uploadGeoDatabase(parts),
    deleteGeoDatabase: deleteGeoDatabase(parts),
    checkForUpdates: checkForUpdates(parts),
    listBinaryReleases: listBinaryReleases(parts),
    getBinaryRelease: getBinaryRelease(parts),
    importBinaryRelease: importBinaryRelease(parts),
    deleteBinaryRelease: deleteBinaryRelease(parts),
    applyBinaryRelease: applyBinaryRelease(parts),
    rollbackBinaryRelease: rollbackBinaryRelease(parts),
    listUpgradeRuns: listUpgradeRuns(parts),
    getUpgradeRun: getUpgradeRun(parts),
    streamUpgradeRun: streamUpgradeRun(parts),
    cancelUpgradeRun: cancelUpgradeRun(parts),
    getObservationPipelineStats: getObservationPipelineStats(parts),
    getDashboardStats: getDashboardStats(parts),
    getDashboardOverview: getDashboardOverview(parts),
    getTrafficTimeseries: getTrafficTimeseries(parts),
    getAttackDistribution: getAttackDistribution(parts),
    getTopAttackers: getTopAttackers(parts),
    listSystemCrsRulesets: ({ page }) => pageOfRulesets(parts.store, page),
    getSystemCrsRuleset: ({ id }) => ({ ruleset: showRuleset(parts.store, id) }),
    importCrsRuleset: importCrsRuleset(parts),
    deleteCrsRuleset: deleteCrsRuleset(parts),
    listUpstreamCrsReleases: listUpstreamCrsReleases(parts),
    previewApply: previewApply(parts),
    apply: apply(parts),
  };
}
