/** Reads which policy and which draft a run compares. */

import { randomUUID } from 'node:crypto';
import type { RunReplayRequest } from '../../../proto/gen/waf/replay/v1/replay_pb.ts';
import { CustomRuleSchema, type CustomRuleJson } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { PolicySchema, type PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField } from '../../domain/errors.ts';
import { checkPolicy } from '../../domain/policy/policy.ts';
import type { CustomRuleRecord, PolicyRecord } from '../../domain/records.ts';
import type { PolicyDraft } from '../../publish/parts/policy-variant.ts';
import type { ApiParts, Uses } from '../context.ts';
import { toRecord } from '../convert.ts';
import type { PolicyForEngine } from '../engine-client.ts';
import {
  requireSecLangPermission,
  rulesOfPolicy,
  settleRule,
} from '../custom-rule-service/custom-rule.ts';
import { forEngine } from '../policy-service/compile.ts';
import { storedPolicy } from '../policy-service/stored-policy.ts';
import { overridesWith } from '../rule-override-service/upsert.ts';

/** What a run compares, by site. */
export interface Compared {
  readonly policyId: string;
  before(siteId: string): PolicyForEngine;
  after(siteId: string): PolicyForEngine;
}

type DraftParts = Pick<ApiParts, 'store' | 'clock'>;

/** Errors: not_found, invalid_argument naming the field of the draft. */
export function readDraft(
  parts: Uses<'store' | 'clock'>,
  caller: Caller,
  request: RunReplayRequest,
): Compared {
  const { store } = parts;
  const policy = storedPolicy(store, caller, request.policyId, 'policyId');
  const { draftPolicyId, candidate } = request;
  const base =
    draftPolicyId === '' ? policy : storedPolicy(store, caller, draftPolicyId, 'draftPolicyId');
  let drafted = base;
  if (candidate !== undefined) {
    const given = { name: base.name, ...toRecord<PolicyJson>(PolicySchema, candidate) };
    checkPolicy(given, 'candidate');
    const crsRulesetId = given.crsRulesetId || base.crsRulesetId;
    drafted = { ...given, id: base.id, crsRulesetId } as PolicyRecord;
  }
  const draft = readAdded(parts, caller, base, request);
  return {
    policyId: policy.id,
    before: (siteId) => forEngine(parts, acting(policy), siteId),
    after: (siteId) => forEngine(parts, acting(drafted), siteId, draft),
  };
}

function readAdded(
  parts: DraftParts,
  caller: Caller,
  base: PolicyRecord,
  { addedOverrides, addedRules }: RunReplayRequest,
): PolicyDraft {
  const named = addedOverrides.map((one) =>
    one.policyId === '' ? { ...one, policyId: base.id } : one,
  );
  const overrides =
    named.length === 0
      ? {}
      : {
          overrides: overridesWith(parts, caller, base.id, named, (at) => `addedOverrides[${at}]`),
        };
  if (addedRules.length === 0) return overrides;
  const rules = [...rulesOfPolicy(parts.store, base.id)];
  for (const [at, message] of addedRules.entries()) {
    const given = toRecord<CustomRuleJson>(CustomRuleSchema, message);
    requireSecLangPermission(caller, given);
    const rule: CustomRuleRecord = {
      ...given,
      id: `draft-${randomUUID()}`,
      policyId: base.id,
      siteId: given.siteId ?? '',
      ruleId: given.ruleId ?? '',
      phase: given.phase || 2,
      placement: given.placement || 'before_crs',
      sortOrder: rules.length + 1,
      enabled: true,
    };
    const settled = settleRule(parts.store, rule);
    if (rules.some(({ ruleId }) => ruleId === settled.ruleId)) {
      throw invalidField(`addedRules[${at}].ruleId`, 'another rule has it');
    }
    rules.push(settled);
  }
  return { ...overrides, customRules: rules };
}

/** As if it blocked, and inspected every request: what is asked is what it would do. */
function acting(policy: PolicyRecord): PolicyRecord {
  const crsCore = { ...policy.crsCore, samplingPercentage: 100 };
  return { ...policy, crsCore, engineState: 'ENGINE_STATE_ON' };
}
