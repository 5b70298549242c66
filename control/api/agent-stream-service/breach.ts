/** What a node may not say on its stream, whatever it proved before. */

import type { ConnectRequest } from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { observationLimits } from '../../limits/observation-limits.ts';

const sha256Pattern = /^[0-9a-f]{64}$/;
const commandIdPattern = /^[!-~]{1,256}$/;

/** How a message breaks the protocol, as a sentence that begins with the field; '' for not. */
export function breachOf(nodeId: string, message: ConnectRequest['message']): string {
  switch (message.case) {
    case undefined:
      return 'message: none is set';
    case 'hello':
      return 'hello: was said already';
    case 'stateReport':
    case 'metricsPush':
      return message.value.agentId === nodeId ? '' : `${message.case}.agentId: is another node`;
    case 'interimResult': {
      const { targetRevision, artifactSha256, waitingSiteIds } = message.value;
      if (targetRevision <= 0n) return 'interimResult.targetRevision: is required';
      if (!sha256Pattern.test(artifactSha256)) return 'interimResult.artifactSha256: is required';
      if (waitingSiteIds.length <= callLimits.interimSitesMax) return '';
      return `interimResult.waitingSiteIds: has at most ${callLimits.interimSitesMax} entries`;
    }
    case 'applyResult': {
      const { targetRevision, artifactSha256 } = message.value;
      if (targetRevision <= 0n) return 'applyResult.targetRevision: is required, also on failure';
      if (sha256Pattern.test(artifactSha256)) return '';
      return 'applyResult.artifactSha256: is required, also on failure';
    }
    case 'observationBatch': {
      const { header, payload } = message.value;
      if (header === undefined) return 'observationBatch.header: is required';
      if (header.bootId.length === 0 || header.bootId.length > observationLimits.bootIdBytesMax) {
        return `observationBatch.header.bootId: has 1 to ${observationLimits.bootIdBytesMax} bytes`;
      }
      if (payload.length <= observationLimits.batchBytesMax) return '';
      return `observationBatch.payload: has more than ${observationLimits.batchBytesMax} bytes`;
    }
    case 'commandResult':
      // It is looked up in the store, whose keys are short and hold no zero.
      if (commandIdPattern.test(message.value.commandId)) return '';
      return 'commandResult.commandId: has 1 to 256 printable characters';
    case 'gapNotice': {
      const { bootId, firstItemSeq, lastItemSeq } = message.value;
      if (bootId.length === 0 || bootId.length > observationLimits.bootIdBytesMax) {
        return `gapNotice.bootId: has 1 to ${observationLimits.bootIdBytesMax} bytes`;
      }
      return lastItemSeq >= firstItemSeq ? '' : 'gapNotice.lastItemSeq: lies before firstItemSeq';
    }
    default:
      return '';
  }
}
