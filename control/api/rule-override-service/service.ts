/**
 * Owns RuleOverrideService: overrides of single CRS rules, one per policy, site, rule and scope.
 */

import { randomUUID } from 'node:crypto';
import { CrsRuleSchema } from '../../../proto/gen/waf/v1/crs_pb.ts';
import {
  RuleOverrideSchema,
  type RuleOverride,
  type RuleOverrideJson,
  type RuleOverrideService,
} from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { controlLimits } from '../../../engine/base/limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField, notFound } from '../../domain/errors.ts';
import type { RuleOverrideRecord } from '../../domain/records.ts';
import { checkOverride } from '../../domain/rule-overrides.ts';
import { ruleOverrides, rulesets } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { actorNote, callerOf, type ApiParts } from '../context.ts';
import { fitsQuery, isoNow, pageOf, requireText, toMessage, toRecord } from '../convert.ts';
import { rulesOf } from '../crs-service/ruleset-rules.ts';
import type { Built } from '../method.ts';
import { refuseTemplate, storedPolicy } from '../policy-service/stored-policy.ts';
import { storedSite } from '../site-service/stored-site.ts';

/** RuleOverrideService. */
export function ruleOverrideService(parts: ApiParts): Built<typeof RuleOverrideService> {
  const { store } = parts;
  const show = (record: RuleOverrideRecord): RuleOverride => toMessage(RuleOverrideSchema, record);
  return {
    listRuleOverrides: ({ policyId, page: asked }, context) => {
      const policy = storedPolicy(store, callerOf(context), policyId, 'policyId');
      const found = store
        .find(ruleOverrides, 'policy', policy.id)
        .sort((left, right) => Number(left.crsRuleId) - Number(right.crsRuleId));
      const { items, page } = pageOf(found, asked);
      return { items: items.map(show), page };
    },
    getRuleOverride: ({ id }, context) => ({
      override: show(storedOverride(store, callerOf(context), id)),
    }),
    upsertRuleOverride: async ({ override }, context) => {
      const [stored] = await upsert(parts, callerOf(context), [override], () => 'override');
      return stored === undefined ? {} : { override: show(stored) };
    },
    bulkUpsertRuleOverrides: async ({ overrides }, context) => {
      if (overrides.length > controlLimits.bulkMax) {
        throw invalidField('overrides', `has at most ${controlLimits.bulkMax} entries`);
      }
      const field = (at: number): string => `overrides[${at}]`;
      const stored = await upsert(parts, callerOf(context), overrides, field);
      return { overrides: stored.map(show) };
    },
    deleteRuleOverride: async ({ id }, context) => {
      const caller = callerOf(context);
      await store.write((tx) => {
        const before = storedOverride(tx, caller, id);
        tx.remove(ruleOverrides, before.id);
        tx.audit({ ...note(caller, before), action: 'delete', before });
      });
      return { result: { id, changed: true } };
    },
    listCrsRulesForPolicy: ({ policyId, page: asked, query }, context) => {
      const policy = storedPolicy(store, callerOf(context), policyId, 'policyId');
      const ruleset = store.get(rulesets, policy.crsRulesetId);
      const level = policy.crsCore?.detectionParanoiaLevel || 1;
      const least = Math.max(level, policy.crsCore?.blockingParanoiaLevel || 1);
      const rules = ruleset === undefined ? [] : rulesOf(store, ruleset);
      const found = rules.filter(
        (rule) =>
          (rule.paranoiaLevel ?? 0) <= least && fitsQuery(query, String(rule.ruleId), rule.msg),
      );
      const { items, page } = pageOf(found, asked);
      return { items: items.map(({ raw: _raw, ...rule }) => toMessage(CrsRuleSchema, rule)), page };
    },
  };
}

async function upsert(
  parts: ApiParts,
  caller: Caller,
  asked: readonly (RuleOverride | undefined)[],
  field: (at: number) => string,
): Promise<RuleOverrideRecord[]> {
  const now = isoNow(parts.clock);
  return parts.store.write((tx) =>
    asked.map((message, at) => {
      if (message === undefined) throw invalidField(field(at), 'is required');
      const override = toRecord<RuleOverrideJson>(RuleOverrideSchema, message);
      checkOverride(override, field(at));
      return upsertOne(tx, caller, override, field(at), now);
    }),
  );
}

function upsertOne(
  tx: WriteStore,
  caller: Caller,
  override: RuleOverrideJson,
  field: string,
  now: string,
): RuleOverrideRecord {
  const policy = storedPolicy(tx, caller, override.policyId ?? '', `${field}.policyId`);
  refuseTemplate(policy);
  const siteId = override.siteId ?? '';
  if (siteId !== '') storedSite(tx, caller, siteId, `${field}.siteId`);
  const all = tx.find(ruleOverrides, 'policy', policy.id);
  const same = all.find(
    (one) =>
      one.id === override.id ||
      (one.siteId === siteId &&
        one.crsRuleId === override.crsRuleId &&
        (one.scope ?? '') === (override.scope ?? '')),
  );
  if (same === undefined && all.length >= controlLimits.ruleOverridesMax) {
    throw invalidField(field, `a policy has at most ${controlLimits.ruleOverridesMax} overrides`);
  }
  const record: RuleOverrideRecord = {
    ...override,
    id: same?.id ?? `override-${randomUUID()}`,
    policyId: policy.id,
    siteId,
    createdAt: same?.createdAt ?? now,
    updatedAt: now,
  };
  tx.put(ruleOverrides, record);
  const before = same === undefined ? {} : { before: same };
  tx.audit({ ...note(caller, record), action: 'upsert', ...before, after: record });
  return record;
}

function storedOverride(store: ReadStore, caller: Caller, id: string): RuleOverrideRecord {
  const override = store.get(ruleOverrides, requireText(id, 'id'));
  if (override === undefined) throw notFound('rule override');
  storedPolicy(store, caller, override.policyId, 'id');
  return override;
}

function note(caller: Caller, override: RuleOverrideRecord) {
  return {
    ...actorNote(caller),
    resourceType: 'rule_override',
    resourceId: override.id,
    resourceName: override.crsRuleId ?? '',
  };
}
