/** TrustService. */

import type { TrustService } from '../../../proto/gen/waf/v1/trust_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import {
  applyClientIPAnalysis,
  getClientIPAnalysis,
  startClientIPAnalysis,
  stopClientIPAnalysis,
} from './analysis.ts';
import {
  explainTrust,
  getTrustProfile,
  getTrustStatus,
  resetTrustProfile,
  setTrustProfile,
} from './profiles.ts';

/** TrustService. */
export function trustService(
  parts: Uses<'store' | 'clock' | 'engine' | 'analyses'>,
): Built<typeof TrustService> {
  return {
    getTrustProfile: getTrustProfile(parts),
    setTrustProfile: setTrustProfile(parts),
    resetTrustProfile: resetTrustProfile(parts),
    explainTrust: explainTrust(parts),
    getTrustStatus: getTrustStatus(parts),
    startClientIPAnalysis: startClientIPAnalysis(parts),
    getClientIPAnalysis: getClientIPAnalysis(parts),
    stopClientIPAnalysis: stopClientIPAnalysis(parts),
    applyClientIPAnalysis: applyClientIPAnalysis(parts),
  };
}
