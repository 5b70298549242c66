/** How an audit row is shown. */

import { hideHeaderSecrets } from '../../domain/site/header-secrets.ts';
import { create, type JsonObject } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  AuditEntrySchema,
  ChainBreakSchema,
  type AuditEntry,
  type ChainBreak,
} from '../../../proto/gen/waf/v1/audit_pb.ts';
import type { AuditBreak, AuditRow } from '../../store/audit-chain.ts';
import { changedPaths } from '../../domain/changed-paths.ts';

/** The entry of a row. */
export function toEntry(row: AuditRow): AuditEntry {
  // Rows of earlier versions hold headers as they were.
  const before = hideHeaderSecrets(row.before) as JsonObject | undefined;
  const after = hideHeaderSecrets(row.after) as JsonObject | undefined;
  return create(AuditEntrySchema, {
    id: row.id,
    tenantId: row.tenantId,
    actorId: row.actorId,
    actorName: row.actorName,
    action: row.action,
    resourceType: row.resourceType,
    resourceId: row.resourceId,
    resourceName: row.resourceName ?? '',
    diff: {
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
      changedPaths: changedPaths(before, after),
    },
    prevHash: row.prevHash,
    hash: row.hash,
    createdAt: timestampFromDate(new Date(row.createdAt)),
    metadata: { ...row.metadata },
  });
}

/** A break as it is shown. */
export function toBreak(found: AuditBreak): ChainBreak {
  const { createdAt, ...rest } = found;
  const time = createdAt === '' ? {} : { createdAt: timestampFromDate(new Date(createdAt)) };
  return create(ChainBreakSchema, { ...rest, ...time });
}
