/**
 * How documents state IP lists: by their entries, or by the source that fills them. Secrets are not
 * part of manifests: what is stored stays, and a warning says what is missing.
 */

import { randomUUID } from 'node:crypto';
import { chunkReader, contentOf, editEntries } from '../../access/list-contents.ts';
import { checkJsonPath } from '../../access/source-formats.ts';
import { restingState } from '../../access/sync-runs.ts';
import { checkListTexts } from '../../domain/access/ip-list-checks.ts';
import { allEntries, type IpEntry } from '../../domain/access/ip-list-content.ts';
import { checkSource, showSource, type StoredSource } from '../../domain/access/ip-list-source.ts';
import { checkEntries, showEntry, type IpListRecord } from '../../domain/access/ip-list.ts';
import { refusal } from '../../domain/errors.ts';
import type { ResourceBase } from '../../domain/records.ts';
import { callLimits } from '../../limits/call-limits.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import { known, text, type Spec } from '../../publish/manifests/manifest-fields.ts';
import {
  readSourceSpec,
  sourceSpec,
  storedSecret,
  type SourceSpec,
} from '../../publish/manifests/manifest-source.ts';
import {
  filled,
  ipListSpec,
  readIpListSpec,
  type IpListSpec,
} from '../../publish/manifests/manifest-specs.ts';
import { ipListSecrets } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { atField } from '../rethrown-at.ts';
import type { Asking, StatedKind, Settled } from '../resource/resource.ts';
import { listKind, requireManual } from './stored-list.ts';
import { keepHeaders } from './subscriptions.ts';

/** What a document asks for: a list by hand, or one that follows a source. */
interface AskedList extends IpListSpec {
  readonly name: string;
  readonly follows?: SourceSpec;
}

/** IP lists as documents ask for them. */
export const statedListKind: StatedKind<AskedList, IpListRecord> = {
  ...listKind,
  prefix: 'iplist',
  settle: (change, asked, before, base) => {
    const texts = checkListTexts(asked, 'ipList.');
    return asked.follows === undefined
      ? settleEntries(change, { ...asked, ...texts }, before, base)
      : settleSource(change, { ...asked, ...texts, follows: asked.follows }, before, base);
  },
  taken: 'ipList.name: another IP list has this name',
  document: {
    reference: 'ip list',
    read: readAsked,
    spec: (list, _references, store) =>
      list.managementMode === 'manual'
        ? entriesSpec(list, presentEntries(store, list.id))
        : followingSpec(list),
    // Plans are for people.
    planned: (spec) => {
      const { entries } = spec;
      const long = Array.isArray(entries) && entries.length > callLimits.diffEntriesMax;
      return long ? { ...spec, entries: `${entries.length} entries` } : spec;
    },
  },
};

function readAsked(document: ManifestDocument): AskedList {
  const { name, spec, where } = document;
  const follows = readSourceSpec(document);
  if (follows === undefined) return { name, ...readIpListSpec(document) };
  known(spec, ['description', 'source'], where, 'spec.');
  return { name, description: text(spec, 'description', where, 'spec.'), entries: [], follows };
}

function settleEntries(
  { tx, nowMs }: Asking,
  { name, description, entries }: AskedList,
  before: IpListRecord | null,
  base: ResourceBase,
): Settled<IpListRecord> {
  if (before !== null) requireManual(before, 'ipList.managementMode');
  const wanted = checkEntries(entries, 'ipList.entries', nowMs);
  const record = { managementMode: 'manual', ...before, ...base, name, description } as const;
  const present = presentEntries(tx, base.id);
  return {
    record,
    spec: () => entriesSpec(record, wanted),
    keepMore: (writing) =>
      editEntries(writing, base.id, ...differences(present, wanted), base.updatedAt),
  };
}

function settleSource(
  change: Asking,
  { name, description, follows }: AskedList & { readonly follows: SourceSpec },
  before: IpListRecord | null,
  base: ResourceBase,
): Settled<IpListRecord> {
  const { nowMs } = change;
  if (before !== null && before.managementMode !== 'subscription') {
    throw refusal('failed_precondition', 'spec.source: the list is filled by hand');
  }
  const { source, headers } = sourceWithStored(change, follows, before);
  const sync = restingState(before?.sync ?? { status: 'never_synced' }, source, nowMs);
  const texts = { name, description, managementMode: 'subscription' } as const;
  const record = { ...before, ...base, ...texts, source, sync };
  return {
    record,
    keepMore: (tx) => keepHeaders(tx, record, { headers }),
    bringsMore: follows.headers.some(({ value }) => value !== storedSecret),
  };
}

/** The source with the values that are stored; says which are missing. */
function sourceWithStored(
  { tx, document }: Asking,
  asked: SourceSpec,
  before: IpListRecord | null,
): { readonly source: StoredSource; readonly headers: Readonly<Record<string, string>> } {
  const secrets = before === null ? {} : (tx.get(ipListSecrets, before.id)?.headers ?? {});
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
    document?.warn(
      `${document.where}: spec.source.headers[${at}]: its value is a secret that no manifest ` +
        'holds; fetches go without it until it is set',
    );
  }
  if (new URL(checked.source.url).search === '?redacted') {
    document?.warn(
      `${document.where}: spec.source.url: its query is a secret that no manifest holds; set the ` +
        'whole URL',
    );
  }
  const headerNames = [...checked.source.headerNames, ...missing.map(({ name }) => name)].sort();
  // An unchanged source keeps what it was: its generation rises with a change only.
  const source = { ...checked.source, headerNames };
  const same = before?.source !== undefined && shownText(before.source) === shownText(source);
  return { headers: checked.headers, source: same ? before.source : source };
}

function followingSpec({ description, source }: IpListRecord): Spec {
  const shown = source === undefined ? {} : { source: sourceSpec(showSource(source)) };
  return filled({ description, ...shown });
}

function shownText(source: StoredSource): string {
  return JSON.stringify(sourceSpec(showSource(source)));
}

function presentEntries(store: ReadStore, id: string): ReadonlyMap<string, IpEntry> {
  const present = allEntries(contentOf(store, id), chunkReader(store));
  return new Map([...present].map((one) => [one.key, one]));
}

function entriesSpec({ description }: IpListRecord, entries: ReadonlyMap<string, IpEntry>): Spec {
  const inOrder = [...entries.values()].sort((left, right) => (left.key < right.key ? -1 : 1));
  return ipListSpec({ description, entries: inOrder.map((entry) => showEntry(entry)) });
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
