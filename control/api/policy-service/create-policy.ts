/** PolicyService/CreatePolicy and CreatePolicyFromTemplate. */

import { randomUUID } from 'node:crypto';
import {
  PolicySchema,
  type PolicyJson,
  type PolicyService,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { checkPolicy } from '../../domain/policy/policy.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { policies, rulesets } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { checkPolicyPlugins } from './check-plugins.ts';
import { refuseUncompiled } from './compile.ts';
import { savePolicy, storedPolicy } from './stored-policy.ts';

/** Creates a policy; without a ruleset it gets the default one. */
export function createPolicy(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof PolicyService, 'createPolicy'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.policy === undefined) throw invalidField('policy', 'is required');
    const asked = toRecord<PolicyJson>(PolicySchema, request.policy);
    const saved = await create(parts, caller, asked);
    return { policy: toMessage(PolicySchema, saved) };
  };
}

/** Copies the settings of a template. */
export function createPolicyFromTemplate(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof PolicyService, 'createPolicyFromTemplate'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const template = storedPolicy(parts.store, caller, request.templateId, 'templateId');
    if (template.isTemplate !== true) throw invalidField('templateId', 'names no template');
    const { name, description } = request;
    const saved = await create(parts, caller, {
      ...template,
      name,
      description: description || (template.description ?? ''),
    });
    return { policy: toMessage(PolicySchema, saved) };
  };
}

async function create(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
  caller: Caller,
  asked: PolicyJson,
): Promise<PolicyRecord> {
  checkPolicy(asked);
  const nowMs = parts.clock.nowMs();
  const draft = (tx: Pick<WriteStore, 'get' | 'list'>): PolicyRecord => {
    const defaultRuleset = tx.list(rulesets).find((one) => one.status === 'active')?.id ?? '';
    const crsRulesetId = asked.crsRulesetId ?? defaultRuleset;
    if (crsRulesetId !== '' && tx.get(rulesets, crsRulesetId) === undefined) {
      throw invalidField('policy.crsRulesetId', 'does not exist');
    }
    const now = new Date(nowMs).toISOString();
    return {
      ...asked,
      id: `policy-${randomUUID()}`,
      tenantId: caller.tenantId,
      name: (asked.name ?? '').trim(),
      crsRulesetId,
      status: asked.status || 'active',
      engineState: asked.engineState ?? 'ENGINE_STATE_ON',
      blockingMode: asked.blockingMode ?? 'BLOCKING_MODE_ANOMALY',
      isTemplate: false,
      isDefault: false,
      builtin: false,
      revision: '1',
      createdAt: now,
      updatedAt: now,
    };
  };
  checkPolicyPlugins(parts.store, draft(parts.store), 'policy.plugins');
  await refuseUncompiled(parts, draft(parts.store), 'policy');
  return parts.store.write((tx) => {
    const record = draft(tx);
    refuseSameName(tx, record);
    return savePolicy(tx, caller, null, record, nowMs, 'create');
  });
}

/** Errors: already_exists when another policy of the tenant has the name. */
export function refuseSameName(tx: Pick<WriteStore, 'list'>, policy: PolicyRecord): void {
  const taken = tx
    .list(policies)
    .some(
      (other) =>
        other.id !== policy.id &&
        other.tenantId === policy.tenantId &&
        other.isTemplate !== true &&
        other.name === policy.name,
    );
  if (taken) throw refusal('already_exists', 'policy.name: another policy has it');
}
