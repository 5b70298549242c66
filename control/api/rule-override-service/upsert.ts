/** Keeps overrides: all of a call or none, compiled with the rest of their policy first. */

import { randomUUID } from 'node:crypto';
import {
  ListChange,
  RuleOverrideSchema,
  type RuleOverride,
  type RuleOverrideJson,
} from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import { describedDetector } from '../../domain/policy/detectors.ts';
import type { DescribedRule } from '../../domain/policy/crs-rules.ts';
import { invalidField } from '../../domain/errors.ts';
import type { PolicyRecord, RuleOverrideRecord } from '../../domain/records.ts';
import {
  addToOverride,
  normalScope,
  refuseUnread,
  removeFromOverride,
} from '../../domain/policy/rule-override-change.ts';
import { checkOverride, refuseEvaluation } from '../../domain/policy/rule-overrides.ts';
import { ownRuleNote } from '../../domain/policy/own-rule-notes.ts';
import { describedOwnRule } from '../../domain/policy/own-rules.ts';
import { rulesOfRecord } from '../../publish/rulesets/ruleset-rules.ts';
import { ruleOverrides, rulesets } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { Uses } from '../context.ts';
import { isoNow, toRecord } from '../convert.ts';
import { refuseUncompiled } from '../policy-service/compile.ts';
import { refuseTemplate, storedPolicy, tenantOfPolicy } from '../policy-service/stored-policy.ts';
import { drop, keep } from '../resource/owned.ts';
import type { ShownKind } from '../resource/resource.ts';
import { refuseOtherPolicy, storedSite } from '../site-service/stored-site.ts';

/** What a call asks to be kept. `field` names an entry in errors. */
interface Asked {
  readonly overrides: readonly (RuleOverride | undefined)[];
  /** What becomes of the lists of an override that is there. */
  readonly change: ListChange;
  readonly field: (at: number) => string;
  readonly now: string;
}

/** One override as it is to be kept, null for one that goes; `at` is its place in the call. */
interface Change {
  readonly at: number;
  readonly record: RuleOverrideRecord | null;
  readonly before: RuleOverrideRecord | undefined;
  readonly siteId: string;
}

/** The overrides of one policy as they would be, and what was asked of them. */
interface Settled {
  readonly policy: PolicyRecord;
  all: readonly RuleOverrideRecord[];
  readonly changed: Change[];
}

/**
 * Keeps overrides; one per policy, site, rule and path. What was removed is not part of the answer.
 * Errors: as settle, and of compiling.
 */
export async function upsertOverrides(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
  caller: Caller,
  overrides: readonly (RuleOverride | undefined)[],
  field: (at: number) => string,
  change: ListChange,
): Promise<RuleOverrideRecord[]> {
  const asked: Asked = { overrides, field, change, now: isoNow(parts.clock) };
  for (const { policy, all, changed } of settle(parts.store, caller, asked).values()) {
    const siteIds = new Set(changed.map(({ siteId }) => siteId));
    for (const siteId of siteIds) {
      await refuseUncompiled(parts, policy, field(0), { overrides: all }, siteId);
    }
  }
  return parts.store.write((tx) =>
    [...settle(tx, caller, asked).values()]
      .flatMap(({ changed }) => changed)
      .sort((left, right) => left.at - right.at)
      .flatMap(({ record, before }) => {
        if (record !== null) {
          return [keep(tx, caller, overrideKind, before, record, { action: 'upsert' })];
        }
        if (before !== undefined) drop(tx, caller, overrideKind, before);
        return [];
      }),
  );
}

/**
 * The overrides of a policy as they would be with others added; nothing is kept. Errors: as of
 * keeping them, and invalid_argument for an override of another policy.
 */
export function overridesWith(
  parts: Uses<'store' | 'clock'>,
  caller: Caller,
  policyId: string,
  added: readonly RuleOverride[],
  field: (at: number) => string,
): readonly RuleOverrideRecord[] {
  const asked = { overrides: added, field, change: ListChange.ADD, now: isoNow(parts.clock) };
  const settled = settle(parts.store, caller, asked);
  for (const id of settled.keys()) {
    if (id !== policyId) throw invalidField(`${field(0)}.policyId`, 'must be the draft');
  }
  return settled.get(policyId)?.all ?? parts.store.find(ruleOverrides, 'policy', policyId);
}

/** Overrides of CRS rules, of one policy each. */
export const overrideKind: ShownKind<typeof RuleOverrideSchema, RuleOverrideRecord> = {
  schema: RuleOverrideSchema,
  collection: ruleOverrides,
  noun: 'rule override',
  audit: 'rule_override',
  nameOf: ({ crsRuleId = '' }) => crsRuleId,
  tenantOf: tenantOfPolicy,
};

