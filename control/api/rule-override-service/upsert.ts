/** Owns keeping overrides: all of a call or none, compiled with the rest of their policy first. */

import { randomUUID } from 'node:crypto';
import {
  RuleOverrideSchema,
  type RuleOverride,
  type RuleOverrideJson,
} from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { controlLimits } from '../../../engine/base/limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField } from '../../domain/errors.ts';
import type { PolicyRecord, RuleOverrideRecord } from '../../domain/records.ts';
import { checkOverride } from '../../domain/rule-overrides.ts';
import { rulesOfRecord } from '../../publish/ruleset-rules.ts';
import { ruleOverrides, rulesets } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { actorNote, type ApiParts } from '../context.ts';
import { isoNow, toRecord } from '../convert.ts';
import { refuseUncompiled } from '../policy-service/compile.ts';
import { refuseTemplate, storedPolicy } from '../policy-service/stored-policy.ts';
import { storedSite } from '../site-service/stored-site.ts';

/** What a call asks to be kept. `field` names an entry in errors. */
interface Asked {
  readonly overrides: readonly (RuleOverride | undefined)[];
  readonly field: (at: number) => string;
  readonly now: string;
}

/** One override as it is to be kept; `at` is its place in the call. */
interface Change {
  readonly at: number;
  readonly record: RuleOverrideRecord;
  readonly before: RuleOverrideRecord | undefined;
}

/** The overrides of one policy as they would be, and what was asked of them. */
interface Settled {
  readonly policy: PolicyRecord;
  all: readonly RuleOverrideRecord[];
  readonly changed: Change[];
}

/** Keeps overrides; one per policy, site, rule and path. Errors: as settle, and of compiling. */
export async function upsertOverrides(
  parts: ApiParts,
  caller: Caller,
  overrides: readonly (RuleOverride | undefined)[],
  field: (at: number) => string,
): Promise<RuleOverrideRecord[]> {
  const asked: Asked = { overrides, field, now: isoNow(parts.clock) };
  for (const { policy, all, changed } of settle(parts.store, caller, asked).values()) {
    const siteIds = new Set(changed.map(({ record }) => record.siteId));
    for (const siteId of siteIds) {
      await refuseUncompiled(parts, policy, field(0), { overrides: all }, siteId);
    }
  }
  return parts.store.write((tx) =>
    [...settle(tx, caller, asked).values()]
      .flatMap(({ changed }) => changed)
      .sort((left, right) => left.at - right.at)
      .map(({ record, before }) => {
        tx.put(ruleOverrides, record);
        const from = before === undefined ? {} : { before };
        tx.audit({ ...overrideNote(caller, record), action: 'upsert', ...from, after: record });
        return record;
      }),
  );
}

/** The audit note of a change of an override. */
export function overrideNote(caller: Caller, override: RuleOverrideRecord) {
  return {
    ...actorNote(caller),
    resourceType: 'rule_override',
    resourceId: override.id,
    resourceName: override.crsRuleId ?? '',
  };
}

/** Checks what is asked against the store. Errors: invalid_argument and not_found by entry. */
function settle(store: ReadStore, caller: Caller, asked: Asked): Map<string, Settled> {
  const settled = new Map<string, Settled>();
  for (const [at, message] of asked.overrides.entries()) {
    const field = asked.field(at);
    if (message === undefined) throw invalidField(field, 'is required');
    const override = toRecord<RuleOverrideJson>(RuleOverrideSchema, message);
    checkOverride(override, field);
    const policy = storedPolicy(store, caller, override.policyId ?? '', `${field}.policyId`);
    refuseTemplate(policy);
    refuseUnknownRule(store, policy, override, field);
    const siteId = override.siteId ?? '';
    if (siteId !== '') storedSite(store, caller, siteId, `${field}.siteId`);
    const known = settled.get(policy.id) ?? {
      policy,
      all: store.find(ruleOverrides, 'policy', policy.id),
      changed: [],
    };
    settled.set(policy.id, known);
    const { record, before } = place(known, { ...override, siteId }, field, asked.now);
    known.changed.push({ at, record, before });
  }
  return settled;
}

function place(
  known: Settled,
  override: RuleOverrideJson,
  field: string,
  now: string,
): Omit<Change, 'at'> {
  const isSame = (one: RuleOverrideRecord): boolean =>
    one.siteId === override.siteId &&
    one.crsRuleId === override.crsRuleId &&
    (one.scope ?? '') === (override.scope ?? '');
  const before = known.all.find((one) => one.id === override.id) ?? known.all.find(isSame);
  const others = known.all.filter((one) => one !== before);
  if (others.some(isSame)) throw invalidField(field, 'another override has this rule and scope');
  if (others.length >= controlLimits.ruleOverridesMax) {
    throw invalidField(field, `a policy has at most ${controlLimits.ruleOverridesMax} overrides`);
  }
  const record: RuleOverrideRecord = {
    ...override,
    id: before?.id ?? `override-${randomUUID()}`,
    policyId: known.policy.id,
    siteId: override.siteId ?? '',
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  known.all = [...others, record];
  return { record, before };
}

/** A number that no ruleset has is a slip; one of another ruleset may be wanted later. */
function refuseUnknownRule(
  store: ReadStore,
  policy: PolicyRecord,
  override: RuleOverrideJson,
  field: string,
): void {
  const id = Number(override.crsRuleId);
  const own = store.get(rulesets, policy.crsRulesetId);
  const has = (ruleset: typeof own): boolean =>
    ruleset !== undefined && rulesOfRecord(store, ruleset).rawOf(id) !== undefined;
  if (has(own) || store.list(rulesets).some(has)) return;
  throw invalidField(`${field}.crsRuleId`, 'no ruleset has a rule with this number');
}
