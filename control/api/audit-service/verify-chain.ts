/** Owns AuditService/VerifyChain and GetChainStatus. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AuditService } from '../../../proto/gen/waf/v1/audit_pb.ts';
import { verifyChain as verify } from '../../store/audit-chain.ts';
import type { ApiParts } from '../context.ts';
import { inTimeRange } from '../convert.ts';
import type { Method } from '../method.ts';
import { toBreak } from './to-entry.ts';

/** Recomputes the whole chain; the time range chooses which breaks are shown. */
export function verifyChain(parts: ApiParts): Method<typeof AuditService, 'verifyChain'> {
  return (request) => {
    const found = verify(parts.store.auditRows(), parts.store.auditHead());
    const breaks = found.breaks.filter(({ createdAt }) =>
      inTimeRange(request.timeRange, Date.parse(createdAt)),
    );
    return {
      healthy: breaks.length === 0,
      breaks: breaks.map(toBreak),
      verifiedAt: timestampFromMs(parts.clock.nowMs()),
      ...(request.timeRange === undefined ? {} : { timeRange: request.timeRange }),
      checkedRows: BigInt(found.checked),
      latestHash: found.lastHash,
    };
  };
}

/** The state of the chain now. */
export function getChainStatus(parts: ApiParts): Method<typeof AuditService, 'getChainStatus'> {
  return () => {
    const found = verify(parts.store.auditRows(), parts.store.auditHead());
    return {
      healthy: found.breaks.length === 0,
      latestHash: found.lastHash,
      latestVerifiedAt: timestampFromMs(parts.clock.nowMs()),
      breaks: found.breaks.map(toBreak),
      checkedRows: BigInt(found.checked),
    };
  };
}
