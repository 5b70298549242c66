/** AIService: explanations and drafts by a language model that an operator has set up. */

import type { AIService } from '../../../proto/gen/waf/v1/ai_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { draftCustomRule } from './draft-custom-rule.ts';
import { applyAIProposal, getAIProposal, listAIProposals, rejectAIProposal } from './proposals.ts';
import { getAIStatus, setAIProviderSecret } from './provider.ts';
import { streamAnalysis } from './stream-analysis.ts';
import { streamChat } from './stream-chat.ts';
import { translateLogQuery } from './translate-log-query.ts';

/** AIService. */
export function aiService(
  parts: Uses<'store' | 'clock' | 'logger' | 'events' | 'evidence' | 'engine'>,
): Built<typeof AIService> {
  return {
    listAIProposals: listAIProposals(parts),
    getAIProposal: getAIProposal(parts),
    getAIStatus: getAIStatus(parts),
    translateLogQuery: translateLogQuery(parts),
    streamAnalysis: streamAnalysis(parts),
    streamChat: streamChat(parts),
    draftCustomRule: draftCustomRule(parts),
    rejectAIProposal: rejectAIProposal(parts),
    applyAIProposal: applyAIProposal(parts),
    setAIProviderSecret: setAIProviderSecret(parts),
  };
}
