/** What a model suggested: listing, rejecting, and applying with the checks of a person. */

import { enumToJson } from '@bufbuild/protobuf';
import {
  AIProposalSchema,
  AIProposalStatusSchema,
  type AIProposal,
  type AIService,
} from '../../../proto/gen/waf/v1/ai_pb.ts';
import type { CustomRuleJson } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { requirePermission, type Caller } from '../../auth/permissions.ts';
import type { AiProposalRecord } from '../../domain/settings/ai-records.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { aiLimits } from '../../limits/ai-limits.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { aiProposals } from '../../store/ai-collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toMessage } from '../convert.ts';
import { customRuleKind } from '../custom-rule-service/custom-rule.ts';
import { ruleTrial } from '../custom-rule-service/rule-trial.ts';
import type { Method } from '../method.ts';
import { noteAction, ownedBy, stored, type Owned } from '../resource/owned.ts';
import { serve } from '../resource/serve.ts';

/** Proposals of the caller's tenant, newest first. */
export function listAIProposals(parts: Uses<'store'>): Method<typeof AIService, 'listAIProposals'> {
  return ({ page, status }, context) => {
    const { tenantId } = callerOf(context);
    const { cursor = '', pageSize = 0, offset = 0 } = page ?? {};
    if (pageSize < 0 || pageSize > callLimits.pageSizeMax) {
      throw invalidField('page.pageSize', `must be between 1 and ${callLimits.pageSizeMax}`);
    }
    if (cursor !== '' && offset > 0) {
      throw invalidField('page.offset', 'excludes page.cursor: give one of them');
    }
    const wanted = enumToJson(AIProposalStatusSchema, status);
    const all = ownedBy(parts.store, { tenantId }, { collection: aiProposals })
      .filter((one) => wanted === 'AI_PROPOSAL_STATUS_UNSPECIFIED' || one.status === wanted)
      .sort(byAge);
    const after = cursor === '' ? offset : all.findIndex(({ id }) => id === cursor) + 1;
    if (cursor !== '' && after === 0) throw invalidField('page.cursor', 'is not one of ours');
    const items = all.slice(after, after + (pageSize || 50));
    const hasMore = after + items.length < all.length;
    const nextCursor = hasMore ? (items.at(-1)?.id ?? '') : '';
    return { items: items.map(showProposal), page: { nextCursor, hasMore } };
  };
}

/** One proposal. */
export function getAIProposal(parts: Uses<'store'>): Method<typeof AIService, 'getAIProposal'> {
  return ({ id }, context) => ({
    proposal: showProposal(stored(parts.store, callerOf(context), proposalKind, id, 'id')),
  });
}

/** Marks a draft as not wanted. */
export function rejectAIProposal(
  parts: Uses<'store' | 'clock'>,
): Method<typeof AIService, 'rejectAIProposal'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    const proposal = await parts.store.write((tx) => {
      const before = openProposal(tx, caller, id);
      const status = 'AI_PROPOSAL_STATUS_REJECTED' as const;
      const after = { ...before, status, updatedAt: isoNow(parts.clock) };
      tx.put(aiProposals, after);
      noteAction(tx, caller, proposalKind, after, 'reject');
      return after;
    });
    return { proposal: showProposal(proposal) };
  };
}

/** What a person needs to make the same change by hand, beside `ai:apply`. */
const byHand = { public: false, anyPermission: [], allPermission: ['policy:custom:write'] };

/** Makes the rule as if by hand: the same checks, the same audit row; and once only. */
export function applyAIProposal(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof AIService, 'applyAIProposal'> {
  const rules = serve(parts, customRuleKind, ruleTrial(parts));
  return async ({ id }, context) => {
    const caller = callerOf(context);
    requirePermission(byHand, caller);
    const draft = openProposal(parts.store, caller, id);
    const asked = JSON.parse(draft.patchJson ?? '{}') as CustomRuleJson;
    // Another rule may have taken the number since.
    const { ruleId: _ruleId, ...rule } = asked;
    let applied = draft;
    const kept = await rules.create(rule, context, {
      also: (tx) => {
        const before = openProposal(tx, caller, id);
        const status = 'AI_PROPOSAL_STATUS_ACCEPTED' as const;
        const appliedAuditId = tx.auditHead()?.id ?? '';
        applied = { ...before, status, appliedAuditId, updatedAt: isoNow(parts.clock) };
        tx.put(aiProposals, applied);
        noteAction(tx, caller, proposalKind, applied, 'apply');
      },
    });
    return { proposal: showProposal(applied), result: { id: kept.id, changed: true } };
  };
}

/** Keeps a new proposal; an older draft of a rule with the same name is superseded. */
export function keepProposal(tx: WriteStore, caller: Caller, proposal: AiProposalRecord): void {
  const nameOf = ({ patchJson = '{}' }: AiProposalRecord): unknown =>
    (JSON.parse(patchJson) as { name?: unknown }).name;
  const updatedAt = proposal.createdAt;
  for (const other of tx.find(aiProposals, 'policy', proposal.policyId)) {
    const open = other.status === 'AI_PROPOSAL_STATUS_DRAFT';
    if (!open || nameOf(other) !== nameOf(proposal)) continue;
    tx.put(aiProposals, { ...other, status: 'AI_PROPOSAL_STATUS_SUPERSEDED', updatedAt });
  }
  tx.put(aiProposals, proposal);
  const all = tx.list(aiProposals);
  const decided = all.filter(({ status }) => status !== 'AI_PROPOSAL_STATUS_DRAFT').sort(byAge);
  const old = [...all.filter((one) => !decided.includes(one)).sort(byAge), ...decided];
  for (const one of old.slice(aiLimits.proposalsMax)) tx.remove(aiProposals, one.id);
  noteAction(tx, caller, proposalKind, proposal, 'create', { after: proposal });
}

/** A proposal as it is shown. */
export function showProposal(proposal: AiProposalRecord): AIProposal {
  return toMessage(AIProposalSchema, proposal);
}

function byAge(left: AiProposalRecord, right: AiProposalRecord): number {
  return left.createdAt < right.createdAt ? 1 : left.createdAt > right.createdAt ? -1 : 0;
}

/** Proposals. */
const proposalKind: Owned<AiProposalRecord> = {
  collection: aiProposals,
  noun: 'proposal',
  audit: 'ai_proposal',
  nameOf: ({ kind = '' }) => kind,
};

/** Errors: failed_precondition for one that was decided. */
function openProposal(store: ReadStore, caller: Caller, id: string): AiProposalRecord {
  const found = stored(store, caller, proposalKind, id, 'id');
  if (found.status === 'AI_PROPOSAL_STATUS_DRAFT') return found;
  const state = (found.status ?? '').replace('AI_PROPOSAL_STATUS_', '').toLowerCase();
  throw refusal('failed_precondition', `id: the proposal is ${state} already`);
}
