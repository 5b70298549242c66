/**
 * AIService/DraftCustomRule: a model drafts a rule, which is checked, compiled and tried on
 * retained requests before anybody sees it. It becomes a proposal, never a rule.
 */

import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { RunReplayRequestSchema } from '../../../proto/gen/waf/replay/v1/replay_pb.ts';
import type { AIService } from '../../../proto/gen/waf/v1/ai_pb.ts';
import { CustomRuleSchema, type CustomRuleJson } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { AppError } from '../../../base/errors.ts';
import { requireAssistant } from '../../assist/assistant.ts';
import { promptVersion, rulePrompt } from '../../assist/prompts.ts';
import { meets, type Caller } from '../../auth/permissions.ts';
import type { AiProposalRecord } from '../../domain/settings/ai-records.ts';
import { numberDraft, readDraftedRule } from '../../domain/policy/drafted-rule.ts';
import { customRuleIds, renderCustomRule } from '../../domain/policy/custom-rules.ts';
import { refusal } from '../../domain/errors.ts';
import type { CustomRuleRecord } from '../../domain/records.ts';
import { aiLimits } from '../../limits/ai-limits.ts';
import { aiProposals } from '../../store/ai-collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import { isoNow, requireText, toMessage } from '../convert.ts';
import { refuseFaultyRule } from '../custom-rule-service/rule-trial.ts';
import {
  requireSecLangPermission,
  rulesOfPolicy,
  settleRule,
} from '../custom-rule-service/custom-rule.ts';
import type { Method } from '../method.ts';
import { refuseTemplate, storedPolicy } from '../policy-service/stored-policy.ts';
import { replayFor } from '../replay-service/run-replay.ts';
import { keepProposal, showProposal } from './proposals.ts';
import { assistantOf } from './shared-assistant.ts';

/** Drafts a rule for a policy. */
export function draftCustomRule(
  parts: Uses<'store' | 'clock' | 'logger' | 'events' | 'evidence' | 'engine'>,
): Method<typeof AIService, 'draftCustomRule'> {
  return async ({ intent, policyId }, context) => {
    const { model } = requireAssistant(parts.store);
    const caller = callerOf(context);
    const policy = storedPolicy(parts.store, caller, policyId, 'policyId');
    refuseTemplate(policy);
    requireSecLangPermission(caller, {});
    const messages = rulePrompt(requireText(intent, 'intent'));
    const { signal } = context;
    const actor = actorNote(caller);
    const asked = { actor, purpose: 'draft_rule', messages, signal } as const;
    const answer = await assistantOf(parts).askWhole(asked);
    const { rule, confidence } = readDraftedRule(answer);
    const settled = await lint(parts, policy.id, caller, rule);
    const { warnings, evidenceIds } = await tryRule(parts, caller, settled, signal);
    const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...patch } = settled;
    const now = isoNow(parts.clock);
    const proposal: AiProposalRecord = {
      id: `proposal-${randomUUID()}`,
      tenantId: caller.tenantId,
      policyId: policy.id,
      kind: 'AI_PROPOSAL_KIND_CUSTOM_RULE',
      patchJson: JSON.stringify(patch),
      evidenceIds,
      confidence,
      modelId: model,
      promptVersion,
      status: 'AI_PROPOSAL_STATUS_DRAFT',
      createdAt: now,
      updatedAt: now,
    };
    await parts.store.write((tx) => keepProposal(tx, caller, proposal));
    return {
      proposal: showProposal(proposal),
      seclangPreview: renderCustomRule(settled),
      warnings,
    };
  };
}

/** Holds the draft to what a rule by hand must pass. Errors: failed_precondition. */
async function lint(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
  policyId: string,
  caller: Caller,
  drafted: CustomRuleJson,
): Promise<CustomRuleRecord> {
  const policy = storedPolicy(parts.store, caller, policyId, 'policyId');
  const others = rulesOfPolicy(parts.store, policyId);
  const open = openDraftsOf(parts.store, policyId);
  const taken = new Set([...others, ...open].map(({ ruleId }) => Number(ruleId)));
  let number: number = customRuleIds.first;
  while (taken.has(number)) number++;
  const rule: CustomRuleRecord = {
    ...drafted,
    seclang: numberDraft(drafted.seclang ?? '', number),
    id: `draft-${randomUUID()}`,
    policyId,
    siteId: '',
    ruleId: '',
    placement: 'before_crs',
    sortOrder: others.length + 1,
  };
  try {
    const settled = settleRule(parts.store, rule);
    await refuseFaultyRule(parts, policy, settled, others);
    return settled;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_argument') throw error;
    const problem = `the model drafted a rule that cannot be used: ${error.message}`;
    throw refusal('failed_precondition', problem.slice(0, 500));
  }
}

/** Rules that wait for a decision: each keeps its number, or only one of them could be applied. */
function openDraftsOf(store: ReadStore, policyId: string): CustomRuleJson[] {
  return store
    .list(aiProposals)
    .filter((one) => one.policyId === policyId && one.status === 'AI_PROPOSAL_STATUS_DRAFT')
    .map(({ patchJson = '{}' }) => JSON.parse(patchJson) as CustomRuleJson);
}

/** What the rule would do to requests that are retained; warnings say it, or why not. */
async function tryRule(
  parts: Uses<'store' | 'clock' | 'events' | 'evidence' | 'engine'>,
  caller: Caller,
  rule: CustomRuleRecord,
  signal: AbortSignal,
): Promise<{ readonly warnings: string[]; readonly evidenceIds: string[] }> {
  const allowed = { public: false, anyPermission: [], allPermission: ['policy:test', 'log:read'] };
  if (!meets(allowed, caller.permissions)) {
    const problem = 'Not tried on retained requests: that needs policy:test and log:read.';
    return { warnings: [problem], evidenceIds: [] };
  }
  const request = create(RunReplayRequestSchema, {
    policyId: rule.policyId,
    sampleMax: aiLimits.draftSampleMax,
    addedRules: [toMessage(CustomRuleSchema, rule)],
  });
  const evidenceIds: string[] = [];
  const warnings: string[] = [];
  try {
    for await (const { message } of replayFor(parts, caller, request, signal)) {
      const { case: kind, value } = message;
      if (kind === 'difference' && evidenceIds.length < aiLimits.evidenceNamedMax) {
        evidenceIds.push(value.evidenceId);
      }
      if (kind !== 'summary') continue;
      const { replayed, newlyBlocked, newlyPassed } = value;
      warnings.push(
        replayed === 0n
          ? 'No request of the last day is retained whole: the rule was not tried on any.'
          : `Tried on ${replayed} retained requests: ${newlyBlocked} newly blocked, ` +
              `${newlyPassed} newly passed.`,
      );
      if (newlyPassed > 0n) warnings.push('The rule lets through what is blocked now.');
    }
    return { warnings, evidenceIds };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { warnings: [`Not tried on retained requests: ${error.message}.`], evidenceIds: [] };
  }
}
