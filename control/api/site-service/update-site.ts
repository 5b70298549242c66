/** SiteService/UpdateSite. */

import { SiteSchema, type SiteJson, type SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { keepSiteSecrets } from '../../domain/site/header-secrets.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { checkSite, type SiteSurroundings } from '../../domain/site/site.ts';
import { requireDefault } from '../../domain/site/site-routing.ts';
import { applyMask, type MaskFields } from '../../domain/update-mask.ts';
import { customRules, ruleOverrides } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { nextRevision, requireRevision, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { checkStatus, standardWaf } from './create-site.ts';
import { routingOf } from './routing.ts';
import { keep } from '../resource/owned.ts';
import { siteKind, storedSite } from './stored-site.ts';
import { surroundingsIn } from './surroundings.ts';

const maskFields: MaskFields = {
  name: true,
  primaryHost: true,
  aliases: true,
  upstreams: true,
  status: true,
  tls: {
    mode: true,
    certId: true,
    minVersion: true,
    httpBehavior: true,
    hstsMaxAgeSeconds: true,
    hstsIncludeSubdomains: true,
  },
  waf: { enabled: true, policyId: true, mode: true },
  botProtection: {
    mode: true,
    challengeTtlSeconds: true,
    clearanceTtlSeconds: true,
    proofDifficulty: true,
    bindNetwork: true,
    challengePaths: true,
    exemptPaths: true,
    exemptMethods: true,
    challengeCrawlers: true,
    trustedIpListIds: true,
  },
  delivery: {
    maintenance: {
      enabled: true,
      retryAfterSeconds: true,
      title: true,
      message: true,
      allowedNetworks: true,
      allowedPaths: true,
    },
    redirects: true,
    basicAuth: true,
    bodyLimits: true,
    securityTxt: true,
    cors: true,
    requestFields: true,
    responseFields: true,
  },
};

/** Changes the masked fields of a site. */
export function updateSite(
  parts: Uses<'store' | 'clock'>,
): Method<typeof SiteService, 'updateSite'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.site === undefined) throw invalidField('site', 'is required');
    const change = toRecord<SiteJson>(SiteSchema, request.site);
    const now = new Date(parts.clock.nowMs()).toISOString();
    let left: string[] = [];
    const stored = await parts.store.write((tx) => {
      const before = storedSite(tx, caller, change.id ?? '', 'site.id');
      requireRevision(request.revision, before.revision);
      const masked = applyMask(before, change, request.updateMask, maskFields);
      const around = unchangedPasses(
        surroundingsIn(tx, caller.tenantId, parts.clock.nowMs()),
        before,
      );
      const checked = checkSite(keepSiteSecrets(masked, before), around);
      checkStatus(checked.status);
      requireDefault(routingOf(tx, before.id), checked);
      const after: SiteRecord = {
        ...before,
        ...checked,
        waf: checked.waf ?? standardWaf,
        id: before.id,
        name: checked.name ?? '',
        primaryHost: checked.primaryHost ?? '',
        tenantId: before.tenantId,
        createdAt: before.createdAt,
        updatedAt: now,
        revision: nextRevision(before.revision),
      };
      left = leftAtPolicy(tx, before, after);
      return keep(tx, caller, siteKind, before, after);
    });
    return { site: toMessage(SiteSchema, stored), warnings: left };
  };
}

/** An ended certificate or a policy that a site already has does not refuse another change. */
function unchangedPasses(around: SiteSurroundings, before: SiteRecord): SiteSurroundings {
  return {
    ...around,
    certificate: (id) => {
      const facts = around.certificate?.(id);
      return facts === undefined || id !== before.tls?.certId
        ? facts
        : { ...facts, expired: false };
    },
    policyProblem: (id) => (id === before.waf?.policyId ? '' : (around.policyProblem?.(id) ?? '')),
  };
}

/** What the site has at the policy that it leaves, which does not act at the next one. */
function leftAtPolicy(store: ReadStore, before: SiteRecord, after: SiteRecord): string[] {
  const policyId = before.waf?.policyId ?? '';
  if (policyId === '' || policyId === after.waf?.policyId) return [];
  const mine = (one: { readonly siteId: string }): boolean => one.siteId === before.id;
  const overrides = store.find(ruleOverrides, 'policy', policyId).filter(mine);
  const rules = store.find(customRules, 'policy', policyId).filter(mine);
  const told: string[] = [];
  if (overrides.length > 0) {
    const ids = [...new Set(overrides.map(({ crsRuleId = '' }) => crsRuleId))];
    told.push(
      `${overrides.length} exclusions and overrides of this site (${namedFew(ids)}) belong to ` +
        `policy ${policyId} and do not act under its new policy: make them there, too, or set ` +
        'the policy back',
    );
  }
  if (rules.length > 0) {
    told.push(
      `${rules.length} custom rules of this site (${namedFew(rules.map(({ name }) => name ?? ''))}) ` +
        `belong to policy ${policyId} and do not act under its new policy`,
    );
  }
  return told;
}

function namedFew(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(', ');
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}
