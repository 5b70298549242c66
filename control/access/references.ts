/** Who uses an IP list: bindings, trust profiles, bot protection of sites, custom rules. */

import type { IpListReferenceJson } from '../../proto/gen/waf/v1/ip_list_pb.ts';
import type { IpListBinding } from '../domain/access/ip-list.ts';
import { globalTrustId } from '../domain/site/trust.ts';
import {
  customRules,
  ipListBindings,
  policies,
  sites,
  trustProfiles,
} from '../store/collections.ts';
import type { ReadStore } from '../store/store.ts';

/** A reference with all that decides filled in. */
export type ListReference = IpListReferenceJson & {
  readonly scope: string;
  readonly role: string;
};

/** Every use of a list; deciding ones first. Cost: reads all trust profiles, sites and rules. */
export function referencesOf(store: ReadStore, listId: string): ListReference[] {
  const bound = store
    .find(ipListBindings, 'list', listId)
    .map((one) => bindingReference(store, one));
  return [...bound, ...trustReferences(store, listId), ...otherReferences(store, listId)];
}

/** References of all lists at once, by list. */
export function allReferences(store: ReadStore): ReadonlyMap<string, ListReference[]> {
  const found = new Map<string, ListReference[]>();
  const add = (listId: string, reference: ListReference): void => {
    const known = found.get(listId);
    if (known === undefined) found.set(listId, [reference]);
    else known.push(reference);
  };
  for (const binding of store.list(ipListBindings)) {
    add(binding.ipListId, bindingReference(store, binding));
  }
  for (const [listId, reference] of trustUses(store)) add(listId, reference);
  for (const [listId, reference] of otherUses(store)) add(listId, reference);
  return found;
}

/** What a binding is to its list. */
export function bindingReference(store: ReadStore, binding: IpListBinding): ListReference {
  const { scope, policyId, siteId } = binding;
  return {
    scope,
    policyId,
    policyName: policyName(store, policyId),
    siteId,
    siteName: siteName(store, siteId),
    bindingId: binding.id,
    kind: binding.kind,
    bypassMode: binding.bypassMode ?? '',
    role: 'access_control',
    addressSource: binding.addressSource ?? '',
    matchMode: binding.matchMode ?? '',
  };
}

/** Name of a policy; '' for none. */
export function policyName(store: ReadStore, id: string): string {
  return id === '' ? '' : (store.get(policies, id)?.name ?? '');
}

/** Name of a site; '' for none. */
export function siteName(store: ReadStore, id: string): string {
  return id === '' ? '' : (store.get(sites, id)?.name ?? '');
}

function trustReferences(store: ReadStore, listId: string): ListReference[] {
  return trustUses(store)
    .filter(([id]) => id === listId)
    .map(([, reference]) => reference);
}

function trustUses(store: ReadStore): (readonly [string, ListReference])[] {
  return store.list(trustProfiles).flatMap(({ id, profile }) => {
    const siteId = id === globalTrustId ? '' : id;
    const place = { siteId, siteName: siteName(store, siteId) };
    return (profile.nodes ?? []).flatMap((node) =>
      (node.trust?.ipListIds ?? []).map((listId) => {
        const reference: ListReference = {
          scope: siteId === '' ? 'global' : 'site',
          ...place,
          role: 'trusted_proxy_peer',
          trustNodeId: node.id ?? '',
          trustNodeName: node.name ?? '',
        };
        return [listId, reference] as const;
      }),
    );
  });
}

function otherReferences(store: ReadStore, listId: string): ListReference[] {
  return otherUses(store)
    .filter(([id]) => id === listId)
    .map(([, reference]) => reference);
}

function otherUses(store: ReadStore): (readonly [string, ListReference])[] {
  const bots = store.list(sites).flatMap((site) =>
    (site.botProtection?.trustedIpListIds ?? []).map((listId) => {
      const place = { scope: 'site', siteId: site.id, siteName: site.name };
      return [listId, { ...place, role: 'bot_trusted_client' }] as const;
    }),
  );
  const rules = store.list(customRules).flatMap((rule) =>
    listsNamedIn(rule.visualSpec).map((listId) => {
      const reference: ListReference = {
        scope: rule.siteId === '' ? 'policy' : 'site',
        policyId: rule.policyId,
        policyName: policyName(store, rule.policyId),
        siteId: rule.siteId,
        siteName: siteName(store, rule.siteId),
        role: 'rule_operand',
        customRuleId: rule.id,
        customRuleName: rule.name ?? '',
      };
      return [listId, reference] as const;
    }),
  );
  return [...bots, ...rules];
}

/** Lists that the conditions of a visual specification name by `ipListId`. */
function listsNamedIn(visualSpec: unknown): string[] {
  const conditions = (visualSpec as { conditions?: unknown } | undefined)?.conditions;
  if (!Array.isArray(conditions)) return [];
  return conditions.flatMap((condition: unknown) => {
    const id = (condition as { ipListId?: unknown } | null)?.ipListId;
    return typeof id === 'string' && id !== '' ? [id] : [];
  });
}
