/** What a rule must pass before it is kept: it compiles, and a patch does what it states. */

import { AppError } from '../../../base/errors.ts';
import { renderCustomRule } from '../../domain/policy/custom-rules.ts';
import { invalidField, notFound } from '../../domain/errors.ts';
import type { CustomRuleRecord, PolicyRecord } from '../../domain/records.ts';
import { makeTestRequest } from '../../domain/policy/test-request.ts';
import {
  patchExpired,
  readVirtualPatch,
  type PatchRequest,
} from '../../domain/policy/virtual-patch.ts';
import { toRuntimePolicy } from '../../publish/build-bundle.ts';
import { policies } from '../../store/collections.ts';
import type { Uses } from '../context.ts';
import type { PolicyForEngine } from '../engine-client.ts';
import { refuseUncompiledRule } from '../policy-service/compile.ts';
import type { Vet } from '../resource/serve.ts';
import { rulesOfPolicy } from './custom-rule.ts';

const field = 'rule.visualSpec.patch';

/** What a rule that calls create or change must pass. Errors: as of `refuseFaultyRule`. */
export function ruleTrial(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Vet<CustomRuleRecord> {
  return async (rule) => {
    const policy = parts.store.get(policies, rule.policyId);
    if (policy === undefined) throw notFound('policy', rule.policyId);
    const others = rulesOfPolicy(parts.store, policy.id).filter(({ id }) => id !== rule.id);
    await refuseFaultyRule(parts, policy, rule, others);
  };
}

/**
 * Errors: invalid_argument where the engine cannot compile a rule, alone or with all others of its
 * policy, or where it is a patch that treats its own requests otherwise than they state. `others`
 * is null where the whole policy has been compiled with the rule.
 */
export async function refuseFaultyRule(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
  policy: PolicyRecord,
  rule: CustomRuleRecord,
  others: readonly CustomRuleRecord[] | null,
): Promise<void> {
  await refuseUncompiledRule(parts, policy, rule, others);
  await refuseIneffectivePatch(parts, policy, rule);
}

/**
 * Tries a patch alone, without the ruleset, under the settings of its policy. Errors:
 * invalid_argument naming the request that the patch does not treat as stated, or an end that is
 * over. Without an engine nothing is tried, as nothing is compiled then.
 */
async function refuseIneffectivePatch(
  parts: Uses<'clock' | 'engine'>,
  policy: PolicyRecord,
  rule: CustomRuleRecord,
): Promise<void> {
  if (rule.visualSpec?.['patch'] === undefined) return;
  const patch = readVirtualPatch(rule.visualSpec['patch'], field);
  if (patchExpired(patch, parts.clock.nowMs())) {
    if (rule.enabled !== true) return;
    throw invalidField(`${field}.expires`, 'is over; change it, or disable the patch');
  }
  const added = { beforeCrs: renderCustomRule({ ...rule, enabled: true }) };
  const acting: PolicyRecord = { ...policy, engineState: 'ENGINE_STATE_ON' };
  const sent: PolicyForEngine = {
    policy: toRuntimePolicy({
      id: policy.id,
      revision: policy.revision,
      policy: acting,
      ruleset: null,
      added,
      files: [],
    }),
    ruleset: null,
  };
  for (const [index, request] of patch.requests.entries()) {
    const at = `${field}.requests[${index}]`;
    const matched = await matches(parts, sent, request, Number(rule.ruleId), at);
    if (matched === null) return;
    if (matched === (request.expect === 'match')) continue;
    const what = matched ? 'the patch matches it' : 'the patch does not match it';
    throw invalidField(at, `is to ${request.expect}, but ${what}`);
  }
}

/** Whether the rule matches; null without an engine. */
async function matches(
  parts: Uses<'engine'>,
  policy: PolicyForEngine,
  { method, url, headers, body }: PatchRequest,
  ruleId: number,
  at: string,
): Promise<boolean | null> {
  const made = makeTestRequest({
    method,
    url,
    headers,
    body: Buffer.from(body),
    protocol: '',
    clientIp: '',
    peerIp: '',
  });
  try {
    const answer = await parts.engine.evaluate(policy, { ...made, siteId: '' });
    if (answer.refusal !== '') {
      throw invalidField(at, `is refused before any rule sees it (${answer.refusal})`);
    }
    return answer.matches.some((match) => match.ruleId === ruleId);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') return null;
    throw error;
  }
}
