/** AuditService. */

import type { AuditService } from '../../../proto/gen/waf/v1/audit_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { getAuditEntry, queryAudit } from './query-audit.ts';
import { getChainStatus, openChainVerifier, verifyChain } from './verify-chain.ts';

/** AuditService. */
export function auditService(parts: Uses<'store' | 'clock'>): Built<typeof AuditService> {
  const verify = openChainVerifier(parts);
  return {
    queryAudit: queryAudit(parts),
    getAuditEntry: getAuditEntry(parts),
    getChainStatus: getChainStatus(parts, verify),
    verifyChain: verifyChain(parts, verify),
  };
}
