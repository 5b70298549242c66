/** AuditService/QueryAudit and GetAuditEntry. */

import type { AuditService, QueryAuditRequest } from '../../../proto/gen/waf/v1/audit_pb.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { invalidField } from '../../domain/errors.ts';
import { paced } from '../../observe/paced.ts';
import type { AuditRow } from '../../store/audit-chain.ts';
import { callerOf, type Uses } from '../context.ts';
import { inTimeRange, requireText } from '../convert.ts';
import type { Method } from '../method.ts';
import { requireOurs } from '../resource/owned.ts';
import { toEntry } from './to-entry.ts';

/** Audit entries of the caller's tenant, newest first; the total is that of all rows. */
export function queryAudit(parts: Uses<'store'>): Method<typeof AuditService, 'queryAudit'> {
  return async (request, context) => {
    const { tenantId } = callerOf(context);
    const { cursor = '', pageSize: asked = 0, offset = 0 } = request.page ?? {};
    if (asked < 0 || asked > callLimits.pageSizeMax) {
      throw invalidField(
        'page.pageSize',
        `must be between 1 and ${callLimits.pageSizeMax}; 0 acts as 50`,
      );
    }
    if (cursor !== '' && !/^\d{16}$/.test(cursor)) {
      throw invalidField('page.cursor', 'is not one of ours');
    }
    if (cursor !== '' && offset > 0) {
      throw invalidField('page.offset', 'excludes page.cursor: give one of them');
    }
    if (!['', 'success', 'failure'].includes(request.outcome)) {
      throw invalidField('outcome', 'must be success, failure, or empty for both');
    }
    const pageSize = asked || 50;
    const found: AuditRow[] = [];
    let total = 0;
    const rows = parts.store.auditRows({ reverse: true });
    for await (const row of paced(rows, { signal: context.signal })) {
      if (row.tenantId !== tenantId || !fits(row, request)) continue;
      total++;
      const wanted = total > offset && (cursor === '' || row.id < cursor);
      if (wanted && found.length <= pageSize) found.push(row);
    }
    const items = found.slice(0, pageSize);
    const hasMore = found.length > pageSize;
    const nextCursor = hasMore ? (items.at(-1)?.id ?? '') : '';
    return { items: items.map(toEntry), page: { nextCursor, hasMore }, total: BigInt(total) };
  };
}

/** One audit entry. */
export function getAuditEntry(parts: Uses<'store'>): Method<typeof AuditService, 'getAuditEntry'> {
  return (request, context) => {
    const row = parts.store.auditRow(requireText(request.id, 'id'));
    return { entry: toEntry(requireOurs(row, callerOf(context), 'audit entry', request.id)) };
  };
}

function fits(row: AuditRow, request: QueryAuditRequest): boolean {
  const { actorId, action, resourceType, resourceId, actorQuery, outcome, actorIp } = request;
  const same = (wanted: string, value: string): boolean => wanted === '' || wanted === value;
  const failed = row.action.endsWith('_failed');
  return (
    same(actorId, row.actorId) &&
    same(action, row.action) &&
    same(resourceType, row.resourceType) &&
    same(resourceId, row.resourceId) &&
    same(outcome, failed ? 'failure' : 'success') &&
    same(actorIp, row.metadata?.['address'] ?? '') &&
    row.actorName.toLowerCase().includes(actorQuery.toLowerCase()) &&
    inTimeRange(request.timeRange, Date.parse(row.createdAt))
  );
}
