/** Finds a caller's list, shows it, and what its changes are noted as. */

import {
  IpListSchema,
  type IpList,
  type IpListDeploymentJson,
  type IpListJson,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import { chunkReader, contentOf } from '../../access/list-contents.ts';
import { referencesOf, type ListReference } from '../../access/references.ts';
import { refusal } from '../../domain/errors.ts';
import { allEntries, countOf } from '../../domain/access/ip-list-content.ts';
import { showSource } from '../../domain/access/ip-list-source.ts';
import { showEntry, type IpListRecord } from '../../domain/access/ip-list.ts';
import type { ResourceBase } from '../../domain/records.ts';
import { ipLists, sites } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { localNodeId } from '../agent-service/known-nodes.ts';
import type { Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import { deploymentOf } from '../deployment.ts';
import { finderOf, type Owned } from '../resource/owned.ts';
import { refuseTaken, type Change, type Kind, type ShownKind } from '../resource/resource.ts';
import { createIn } from '../resource/serve.ts';

/** Lists; audit rows show them without their entries, of which there may be a million. */
export const listKind: Owned<IpListRecord> &
  Pick<Kind<never, IpListRecord>, 'namesakes' | 'refuseMore'> &
  Pick<ShownKind<typeof IpListSchema, IpListRecord>, 'searched' | 'refuseRemoval'> = {
  collection: ipLists,
  noun: 'IP list',
  audit: 'ip_list',
  nameOf: ({ name }) => name,
  audited: (list, store) => auditedList(store, list),
  searched: ({ id, name, description }) => [id, name, description],
  namesakes: (store, { name }) => store.find(ipLists, 'name', name.toLowerCase()),
  refuseMore: (store) => {
    if (store.count(ipLists) < accessLimits.listsMax) return;
    throw refusal('resource_exhausted', `there are at most ${accessLimits.listsMax} IP lists`);
  },
  refuseRemoval: (store, { id }) => refuseUsed(referencesOf(store, id)),
};

/** A list of the caller's tenant. Errors: invalid_argument at `field`, not_found. */
export const storedList = finderOf(listKind);

/** Errors: failed_precondition for a list that its source fills. */
export function requireManual(list: IpListRecord, field: string): void {
  if (list.managementMode === 'manual') return;
  throw refusal(
    'failed_precondition',
    `${field}: the list is filled by its source; clone it to change its entries by hand`,
  );
}

/** Errors: failed_precondition for a list that people fill. */
export function requireSubscription(list: IpListRecord): void {
  if (list.managementMode === 'subscription') return;
  throw refusal('failed_precondition', 'id: the list is manual; it has no source');
}

/** Errors: aborted when the content moved on since it was read; '' is not checked. */
export function requireEtag(sent: string, stored: string): void {
  if (sent === '' || sent === stored) return;
  throw refusal('aborted', 'etag: the entries changed since; read them again');
}

/** A list that comes into being, and what keeps its content or its secrets. */
interface NewList extends Omit<IpListRecord, keyof ResourceBase>, Partial<ResourceBase> {
  readonly keepMore: (tx: WriteStore, list: IpListRecord) => unknown;
}

/** Creates a list. Errors: resource_exhausted, already_exists at `nameField`. */
export function createListIn(change: Change, asked: NewList, nameField: string): IpListRecord {
  return createIn(change, { ...newListKind, taken: takenText(nameField) }, asked);
}

/** Lists that are made by calls: what is asked for is the record, but for what is made. */
export const newListKind: Kind<NewList, IpListRecord> = {
  ...listKind,
  prefix: 'iplist',
  settle: (_change, { keepMore, ...asked }, _before, base) => {
    const record = { ...base, ...asked };
    return { record, keepMore: (tx) => keepMore(tx, record) };
  },
};

/** Errors: already_exists when another list of the tenant has the name. */
export function refuseSameListName(store: ReadStore, list: IpListRecord, field: string): void {
  refuseTaken(store, { ...listKind, taken: takenText(field) }, list);
}

function takenText(nameField: string): string {
  return `${nameField}: another IP list has this name`;
}

const namedUsersMax = 5;

/** Errors: failed_precondition that says by what the list is used. */
function refuseUsed(references: readonly ListReference[]): void {
  if (references.length === 0) return;
  const named = references.slice(0, namedUsersMax).map((one) => {
    if (one.role === 'trusted_proxy_peer') return `trust node ${one.trustNodeId}`;
    if (one.role === 'rule_operand') return `custom rule ${one.customRuleId}`;
    if (one.role === 'bot_trusted_client') return `bot protection of site ${one.siteId}`;
    const place = one.scope === 'global' ? 'the deployment' : one.siteId || one.policyId;
    return `binding ${one.bindingId} of ${place}`;
  });
  const more =
    references.length > namedUsersMax ? ` and ${references.length - namedUsersMax} more` : '';
  throw refusal('failed_precondition', `id: the list is used by ${named.join(', ')}${more}`);
}

/** The fields of a list that an audit row holds. */
export function auditedList(store: ReadStore, list: IpListRecord): object {
  const { etag, ipv4Count, ipv6Count } = contentOf(store, list.id);
  const { source, sync: _sync, held: _held, ...rest } = list;
  const shown = source === undefined ? {} : { source: showSource(source) };
  return { ...rest, ...shown, etag, ipv4Count, ipv6Count };
}

/**
 * A list as it is shown. `entries`: also its entries when there are few, and where it is deployed.
 */
export function showList(
  parts: Uses<'store' | 'publisher' | 'nodes'>,
  list: IpListRecord,
  options: { readonly entries: boolean; readonly references?: readonly ListReference[] },
): IpList {
  const { store } = parts;
  const content = contentOf(store, list.id);
  const count = countOf(content);
  const references = options.references ?? referencesOf(store, list.id);
  const scoped = (scope: string): number => references.filter((one) => one.scope === scope).length;
  const few = options.entries && count <= accessLimits.shownEntriesMax;
  const entries = few ? [...allEntries(content, chunkReader(store))].map(showEntry) : [];
  const changedAt = content.changedAt ?? '';
  const { source, sync, held, ...rest } = list;
  const json: IpListJson = {
    ...rest,
    updatedAt: changedAt > list.updatedAt ? changedAt : list.updatedAt,
    entries,
    globalRefCount: scoped('global'),
    policyRefCount: scoped('policy'),
    siteRefCount: scoped('site'),
    etag: content.etag,
    entryCount: count,
    ipv4Count: content.ipv4Count,
    ipv6Count: content.ipv6Count,
    contentStatus: count === 0 ? 'empty' : 'available',
    deploymentStatus: deploymentStatus(parts, references),
    referencePreview: references.slice(0, 2),
    ...(options.entries ? { deployment: showDeployment(parts, references, content.etag) } : {}),
    ...(source === undefined ? {} : { source: showSource(source) }),
    ...(sync === undefined ? {} : { syncStatus: sync }),
    ...(held === undefined ? {} : { heldUpdate: held }),
  };
  return toMessage(IpListSchema, json);
}

/** The words of the contract for how far a change has come. */
const statusOf = {
  pending: 'config_pending',
  applying: 'config_applying',
  failed: 'config_failed',
  applied: 'config_receipts_complete',
} as const;

/** How far the present content of a list has come, by what the local node confirmed. */
function deploymentStatus(
  parts: Uses<'store' | 'publisher' | 'nodes'>,
  references: readonly ListReference[],
): string {
  if (references.length === 0) return 'not_in_use';
  if (parts.nodes.get(localNodeId)?.connected !== true) return 'unverified';
  return statusOf[deploymentOf(parts, sitesInPart(parts, references)).state];
}

/** The sites of a list, while the node serves but a part of the configuration. */
function sitesInPart(
  parts: Uses<'store' | 'nodes'>,
  references: readonly ListReference[],
): string[] {
  const partly = (parts.nodes.get(localNodeId)?.interim ?? null) !== null;
  return partly ? sitesOf(parts.store, references) : [];
}

function showDeployment(
  parts: Uses<'store' | 'publisher' | 'nodes'>,
  references: readonly ListReference[],
  etag: string,
): IpListDeploymentJson {
  const current = parts.publisher.current();
  const status = deploymentStatus(parts, references);
  const { state, error, answeredAtMs } = deploymentOf(parts, sitesInPart(parts, references));
  const applied = state === 'applied' && answeredAtMs > 0;
  const at = applied ? { appliedAt: new Date(answeredAtMs).toISOString() } : {};
  return {
    revisionId: current === null ? '' : `config-${current.revision}`,
    contentDigest: etag,
    siteIds: sitesOf(parts.store, references),
    targets:
      references.length === 0
        ? []
        : [{ kind: 'local', id: localNodeId, status, lastError: error, ...at }],
  };
}

/** Sites that are touched by any of the references. */
export function sitesOf(store: ReadStore, references: readonly ListReference[]): string[] {
  const all = references.length === 0 ? [] : store.list(sites);
  return all
    .filter((site) =>
      references.some(
        ({ scope, policyId, siteId }) =>
          scope === 'global' ||
          (scope === 'site' && siteId === site.id) ||
          (scope === 'policy' && policyId === site.waf?.policyId),
      ),
    )
    .map(({ id }) => id);
}
