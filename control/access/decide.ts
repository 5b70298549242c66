/**
 * What the bindings of lists decide for an address: the site's before the policy's before the
 * deployment's, then by their order; the first that allows or denies decides, those that monitor
 * only show. Reads the store, changes nothing.
 */

import { encodeUtf8 } from '../../base/byte-string.ts';
import { parseAddress } from '../../base/ip-address.ts';
import { liesUnderStated, readStatedPath } from '../../base/stated-path.ts';
import { entriesHolding, hasLapsed, type IpEntry } from '../domain/access/ip-list-content.ts';
import type { AccessScope } from '../domain/access/ip-list-checks.ts';
import type { IpListBinding } from '../domain/access/ip-list.ts';
import { ipListBindings, policies, sites } from '../store/collections.ts';
import type { ReadStore } from '../store/store.ts';
import { chunkReader, contentOf } from './list-contents.ts';

/** Who asks for what. Addresses are keys, see base/ip-address.ts. */
export interface AccessQuestion {
  readonly tenantId: string;
  readonly clientKey: string;
  /** Null when it is not known. */
  readonly peerKey: string | null;
  /** '' when it is not known. */
  readonly siteId: string;
  /** Path of the request, without query. */
  readonly path: string;
  /** RFC 3339; entries that lapsed before do not count. */
  readonly now: string;
}

/** A binding that an address meets, with the entries that hold it. */
export interface AccessHit {
  readonly binding: IpListBinding;
  readonly entries: readonly IpEntry[];
}

/** What the bindings say together. */
export interface AccessDecision {
  readonly hits: readonly AccessHit[];
  /** allow, deny, monitor or none; empty when it cannot be said. */
  readonly decision: string;
  readonly status: 'evaluated' | 'site_required' | 'peer_required';
  readonly bindingId: string;
}

const scopeOrder: Readonly<Record<AccessScope, number>> = { site: 0, policy: 1, global: 2 };

/** Decides. Cost: one look-up for each list that is bound. */
export function decideAccess(store: ReadStore, question: AccessQuestion): AccessDecision {
  const policyId = policyOfSite(store, question.siteId);
  const applies = (binding: IpListBinding): boolean => {
    if (binding.tenantId !== question.tenantId || !onPath(binding, question.path)) return false;
    if (question.siteId === '') return true;
    if (binding.siteId !== '' && binding.siteId !== question.siteId) return false;
    return binding.policyId === '' || binding.policyId === policyId;
  };
  const ordered = store
    .list(ipListBindings)
    .filter(applies)
    .sort(
      (left, right) =>
        scopeOrder[left.scope] - scopeOrder[right.scope] ||
        (left.sortOrder ?? 0) - (right.sortOrder ?? 0) ||
        (left.id < right.id ? -1 : 1),
    );
  const found = new Map<string, readonly IpEntry[]>();
  const entriesIn = (listId: string, key: string): readonly IpEntry[] => {
    const name = `${listId}\n${key}`;
    const entries = found.get(name) ?? entriesHoldingNow(store, listId, key, question.now);
    found.set(name, entries);
    return entries;
  };
  const hits: AccessHit[] = [];
  let unknownPeer = false;
  for (const binding of ordered) {
    const key = binding.addressSource === 'peer_ip' ? question.peerKey : question.clientKey;
    if (key === null) {
      unknownPeer = true;
      continue;
    }
    const entries = entriesIn(binding.ipListId, key);
    if (entries.length > 0 === (binding.matchMode === 'in_list')) hits.push({ binding, entries });
  }
  const scoped = question.siteId === '' && hits.some(({ binding }) => binding.scope !== 'global');
  if (scoped) return { hits, decision: '', status: 'site_required', bindingId: '' };
  if (unknownPeer) return { hits, decision: '', status: 'peer_required', bindingId: '' };
  const deciding = hits.find(({ binding }) => binding.kind !== 'monitor');
  const decision = deciding?.binding.kind ?? (hits.length > 0 ? 'monitor' : 'none');
  return { hits, decision, status: 'evaluated', bindingId: deciding?.binding.id ?? '' };
}

/** Reads an address as decisions take it; null for anything else. */
export function readAddress(text: string): string | null {
  return parseAddress(text.trim());
}

function entriesHoldingNow(
  store: ReadStore,
  listId: string,
  key: string,
  now: string,
): readonly IpEntry[] {
  const all = entriesHolding(contentOf(store, listId), chunkReader(store), key);
  return all.filter((entry) => !hasLapsed(entry, now));
}

function policyOfSite(store: ReadStore, siteId: string): string {
  const site = siteId === '' ? undefined : store.get(sites, siteId);
  if (site?.waf?.enabled !== true) return '';
  if (site.waf.policyId) return site.waf.policyId;
  return store.list(policies).find((one) => one.isDefault === true && !one.isTemplate)?.id ?? '';
}

/**
 * As the guard has it: whole segments without case, /admin holds /Admin and /admin/x, not
 * /administrator. What denies counts for any reading of the path, what allows for all usual ones.
 */
function onPath({ pathPrefix = '', kind }: IpListBinding, path: string): boolean {
  if (pathPrefix === '') return true;
  return liesUnderStated(encodeUtf8(path), readStatedPath(pathPrefix), kind !== 'allow');
}
