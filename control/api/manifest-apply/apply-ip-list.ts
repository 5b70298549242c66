/** Owns applying an IpList document. */

import { randomUUID } from 'node:crypto';
import { callLimits } from '../../limits/call-limits.ts';
import { chunkReader, contentOf, editEntries } from '../../access/list-contents.ts';
import { checkListTexts } from '../../domain/access/ip-list-checks.ts';
import { allEntries, type IpEntry } from '../../domain/access/ip-list-content.ts';
import { checkEntries, showEntry, type IpListRecord } from '../../domain/access/ip-list.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import type { Spec } from '../../publish/manifests/manifest-fields.ts';
import { ipListSpec, readIpListSpec } from '../../publish/manifests/manifest-specs.ts';
import { readSourceSpec } from '../../publish/manifests/manifest-source.ts';
import { ipLists } from '../../store/collections.ts';
import {
  auditedList,
  listKind,
  refuseSameListName,
  requireManual,
} from '../ip-list-service/stored-list.ts';
import { applySubscription } from './apply-subscription.ts';
import { noteOf } from '../resource/owned.ts';
import { changeOf, type ApplyRun, type DocumentChange } from './context.ts';
import { findBefore, refuseTakenId } from './find-before.ts';

/** Makes the list hold what the document says, and nothing else. Errors: AppError. */
export function applyIpList(run: ApplyRun, document: ManifestDocument): DocumentChange {
  const { tx, caller, now, nowMs, references } = run;
  const before = findBefore(run, 'ip list', document, (id) => tx.get(ipLists, id));
  if (before === null) refuseTakenId(document, tx.get(ipLists, document.statedId));
  const source = readSourceSpec(document);
  if (source !== undefined) return applySubscription(run, document, source, before);
  if (before !== null) requireManual(before, 'ipList.managementMode');
  const spec = readIpListSpec(document);
  const texts = checkListTexts({ name: document.name, description: spec.description }, 'ipList.');
  const wanted = checkEntries(spec.entries, 'ipList.entries', nowMs);
  const record: IpListRecord = {
    ...(before ?? { tenantId: caller.tenantId, managementMode: 'manual', createdAt: now }),
    ...texts,
    id: before?.id ?? (document.statedId || `iplist-${randomUUID()}`),
    updatedAt: now,
  };
  const present = new Map(
    [...allEntries(contentOf(tx, record.id), chunkReader(tx))].map((one) => [one.key, one]),
  );
  const shown = (entries: ReadonlyMap<string, IpEntry>) =>
    [...entries.values()]
      .sort((left, right) => (left.key < right.key ? -1 : 1))
      .map((entry) => showEntry(entry));
  const { description } = texts;
  const earlier =
    before === null
      ? null
      : ipListSpec({ description: before.description, entries: shown(present) });
  const later = ipListSpec({ description, entries: shown(wanted) });
  const change = shortened(changeOf(document, record.id, '0', earlier, later));
  const renamed = before !== null && before.name !== record.name;
  if (change.action === 'unchanged' && !renamed) return change;
  refuseSameListName(tx, record, 'ipList.name');
  const audited = before === null ? {} : { before: auditedList(tx, before) };
  tx.put(ipLists, record);
  editEntries(tx, record.id, ...differences(present, wanted), now);
  references.add('ip list', record.id, record.name);
  tx.audit({
    ...noteOf(caller, listKind, record),
    action: before === null ? 'create' : 'update',
    ...audited,
    after: auditedList(tx, record),
  });
  return renamed ? { ...change, action: 'update', changedPaths: ['metadata.name'] } : change;
}

/** Long lists are shown by their length: the plan is for people. */
function shortened(change: DocumentChange): DocumentChange {
  const short = (spec: Spec): Spec => {
    const entries = spec['entries'];
    const long = Array.isArray(entries) && entries.length > callLimits.diffEntriesMax;
    return long ? { ...spec, entries: `${entries.length} entries` } : spec;
  };
  const before = change.before === null ? null : short(change.before);
  return { ...change, before, after: short(change.after) };
}

function differences(
  present: ReadonlyMap<string, IpEntry>,
  wanted: ReadonlyMap<string, IpEntry>,
): [Map<string, IpEntry>, Set<string>] {
  const set = [...wanted].filter(([key, { note, expiresAt }]) => {
    const known = present.get(key);
    return known === undefined || known.note !== note || known.expiresAt !== expiresAt;
  });
  const remove = [...present.keys()].filter((key) => !wanted.has(key));
  return [new Map(set), new Set(remove)];
}
