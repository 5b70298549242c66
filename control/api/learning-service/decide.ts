/** LearningService/AcceptProposal, DismissProposal and ResetLearning: what people decide. */

import { create } from '@bufbuild/protobuf';
import {
  AcceptProposalResponseSchema,
  DismissProposalResponseSchema,
  ResetLearningResponseSchema,
  type LearningService,
  type Proposal,
} from '../../../proto/gen/waf/learning/v1/learning_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { notFound, refusal } from '../../domain/errors.ts';
import {
  decisionOf,
  evidenceOf,
  otherFamily,
  proposalsOf,
  withDecisions,
  type DetectionLearningRecord,
  type LearnedDecision,
} from '../../domain/policy/detection-learning.ts';
import { detectionLearningLimits } from '../../limits/detection-learning-limits.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { detectionLearning } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { noteAction } from '../resource/owned.ts';
import { siteKind, storedSite } from '../site-service/stored-site.ts';
import { learnedOf, showProposal } from './read-learning.ts';

const dayMs = 86_400_000;

/** What a site learns, in audit rows. */
const learningKind = { ...siteKind, audit: 'detection_learning' };

/** Signs of the family are content of the value from now on. */
export function acceptProposal(
  parts: Uses<'store' | 'clock' | 'counters'>,
): Method<typeof LearningService, 'acceptProposal'> {
  return async ({ siteId, id, days }, context) => {
    const proposal = await decide(parts, callerOf(context), siteId, id, 'accepted', days);
    return create(AcceptProposalResponseSchema, { proposal });
  };
}

/** They are not, or not any more. */
export function dismissProposal(
  parts: Uses<'store' | 'clock' | 'counters'>,
): Method<typeof LearningService, 'dismissProposal'> {
  return async ({ siteId, id }, context) => {
    const proposal = await decide(parts, callerOf(context), siteId, id, 'dismissed', 0);
    return create(DismissProposalResponseSchema, { proposal });
  };
}

/** Forgets all of it: counts of the earlier generation are not taken any more. */
export function resetLearning(
  parts: Uses<'store' | 'counters'>,
): Method<typeof LearningService, 'resetLearning'> {
  return async ({ siteId }, context) => {
    const caller = callerOf(context);
    const forgottenCount = await parts.store.write((tx) => {
      const site = storedSite(tx, caller, siteId, 'siteId');
      const before = recordOf(tx, site);
      const after = { ...before, generation: before.generation + 1, decisions: [] };
      tx.put(detectionLearning, after);
      noteAction(tx, caller, learningKind, site, 'reset', { before, after });
      return before.decisions.length;
    });
    await parts.counters.forgetLearned();
    return create(ResetLearningResponseSchema, { forgottenCount });
  };
}

function decide(
  parts: Uses<'store' | 'clock' | 'counters'>,
  caller: Caller,
  siteId: string,
  id: string,
  state: LearnedDecision['state'],
  days: number,
): Promise<Proposal> {
  const nowMs = parts.clock.nowMs();
  return parts.store.write((tx) => {
    const site = storedSite(tx, caller, siteId, 'siteId');
    const before = recordOf(tx, site);
    const { rows } = learnedOf(parts, tx, site.id);
    const known = before.decisions.find((one) => one.id === id);
    const row = rows.find((one) => one.id === id);
    const facts = row === undefined ? known : decisionOf(row, evidenceOf(row, nowMs));
    if (facts === undefined) throw notFound('proposal', id);
    if (state === 'accepted') refuseSecondFamily(facts, before, nowMs);
    const length = days || detectionLearningLimits.acceptedDays;
    const made: LearnedDecision = {
      ...facts,
      ...{ state, by: caller.username, atMs: nowMs, voices: '' },
      endsAtMs: state === 'accepted' ? nowMs + length * dayMs : 0,
    };
    const after = withDecisions(before, [made], nowMs);
    tx.put(detectionLearning, after);
    const action = state === 'accepted' ? 'accept' : 'dismiss';
    const said = { ...(known && { before: known }), after: made };
    noteAction(tx, caller, learningKind, site, action, said);
    const shown = proposalsOf(rows, after, nowMs).find((one) => one.id === id);
    return showProposal(shown!);
  });
}

function refuseSecondFamily(
  row: Pick<LearnedDecision, 'id' | 'method' | 'path' | 'name' | 'family'>,
  record: DetectionLearningRecord,
  nowMs: number,
): void {
  const other = otherFamily(row, record, nowMs);
  if (other === undefined) return;
  throw refusal(
    'failed_precondition',
    `id: the value already holds ${other.family} as content, and one family of a value is the ` +
      'most; dismiss that first, or exclude the rules with waf rule exclude',
  );
}

/** What is kept of a site, or the beginning of it. */
export function recordOf(tx: WriteStore, site: SiteRecord): DetectionLearningRecord {
  const { id, tenantId } = site;
  return tx.get(detectionLearning, id) ?? { id, tenantId, generation: 0, decisions: [] };
}
