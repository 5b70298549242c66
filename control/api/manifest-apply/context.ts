/** What applying a document works with, and what it says of each. */

import { hideHeaderSecrets } from '../../domain/site/header-secrets.ts';
import type { Caller } from '../../auth/permissions.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { changedPaths } from '../../domain/changed-paths.ts';
import type { PluginBindingRecord } from '../../domain/policy/exclusion-plugins.ts';
import type { CustomRuleRecord, PolicyRecord, RuleOverrideRecord } from '../../domain/records.ts';
import type { ManifestDocument, ManifestKind } from '../../publish/manifests/manifest-documents.ts';
import type { Spec } from '../../publish/manifests/manifest-fields.ts';
import { References, type ReferenceKind } from '../../publish/manifests/manifest-references.ts';
import {
  agentGroups,
  alertChannels,
  alertRules,
  certificates,
  countryRules,
  dnsProviders,
  ipLists,
  policies,
  roles,
  rulesets,
  sites,
  upstreams,
  users,
  type Collection,
} from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import type { TenantRecord } from '../resource/owned.ts';

/** One run over the documents of a manifest, inside one transaction. */
export interface ApplyRun {
  readonly tx: WriteStore;
  readonly caller: Caller;
  readonly nowMs: number;
  /** RFC 3339. */
  readonly now: string;
  readonly references: References;
  /** What the engine should compile before it is kept. */
  readonly policiesChanged: Map<string, CheckedPolicy>;
  readonly rulesChanged: CheckedRule[];
  readonly overridesChanged: CheckedOverrides[];
  readonly pluginsChanged: CheckedPlugins[];
  /** What works but deserves a look; each sentence once. */
  readonly warnings: Set<string>;
  readonly warn: (...sentences: readonly string[]) => void;
}

/** A policy that is new or changed, with the document that it comes from. */
export interface CheckedPolicy {
  readonly policy: PolicyRecord;
  readonly where: string;
}

/** All overrides of a policy of which some are new, changed or gone. */
export interface CheckedOverrides {
  readonly policyId: string;
  readonly overrides: readonly RuleOverrideRecord[];
  readonly where: string;
}

/** A custom rule that is new or changed. */
export interface CheckedRule {
  readonly policyId: string;
  /** Its index in the document. */
  readonly at: number;
  readonly rule: CustomRuleRecord;
  /** The other rules of the policy, as they will be. */
  readonly others: readonly CustomRuleRecord[];
  readonly where: string;
}

/** The uses of exclusion plugins of a policy, as they will be. */
export interface CheckedPlugins {
  readonly policyId: string;
  readonly bindings: readonly PluginBindingRecord[];
  readonly where: string;
}

/** A part of a spec that is left as it is where a document does not state it. */
export interface StatedList {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What a document changes. */
export interface DocumentChange {
  readonly kind: ManifestKind;
  readonly name: string;
  readonly id: string;
  readonly action: 'create' | 'update' | 'unchanged';
  /** Revision after the change; '0' for kinds without one. */
  readonly revision: string;
  readonly before: Spec | null;
  readonly after: Spec;
  readonly changedPaths: readonly string[];
}

/**
 * Opens a run; everything that documents may name is known by name and id. `committed` is the store
 * outside of the transaction: at its start both are the same, and what was committed is decoded.
 */
export function openRun(
  tx: WriteStore,
  committed: ReadStore,
  caller: Caller,
  nowMs: number,
): ApplyRun {
  const references = new References();
  const list: ReadStore['list'] = (collection) => {
    // The transaction is to know that it depends on this.
    tx.count(collection);
    return committed.list(collection);
  };
  const ours = ({ tenantId }: TenantRecord): boolean => tenantId === caller.tenantId;
  const name = <R extends TenantRecord & { readonly name: string }>(
    kind: ReferenceKind,
    collection: Collection<R>,
  ): void => {
    for (const one of list(collection).filter(ours)) references.add(kind, one.id, one.name);
  };
  name('site', sites);
  name('upstream', upstreams);
  name('certificate', certificates);
  name('ip list', ipLists);
  name('country rule', countryRules);
  name('role', roles);
  name('DNS provider', dnsProviders);
  name('agent group', agentGroups);
  name('alert channel', alertChannels);
  name('alert rule', alertRules);
  for (const { id, username } of list(users).filter(ours)) references.add('user', id, username);
  const known = list(policies).filter((one) => ours(one) && one.isTemplate !== true);
  for (const { id, name } of known) references.add('policy', id, name);
  for (const { id, version, status } of list(rulesets)) {
    const standard = status === 'active' ? ['default'] : [];
    references.add(
      'ruleset',
      id,
      ...(version === '' ? [] : [`crs-${version}`, version]),
      ...standard,
    );
  }
  const warnings = new Set<string>();
  return {
    tx,
    caller,
    nowMs,
    now: new Date(nowMs).toISOString(),
    references,
    policiesChanged: new Map(),
    rulesChanged: [],
    overridesChanged: [],
    pluginsChanged: [],
    warnings,
    warn: (...sentences) => sentences.forEach((one) => warnings.add(one)),
  };
}

/** What the step from one spec to another is. */
export function changeOf(
  { kind, name }: ManifestDocument,
  id: string,
  revision: string,
  before: Spec | null,
  after: Spec,
): DocumentChange {
  const paths = before === null ? [] : changedPaths(before, after).map((path) => `spec.${path}`);
  const same = before !== null && canonicalJson(before) === canonicalJson(after);
  const action = before === null ? 'create' : same ? 'unchanged' : 'update';
  // Compared as they are, shown without secrets.
  const shown = hideHeaderSecrets({ before, after });
  return { kind, name, id, action, revision, ...shown, changedPaths: paths };
}

/** The change with what its lists change, too. */
export function withLists(change: DocumentChange, lists: readonly StatedList[]): DocumentChange {
  if (lists.length === 0) return change;
  const paths = [...change.changedPaths];
  const earlier: Record<string, unknown> = {};
  const later: Record<string, unknown> = {};
  for (const { name, before, after } of lists) {
    if (before !== undefined) earlier[name] = before;
    if (after !== undefined) later[name] = after;
    if (canonicalJson(before ?? null) !== canonicalJson(after ?? null)) paths.push(`spec.${name}`);
  }
  const isNew = change.before === null;
  return {
    ...change,
    action: change.action === 'unchanged' && paths.length > 0 ? 'update' : change.action,
    before: isNew ? null : { ...change.before, ...earlier },
    after: { ...change.after, ...later },
    changedPaths: isNew ? [] : paths,
  };
}
