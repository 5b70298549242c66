/** LearningService/ListProposals and ExportLearning. */

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  ExportLearningResponseSchema,
  ListProposalsResponseSchema,
  ProposalSchema,
  type LearningService,
  type Proposal,
} from '../../../proto/gen/waf/learning/v1/learning_pb.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import {
  limitedEffect,
  proposalsOf,
  type DetectionLearningRecord,
  type LearnedProposal,
  type LearnedRow,
} from '../../domain/policy/detection-learning.ts';
import { chosenFor, detectionLearning as learningOption } from '../../domain/site/site-choices.ts';
import { detectionLearning, settingsId, systemSettings } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { policyOfSite } from '../log-service/explain-event.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';

/** What is proposed for a site. */
export function listProposals(
  parts: Uses<'store' | 'clock' | 'counters'>,
): Method<typeof LearningService, 'listProposals'> {
  return ({ siteId }, context) => {
    const site = storedSite(parts.store, callerOf(context), siteId, 'siteId');
    const { record, rows } = learnedOf(parts, parts.store, site.id);
    const items = proposalsOf(rows, record, parts.clock.nowMs()).map(showProposal);
    const mode = modeOf(parts.store, site.id);
    const limited = limitedEffect(policyOfSite(parts.store, site.tenantId, site.id));
    return create(ListProposalsResponseSchema, { mode, items, ...limited });
  };
}

/** Everything that is kept, as JSON. */
export function exportLearning(
  parts: Uses<'store' | 'counters'>,
): Method<typeof LearningService, 'exportLearning'> {
  return ({ siteId }, context) => {
    const site = storedSite(parts.store, callerOf(context), siteId, 'siteId');
    const { record, rows } = learnedOf(parts, parts.store, site.id);
    const values = rows.map(({ id, method, path, name, family, hours, samples }) => ({
      ...{ id, method, path, name, family, samples, hours },
    }));
    const exported = {
      schema: 'waf.detection_learning.v1',
      site_id: site.id,
      mode: modeOf(parts.store, site.id),
      generation: record?.generation ?? 0,
      decisions: record?.decisions ?? [],
      values,
    };
    const learningJson = Buffer.from(canonicalJson(exported), 'utf8');
    return create(ExportLearningResponseSchema, { learningJson });
  };
}

/** What a site learned. */
export function learnedOf(
  { counters }: Uses<'counters'>,
  store: ReadStore,
  siteId: string,
): { record: DetectionLearningRecord | undefined; rows: LearnedRow[] } {
  const record = store.get(detectionLearning, siteId);
  return { record, rows: counters.clients(siteId, record?.generation ?? 0) };
}

/** What a site does with what it learns. */
export function modeOf(store: ReadStore, siteId: string): string {
  const values = store.get(systemSettings, settingsId)?.values ?? {};
  return chosenFor(values, learningOption, siteId);
}

/** A proposal as a message. */
export function showProposal(one: LearnedProposal): Proposal {
  const { id, method, path, name, family, state, by, clients, ownClients, hours } = one;
  return create(ProposalSchema, {
    ...{ id, method, path, name, family, state, decidedBy: by, clients, ownClients, hours },
    requests: BigInt(one.requests),
    ...(one.sinceMs > 0 && { firstSeenAt: timestampFromMs(one.sinceMs) }),
    ...(one.endsAtMs > 0 && { endsAt: timestampFromMs(one.endsAtMs) }),
    confidence: one.confidence,
    sampleRequestIds: [...one.samples],
    summary: one.summary,
  });
}
