/** Owns applying an Upstream document. */

import { randomUUID } from 'node:crypto';
import { refusal } from '../../domain/errors.ts';
import { keepPoolSecrets } from '../../domain/site/header-secrets.ts';
import type { UpstreamRecord } from '../../domain/records.ts';
import { checkUpstream } from '../../domain/site/upstream.ts';
import { refuseUsed } from '../../domain/usage.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import { readUpstreamSpec, upstreamSpec } from '../../publish/manifests/manifest-specs.ts';
import { upstreams } from '../../store/collections.ts';
import { actorNote } from '../context.ts';
import { nextUpdate } from '../unchanged.ts';
import { usersOfUpstream } from '../upstream-service/stored-upstream.ts';
import { changeOf, type ApplyRun, type DocumentChange } from './context.ts';
import { findBefore, refuseTakenId } from './find-before.ts';

/** Makes the pool what the document says. Errors: AppError naming the field. */
export function applyUpstream(run: ApplyRun, document: ManifestDocument): DocumentChange {
  const { tx, caller, now, references } = run;
  const before = findBefore(run, 'upstream', document, (id) => tx.get(upstreams, id));
  if (before === null) refuseTakenId(document, tx.get(upstreams, document.statedId));
  const checked = checkUpstream(keepPoolSecrets(readUpstreamSpec(document), before));
  const record: UpstreamRecord = {
    ...checked,
    id: before?.id ?? (document.statedId || `upstream-${randomUUID()}`),
    tenantId: caller.tenantId,
    name: checked.name ?? '',
    createdAt: before?.createdAt ?? now,
    updatedAt: nextUpdate(before ?? undefined, { nowMs: () => run.nowMs }),
  };
  const earlier = before === null ? null : upstreamSpec(before);
  const change = changeOf(document, record.id, '0', earlier, upstreamSpec(record));
  const renamed = before !== null && before.name !== record.name;
  if (change.action === 'unchanged' && !renamed) return change;
  const other = references.find('upstream', record.name);
  if (renamed && other !== undefined && other !== record.id) {
    throw refusal('already_exists', 'upstream.name: another pool has it');
  }
  if (record.status === 'RESOURCE_STATUS_DISABLED' && before?.status !== record.status) {
    refuseUsed('upstream.status', usersOfUpstream(tx, record.id));
  }
  tx.put(upstreams, record);
  references.add('upstream', record.id, record.name);
  tx.audit({
    ...actorNote(caller),
    action: before === null ? 'create' : 'update',
    resourceType: 'upstream',
    resourceId: record.id,
    resourceName: record.name,
    ...(before === null ? {} : { before }),
    after: record,
  });
  return renamed ? { ...change, action: 'update', changedPaths: ['metadata.name'] } : change;
}