/** Checks what is asked against the store. Errors: invalid_argument and not_found by entry. */
function settle(store: ReadStore, caller: Caller, asked: Asked): Map<string, Settled> {
  const settled = new Map<string, Settled>();
  for (const [at, message] of asked.overrides.entries()) {
    const field = asked.field(at);
    if (message === undefined) throw invalidField(field, 'is required');
    const given = toRecord<RuleOverrideJson>(RuleOverrideSchema, message);
    checkOverride(given, field);
    // One of an earlier version can be taken away.
    if (asked.change !== ListChange.REMOVE) refuseEvaluation(given, field);
    const scope = normalScope(given.scope);
    const override = { ...given, scope, siteId: given.siteId ?? '' };
    const policy = storedPolicy(store, caller, override.policyId ?? '', `${field}.policyId`);
    refuseTemplate(policy);
    // What is taken away need not have an effect any more.
    const checked =
      asked.change === ListChange.REMOVE ? { ...override, removedTargets: [] } : override;
    refuseIneffective(store, caller, policy, checked, field);
    const known = settled.get(policy.id) ?? {
      policy,
      all: store.find(ruleOverrides, 'policy', policy.id),
      changed: [],
    };
    settled.set(policy.id, known);
    const { record, before } = place(known, override, field, asked);
    known.changed.push({ at, record, before, siteId: override.siteId });
  }
  return settled;
}

function place(
  known: Settled,
  override: RuleOverrideJson,
  field: string,
  { change, now }: Asked,
): Pick<Change, 'record' | 'before'> {
  const isSame = (one: RuleOverrideRecord): boolean =>
    one.siteId === override.siteId &&
    one.crsRuleId === override.crsRuleId &&
    normalScope(one.scope) === override.scope;
  const before = known.all.find((one) => one.id === override.id) ?? known.all.find(isSame);
  const others = known.all.filter((one) => one !== before);
  if (others.some(isSame)) throw invalidField(field, 'another override has this rule and scope');
  if (others.length >= resourceLimits.ruleOverridesMax) {
    throw invalidField(field, `a policy has at most ${resourceLimits.ruleOverridesMax} overrides`);
  }
  const wanted = changed(before, override, field, change);
  if (wanted === null) {
    known.all = others;
    return { record: null, before };
  }
  const record: RuleOverrideRecord = {
    ...wanted,
    id: before?.id ?? `override-${randomUUID()}`,
    policyId: known.policy.id,
    siteId: override.siteId ?? '',
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  known.all = [...others, record];
  return { record, before };
}

/** What becomes of an override; null when nothing is left of it. */
function changed(
  before: RuleOverrideRecord | undefined,
  override: RuleOverrideJson,
  field: string,
  change: ListChange,
): RuleOverrideJson | null {
  if (change === ListChange.REMOVE) {
    if (before === undefined) throw invalidField(field, 'there is no override of this rule there');
    return removeFromOverride(before, override, field);
  }
  if (change !== ListChange.ADD || before === undefined) return override;
  const grown = addToOverride(before, override, field);
  checkOverride(grown, field);
  return grown;
}

/** Errors: what would make an override have no effect. */
function refuseIneffective(
  store: ReadStore,
  caller: Caller,
  policy: PolicyRecord,
  override: RuleOverrideJson,
  field: string,
): void {
  refuseMisplaced(store, caller, policy, override, field);
  refuseUnreadTargets(store, policy, override, field);
}

/**
 * Errors: invalid_argument for a rule that no ruleset has, which is a slip (one of another ruleset
 * may be wanted later), and for a site of another policy.
 */
export function refuseMisplaced(
  store: ReadStore,
  caller: Caller,
  policy: PolicyRecord,
  override: RuleOverrideJson,
  field: string,
): void {
  ruleOf(store, policy, override, field);
  const siteId = override.siteId ?? '';
  if (siteId === '') return;
  const site = storedSite(store, caller, siteId, `${field}.siteId`);
  refuseOtherPolicy(store, site, policy.id, `${field}.siteId`);
}

/** Errors: invalid_argument for targets to leave out that the rule does not read. */
export function refuseUnreadTargets(
  store: ReadStore,
  policy: PolicyRecord,
  override: RuleOverrideJson,
  field: string,
): void {
  refuseUnread(override, ruleOf(store, policy, override, field).targets ?? [], field);
}

function ruleOf(
  store: ReadStore,
  policy: PolicyRecord,
  override: RuleOverrideJson,
  field: string,
): DescribedRule {
  const id = Number(override.crsRuleId);
  const ours = describedDetector(id) ?? describedOwnRule(id);
  if (ours !== undefined) return ours;
  const used = store.get(rulesets, policy.crsRulesetId);
  for (const ruleset of [...(used === undefined ? [] : [used]), ...store.list(rulesets)]) {
    const found = rulesOfRecord(store, ruleset).byId.find(({ ruleId }) => ruleId === id);
    if (found !== undefined) return found;
  }
  const own = ownRuleNote(id);
  throw invalidField(`${field}.crsRuleId`, own ?? 'no ruleset has a rule with this number');
}
