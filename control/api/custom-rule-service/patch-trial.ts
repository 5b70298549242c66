/**
 * Whether patches treat their own requests as they state: one alone, so that its fault is named, or
 * many together, which costs a fraction.
 */

import { AppError } from '../../../base/errors.ts';
import { invalidField } from '../../domain/errors.ts';
import { renderCustomRule } from '../../domain/policy/custom-rules.ts';
import { makeTestRequest } from '../../domain/policy/test-request.ts';
import {
  patchExpired,
  readVirtualPatch,
  type PatchRequest,
  type VirtualPatch,
} from '../../domain/policy/virtual-patch.ts';
import type { CustomRuleRecord, PolicyRecord } from '../../domain/records.ts';
import { replayLimits } from '../../limits/replay-limits.ts';
import { toRuntimePolicy } from '../../publish/build-bundle.ts';
import type { Uses } from '../context.ts';
import type { PolicyForEngine, RequestForEngine } from '../engine-client.ts';

const field = 'rule.visualSpec.patch';
/** Patches that are tried together: the databases of more take longer than those of two halves. */
const together = 64;
const noEngine = ['unavailable'];
/** Whatever is wrong with many patches together, a trial of each says it. */
const unusable = [...noEngine, 'failed_precondition'];

/**
 * Tries a patch alone, without the ruleset, under the settings of its policy. Errors:
 * invalid_argument naming the request that the patch does not treat as stated, or an end that is
 * over. Without an engine nothing is tried, as nothing is compiled then.
 */
export async function refuseIneffectivePatch(
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
  const sent = policyOf(policy, [rule], 'ENGINE_STATE_ON');
  for (const [index, request] of patch.requests.entries()) {
    const at = `${field}.requests[${index}]`;
    const matched = await matches(parts, sent, request, Number(rule.ruleId), at);
    if (matched === null) return;
    if (matched === (request.expect === 'match')) continue;
    const what = matched ? 'the patch matches it' : 'the patch does not match it';
    throw invalidField(at, `is to ${request.expect}, but ${what}`);
  }
}

/**
 * Those of the rules that are patches and treat all their requests as stated, also where the other
 * patches stand beside them. Nothing is said of the others: each has to be tried alone.
 */
export async function effectivePatches(
  parts: Uses<'clock' | 'engine'>,
  policy: PolicyRecord,
  rules: readonly CustomRuleRecord[],
): Promise<ReadonlySet<CustomRuleRecord>> {
  const stated = rules.flatMap((rule) => statedPatch(rule, parts.clock.nowMs()));
  const effective = new Set<CustomRuleRecord>();
  if (stated.length < 2) return effective;
  for (let at = 0; at < stated.length; at += together) {
    const group = stated.slice(at, at + together);
    const wrong = await findIneffective(parts, policy, group);
    if (wrong === null) return effective;
    for (const { rule } of group) if (!wrong.has(rule)) effective.add(rule);
  }
  return effective;
}

/** A patch that can be tried, with its requests on the wire. */
interface StatedPatch {
  readonly rule: CustomRuleRecord;
  readonly patch: VirtualPatch;
  readonly requests: readonly RequestForEngine[];
}

/** None for what is no patch, is over or cannot be read: a trial alone says why. */
function statedPatch(rule: CustomRuleRecord, nowMs: number): StatedPatch[] {
  if (rule.visualSpec?.['patch'] === undefined) return [];
  try {
    const patch = readVirtualPatch(rule.visualSpec['patch'], field);
    if (patchExpired(patch, nowMs)) return [];
    return [{ rule, patch, requests: patch.requests.map(wireOf) }];
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_argument') return [];
    throw error;
  }
}

/** The rules that treat a request of theirs otherwise than stated; null without an engine. */
async function findIneffective(
  { engine }: Uses<'engine'>,
  policy: PolicyRecord,
  group: readonly StatedPatch[],
): Promise<ReadonlySet<CustomRuleRecord> | null> {
  // Recording only: a patch that blocks would hide those after it.
  const rules = group.map(({ rule }) => rule);
  const sent = policyOf(policy, rules, 'ENGINE_STATE_DETECTION_ONLY');
  const tried = group.flatMap(({ rule, patch, requests }) =>
    requests.map((request, at) => ({ rule, request, expect: patch.requests[at]!.expect })),
  );
  const wrong = new Set<CustomRuleRecord>();
  for (let at = 0; at < tried.length; at += replayLimits.batchRequests) {
    const batch = tried.slice(at, at + replayLimits.batchRequests);
    const requests = batch.map(({ request }) => request);
    const found = await answersOf(() => engine.evaluateBatch(sent, requests), unusable);
    if (found === null) return null;
    for (const [index, { rule, expect }] of batch.entries()) {
      const answer = found.answers[index];
      const failed = answer === undefined || answer.refusal !== '' || answer.failure !== '';
      const matched = answer?.matches.some(({ ruleId }) => ruleId === Number(rule.ruleId));
      if (failed || matched !== (expect === 'match')) wrong.add(rule);
    }
  }
  return wrong;
}

/** The rules alone, enabled, under the settings of their policy. */
function policyOf(
  policy: PolicyRecord,
  rules: readonly CustomRuleRecord[],
  engineState: NonNullable<PolicyRecord['engineState']>,
): PolicyForEngine {
  const texts = rules.map((rule) => renderCustomRule({ ...rule, enabled: true }));
  return {
    policy: toRuntimePolicy({
      id: policy.id,
      revision: policy.revision,
      policy: { ...policy, engineState },
      ruleset: null,
      added: { beforeCrs: texts.join('\n') },
      files: [],
    }),
    ruleset: null,
  };
}

/** Errors: invalid_argument. */
function wireOf({ method, url, headers, body }: PatchRequest): RequestForEngine {
  const asked = { method, url, headers, body: Buffer.from(body) };
  return { ...makeTestRequest({ ...asked, protocol: '', clientIp: '', peerIp: '' }), siteId: '' };
}

/** Whether the rule matches; null without an engine. */
async function matches(
  parts: Uses<'engine'>,
  policy: PolicyForEngine,
  request: PatchRequest,
  ruleId: number,
  at: string,
): Promise<boolean | null> {
  const made = wireOf(request);
  const answer = await answersOf(() => parts.engine.evaluate(policy, made), noEngine);
  if (answer === null) return null;
  if (answer.refusal !== '') {
    throw invalidField(at, `is refused before any rule sees it (${answer.refusal})`);
  }
  return answer.matches.some((match) => match.ruleId === ruleId);
}

/** What the engine answers; null for errors with these codes. */
async function answersOf<T>(ask: () => Promise<T>, codes: readonly string[]): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AppError && codes.includes(error.code)) return null;
    throw error;
  }
}
