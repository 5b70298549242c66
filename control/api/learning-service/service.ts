/** LearningService: what sites learned of signs that are content, and what people decide. */

import type { LearningService } from '../../../proto/gen/waf/learning/v1/learning_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { acceptProposal, dismissProposal, resetLearning } from './decide.ts';
import { exportLearning, listProposals } from './read-learning.ts';

/** LearningService. */
export function learningService(
  parts: Uses<'store' | 'clock' | 'counters'>,
): Built<typeof LearningService> {
  return {
    listProposals: listProposals(parts),
    acceptProposal: acceptProposal(parts),
    dismissProposal: dismissProposal(parts),
    resetLearning: resetLearning(parts),
    exportLearning: exportLearning(parts),
  };
}
