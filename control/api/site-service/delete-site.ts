/** SiteService/DeleteSite. */

import type { SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { removeAccessOf } from '../../access/remove-place.ts';
import { withoutSite } from '../../domain/site/site-options.ts';
import {
  apiLearning,
  customRules,
  detectionLearning,
  learnedDrafts,
  logPolicies,
  ruleOverrides,
  settingsId,
  siteOverrides,
  siteRoutings,
  systemSettings,
} from '../../store/collections.ts';
import { forgetApiOfSite } from '../api-schema-service/forget-site.ts';
import { callerOf, type Uses } from '../context.ts';
import { nextRevision } from '../convert.ts';
import type { Method } from '../method.ts';
import { drop } from '../resource/owned.ts';
import { siteKind, storedSite } from './stored-site.ts';

/** Removes a site with its own rules, overrides and documents; the next publication ends it. */
export function deleteSite(parts: Uses<'store'>): Method<typeof SiteService, 'deleteSite'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const removed = await parts.store.write((tx) => {
      const before = storedSite(tx, caller, request.id, 'id');
      tx.remove(siteOverrides, before.id);
      removeAccessOf(tx, 'site', before.id);
      tx.remove(siteRoutings, before.id);
      tx.remove(logPolicies, before.id);
      tx.remove(detectionLearning, before.id);
      const stored = tx.get(systemSettings, settingsId);
      const left = withoutSite(stored?.values ?? {}, before.id);
      if (stored !== undefined && left !== null) {
        tx.put(systemSettings, { ...stored, values: left });
      }
      forgetApiOfSite(tx, before.id);
      for (const { id } of tx.find(apiLearning, 'site', before.id)) {
        for (const draft of tx.find(learnedDrafts, 'asset', id)) {
          tx.removeBlob(draft.blob);
          tx.remove(learnedDrafts, draft.id);
        }
        tx.remove(apiLearning, id);
      }
      for (const rule of tx.list(customRules)) {
        if (rule.siteId === before.id) tx.remove(customRules, rule.id);
      }
      for (const override of tx.list(ruleOverrides)) {
        if (override.siteId === before.id) tx.remove(ruleOverrides, override.id);
      }
      drop(tx, caller, siteKind, before);
      return before;
    });
    const revision = BigInt(nextRevision(removed.revision));
    return { result: { id: removed.id, revision, changed: true } };
  };
}
