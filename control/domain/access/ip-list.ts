/** What IP lists, their entries and their bindings may be, and the records they are kept in. */

import type {
  IpListBindingRecordJson,
  IpListEntryJson,
  IpListHeldUpdateJson,
  IpListSyncRunJson,
  IpListSyncStatusJson,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import { guardLimits } from '../../../base/guard-limits.ts';
import { runAtOnce, type Steps } from '../../../base/steps.ts';
import { parseNetwork, textOfKey } from '../../../base/ip-address.ts';
import { invalidField } from '../errors.ts';
import { hasControls, type AccessScope } from './ip-list-checks.ts';
import type { IpEntry } from './ip-list-content.ts';
import type { StoredSource } from './ip-list-source.ts';
import type { ResourceBase } from '../records.ts';

/** A list as it is kept; its entries lie in chunks, see ip-list-content.ts. */
export interface IpListRecord extends ResourceBase {
  readonly name: string;
  readonly description: string;
  readonly managementMode: 'manual' | 'subscription';
  /** Only of a subscription. */
  readonly source?: StoredSource;
  readonly sync?: IpListSyncStatusJson;
  /** What an update that waits would change; its entries lie under `heldContentId`. */
  readonly held?: IpListHeldUpdateJson;
}

/** Values of the secret headers of a source; the id is the list's. Never leaves control. */
export interface IpListSecretRecord {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One fetch; ids of a list sort by time. */
export type IpListRunRecord = IpListSyncRunJson & {
  readonly id: string;
  readonly ipListId: string;
};

/** Chunks that a change made or no longer uses; those that no directory names are removed. */
export interface IpListGarbageRecord {
  readonly id: string;
  readonly chunkIds: readonly string[];
}

/** A binding as it is kept. */
export type IpListBinding = IpListBindingRecordJson & {
  readonly id: string;
  readonly tenantId: string;
  readonly ipListId: string;
  readonly policyId: string;
  readonly siteId: string;
  readonly scope: AccessScope;
  readonly kind: string;
};

/** An entry by its list and its key, see base/ip-address.ts; '' where no entry is meant. */
export interface ListEntryPlace {
  readonly listId: string;
  readonly entryKey: string;
}

/** Directory of the update that waits for a list. */
export function heldContentId(listId: string): string {
  return `${listId}.held`;
}

/** Entries that are checked between two looks at the clock. */
const entriesPerStep = 50;

/**
 * Entries by key; of the same network the last one counts. `nowMs` decides what has lapsed.
 * Errors: invalid_argument naming the entry.
 */
export function checkEntries(
  entries: readonly IpListEntryJson[],
  at: string,
  nowMs: number,
): Map<string, IpEntry> {
  return runAtOnce(checkEntriesInSteps(entries, at, nowMs));
}

/** As `checkEntries`; a step is some entries. They may be made while they are read. */
export function* checkEntriesInSteps(
  entries: Iterable<IpListEntryJson>,
  at: string,
  nowMs: number,
): Steps<Map<string, IpEntry>> {
  const found = new Map<string, IpEntry>();
  let index = 0;
  for (const entry of entries) {
    const checked = checkEntry(entry, `${at}[${index}]`, nowMs);
    found.set(checked.key, checked);
    if (++index % entriesPerStep === 0) yield;
  }
  if (found.size > guardLimits.listEntriesMax) {
    throw invalidField(at, `a list has at most ${guardLimits.listEntriesMax} entries`);
  }
  return found;
}

function checkEntry({ value, note, expiresAt }: IpListEntryJson, at: string, nowMs: number) {
  const key = parseNetwork((value ?? '').trim());
  if (key === null) {
    throw invalidField(
      `${at}.value`,
      'must be an address or a network, for example 192.0.2.7 or 2001:db8::/32',
    );
  }
  if ((note ?? '').length > accessLimits.noteCharsMax || hasControls(note ?? '')) {
    throw invalidField(
      `${at}.note`,
      `has at most ${accessLimits.noteCharsMax} characters and no line breaks`,
    );
  }
  const ends = expiresAt === undefined ? NaN : Date.parse(expiresAt);
  if (ends <= nowMs) throw invalidField(`${at}.expiresAt`, 'must lie in the future');
  return {
    key,
    ...(note === undefined || note === '' ? {} : { note }),
    ...(Number.isNaN(ends) ? {} : { expiresAt: new Date(ends).toISOString() }),
  };
}

/** An entry as it is shown. */
export function showEntry({ key, note, expiresAt }: IpEntry): IpListEntryJson {
  return {
    value: textOfKey(key),
    ...(note === undefined ? {} : { note }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}
