/**
 * Owns applying an IpList document with a source. Secrets are not part of manifests: what is stored
 * stays, and where nothing is stored a warning says what to set.
 */

import { randomUUID } from 'node:crypto';
import { checkJsonPath } from '../../access/source-formats.ts';
import { restingState } from '../../access/sync-runs.ts';
import { refusal } from '../../domain/errors.ts';
import { checkListTexts } from '../../domain/access/ip-list-checks.ts';
import { checkSource, showSource, type StoredSource } from '../../domain/access/ip-list-source.ts';
import type { IpListRecord } from '../../domain/access/ip-list.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import { known, text, type Spec } from '../../publish/manifests/manifest-fields.ts';
import {
  sourceSpec,
  storedSecret,
  type SourceSpec,
} from '../../publish/manifests/manifest-source.ts';
import { filled } from '../../publish/manifests/manifest-specs.ts';
import { ipListSecrets } from '../../store/collections.ts';
import { auditedList, listKind, refuseSameListName } from '../ip-list-service/stored-list.ts';
import { keepWithSecrets } from '../ip-list-service/subscriptions.ts';
import { atField } from './apply-access.ts';
import { noteOf } from '../resource/owned.ts';
import { changeOf, type ApplyRun, type DocumentChange } from './context.ts';

/** Makes the list follow the source of the document. Errors: AppError naming the field. */
export function applySubscription(
  run: ApplyRun,
  document: ManifestDocument,
  asked: SourceSpec,
  before: IpListRecord | null,
): DocumentChange {
  const { tx, caller, now, nowMs, references } = run;
  const { spec, where } = document;
  known(spec, ['description', 'source'], where, 'spec.');
  if (before !== null && before.managementMode !== 'subscription') {
    throw refusal('failed_precondition', 'spec.source: the list is filled by hand');
  }
  const description = text(spec, 'description', where, 'spec.');
  const texts = checkListTexts({ name: document.name, description }, 'ipList.');
  const { source, headers } = settleSource(run, document, asked, before);
  const fresh: IpListRecord = {
    ...(before ?? { tenantId: caller.tenantId, createdAt: now }),
    ...texts,
    id: before?.id ?? (document.statedId || `iplist-${randomUUID()}`),
    managementMode: 'subscription',
    source,
    sync: restingState(before?.sync ?? { status: 'never_synced' }, source, nowMs),
    updatedAt: now,
  };
  const earlier = before === null ? null : specOf(before);
  const change = changeOf(document, fresh.id, '0', earlier, specOf(fresh));
  const renamed = before !== null && before.name !== fresh.name;
  const isNewSecret = asked.headers.some(({ value }) => value !== storedSecret);
  if (change.action === 'unchanged' && !renamed && !isNewSecret) return change;
  refuseSameListName(tx, fresh, 'ipList.name');
  const audited = before === null ? {} : { before: auditedList(tx, before) };
  keepWithSecrets(tx, fresh, { headers });
  references.add('ip list', fresh.id, fresh.name);
  tx.audit({
    ...noteOf(caller, listKind, fresh),
    action: before === null ? 'create' : 'update',
    ...audited,
    after: auditedList(tx, fresh),
  });
  return renamed ? { ...change, action: 'update', changedPaths: ['metadata.name'] } : change;
}

interface SettledSource {
  readonly source: StoredSource;
  readonly headers: Readonly<Record<string, string>>;
}

/** The source with the values that are stored; says which are missing. */
function settleSource(
  run: ApplyRun,
  { where }: ManifestDocument,
  asked: SourceSpec,
  before: IpListRecord | null,
): SettledSource {
  const secrets = before === null ? {} : (run.tx.get(ipListSecrets, before.id)?.headers ?? {});
  const stored = before?.source === undefined ? null : { source: before.source, headers: secrets };
  const named = asked.headers.map(({ name, value }) => ({ name: name.toLowerCase(), value }));
  const missing = named.filter(
    ({ name, value }) => value === storedSecret && secrets[name] === undefined,
  );
  const changes = named
    .filter((one) => !missing.includes(one))
    .map(({ name, value }) =>
      value === storedSecret ? { name, keepExisting: true } : { name, replaceSecret: value },
    );
  const gone = Object.keys(secrets)
    .filter((name) => !named.some((one) => one.name === name))
    .map((name) => ({ name, delete: true }));
  const { headers: _headers, id: _id, generation: _generation, ...rest } = asked.source;
  const input = { ...rest, headers: [...changes, ...gone] };
  const checked = atField('spec.source', 'source', () =>
    checkSource(input, stored, before?.source?.id ?? randomUUID(), checkJsonPath),
  );
  for (const { name } of missing) {
    const at = named.findIndex((one) => one.name === name);
    run.warn(
      `${where}: spec.source.headers[${at}]: its value is a secret that no manifest holds; fetches ` +
        'go without it until it is set',
    );
  }
  if (new URL(checked.source.url).search === '?redacted') {
    run.warn(
      `${where}: spec.source.url: its query is a secret that no manifest holds; set the whole URL`,
    );
  }
  const headerNames = [...checked.source.headerNames, ...missing.map(({ name }) => name)].sort();
  // An unchanged source keeps what it was: its generation rises with a change only.
  const source = { ...checked.source, headerNames };
  const same = before?.source !== undefined && shown(before.source) === shown(source);
  return { headers: checked.headers, source: same ? before.source! : source };
}

function specOf(list: IpListRecord): Spec {
  const source = list.source === undefined ? {} : { source: sourceSpec(showSource(list.source)) };
  return filled({ description: list.description, ...source });
}

function shown(source: StoredSource): string {
  return JSON.stringify(sourceSpec(showSource(source)));
}
