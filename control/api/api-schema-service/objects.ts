/** What the methods of the service share: finding immutable objects, their contents, pages. */

import { createHash } from 'node:crypto';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import { notFound } from '../../domain/errors.ts';
import type { SchemaSourceRecord } from '../../domain/documents/api-records.ts';
import type { Collection } from '../../store/collection.ts';
import { schemaSources } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { requireText } from '../convert.ts';
import { keepNoted, type Kept } from '../resource/owned.ts';

/** A document of a site. Errors: invalid_argument, not_found. */
export function sourceOf(store: ReadStore, siteId: string, id: string): SchemaSourceRecord {
  return objectOfSite(store, schemaSources, 'API document', siteId, id, 'sourceId');
}

/** An object of a site. Errors: invalid_argument at `field`, not_found. */
export function objectOfSite<T extends { readonly id: string; readonly siteId: string }>(
  store: ReadStore,
  collection: Collection<T>,
  kind: string,
  siteId: string,
  id: string,
  field: string,
): T {
  const found = store.get(collection, requireText(id, field));
  if (found === undefined || found.siteId !== siteId) throw notFound(kind, id);
  return found;
}

/** Content of an object. Errors: a plain Error where it is gone: the store is damaged. */
export function content(store: ReadStore, blob: string): Uint8Array {
  const bytes = store.blob(blob);
  if (bytes === undefined) throw new Error(`the content ${blob} is gone`);
  return bytes;
}

/** Content of an object as text. */
export function contentText(store: ReadStore, blob: string): string {
  return Buffer.from(content(store, blob)).toString('utf8');
}

/** Content of an object that is JSON. */
export function contentJson<T>(store: ReadStore, blob: string): T {
  return JSON.parse(contentText(store, blob)) as T;
}

/** Keeps a text as a blob and returns the blob's name. */
export function putText(tx: WriteStore, name: string, text: string): string {
  tx.putBlob(name, Buffer.from(text, 'utf8'));
  return name;
}

/** Bytes of a JSON value as answers carry it. */
export function jsonBytes(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

/** SHA-256 of a text, hex. */
export function textSha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** One page of a list that begins after the object `beforeId`, the newest first. */
export function pageBefore<T extends { readonly id: string; readonly createdAt: string }>(
  all: readonly T[],
  beforeId: string,
  kind: string,
): { readonly items: readonly T[]; readonly next: string } {
  const sorted = [...all].sort((one, other) => (order(one) < order(other) ? 1 : -1));
  const at = beforeId === '' ? -1 : sorted.findIndex(({ id }) => id === beforeId);
  if (beforeId !== '' && at === -1) throw notFound(kind, beforeId);
  const items = sorted.slice(at + 1, at + 1 + apiDocumentLimits.listPage);
  const more = at + 1 + items.length < sorted.length;
  return { items, next: more ? (items.at(-1)?.id ?? '') : '' };
}

function order({ createdAt, id }: { readonly createdAt: string; readonly id: string }): string {
  return `${createdAt} ${id}`;
}

/** Revisions before `beforeRevision` (0 for all), the newest first, and where the next page is. */
export function revisionsBefore<T extends { readonly revision: string }>(
  all: readonly T[],
  beforeRevision: bigint,
): { readonly items: readonly T[]; readonly next: bigint } {
  const older = all
    .filter(({ revision }) => beforeRevision === 0n || BigInt(revision) < beforeRevision)
    .sort((one, other) => Number(BigInt(other.revision) - BigInt(one.revision)));
  const items = older.slice(0, apiDocumentLimits.listPage);
  const last = items.at(-1)?.revision ?? '0';
  return { items, next: older.length > items.length ? BigInt(last) : 0n };
}

/** Every object of a site in a collection that has an index by site and revision. */
export function allOfSite<T extends { readonly id: string }>(
  store: ReadStore,
  collection: Collection<T>,
  siteId: string,
): T[] {
  return [...store.walkIndex(collection, 'site', { valuePrefix: `${siteId} ` })];
}

/** Keeps an object that was staged on a site; its audit row names the site. */
export function keepStaged<T extends { readonly id: string; readonly siteId: string }>(
  tx: WriteStore,
  caller: Caller,
  kind: Pick<Kept<T>, 'collection' | 'audit'>,
  record: T,
  after: Readonly<Record<string, unknown>>,
): T {
  const named = { ...kind, nameOf: ({ siteId }: T) => siteId };
  return keepNoted(tx, caller, named, record, 'stage', { after });
}
