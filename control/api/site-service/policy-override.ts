/**
 * SiteService/GetSitePolicyOverride, UpsertSitePolicyOverride and DeleteSitePolicyOverride.
 */

import {
  SitePolicyOverrideSchema,
  type SitePolicyOverrideJson,
  type SiteService,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { checkBounds } from '../../domain/proto-bounds.ts';
import type { SiteOverrideRecord, SiteRecord } from '../../domain/records.ts';
import { siteOverrides } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { drop, keep, type Kept } from '../resource/owned.ts';
import { nextUpdate, requireUnchanged } from '../unchanged.ts';
import { storedSite } from './stored-site.ts';

/** What a site changes in its policy. */
export function getSitePolicyOverride(
  parts: Uses<'store'>,
): Method<typeof SiteService, 'getSitePolicyOverride'> {
  return ({ siteId }, context) => {
    const site = storedSite(parts.store, callerOf(context), siteId, 'siteId');
    const found = parts.store.get(siteOverrides, site.id);
    if (found === undefined) throw refusal('not_found', 'This site does not override its policy.');
    return { override: toMessage(SitePolicyOverrideSchema, found) };
  };
}

/** Sets what a site changes in its policy. */
export function upsertSitePolicyOverride(
  parts: Uses<'store' | 'clock'>,
): Method<typeof SiteService, 'upsertSitePolicyOverride'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.override === undefined) throw invalidField('override', 'is required');
    const asked = toRecord<SitePolicyOverrideJson>(SitePolicyOverrideSchema, request.override);
    checkOverrideRanges(asked);
    const now = isoNow(parts.clock);
    const stored = await parts.store.write((tx) => {
      const site = storedSite(tx, caller, asked.siteId ?? '', 'override.siteId');
      const before = tx.get(siteOverrides, site.id);
      requireUnchanged(request.expectedUpdatedAt, before);
      const record: SiteOverrideRecord = {
        ...asked,
        id: site.id,
        siteId: site.id,
        tenantId: caller.tenantId,
        policyId: site.waf?.policyId ?? '',
        createdAt: before?.createdAt ?? now,
        updatedAt: nextUpdate(before, parts.clock),
      };
      return keep(tx, caller, overrideOf(site), before, record, { action: 'upsert' });
    });
    return { override: toMessage(SitePolicyOverrideSchema, stored) };
  };
}

/** Lets a site use its policy as it is. */
export function deleteSitePolicyOverride(
  parts: Uses<'store'>,
): Method<typeof SiteService, 'deleteSitePolicyOverride'> {
  return async ({ siteId }, context) => {
    const caller = callerOf(context);
    const changed = await parts.store.write((tx) => {
      const site = storedSite(tx, caller, siteId, 'siteId');
      const before = tx.get(siteOverrides, site.id);
      if (before === undefined) return false;
      drop(tx, caller, overrideOf(site), before);
      return true;
    });
    return { result: { id: siteId, changed } };
  };
}

function overrideOf(site: SiteRecord): Kept<SiteOverrideRecord> {
  const audit = 'site_policy_override';
  return { collection: siteOverrides, audit, nameOf: () => site.name };
}

/** Errors: invalid_argument naming the field. */
export function checkOverrideRanges(override: SitePolicyOverrideJson): void {
  const { blockingParanoiaLevel: blocking, detectionParanoiaLevel: detection } = override;
  checkBounds(SitePolicyOverrideSchema, override, 'override');
  if (blocking !== undefined && detection !== undefined && detection < blocking) {
    throw invalidField('override.detectionParanoiaLevel', 'must not be below the blocking level');
  }
}
