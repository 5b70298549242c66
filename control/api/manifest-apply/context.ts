/** What applying a document works with, and what it says of each. */

import { hideHeaderSecrets } from '../../domain/site/header-secrets.ts';
import type { Caller } from '../../auth/permissions.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { changedPaths } from '../../domain/changed-paths.ts';
import type { PluginBindingRecord } from '../../domain/policy/exclusion-plugins.ts';
import type { CustomRuleRecord, PolicyRecord, RuleOverrideRecord } from '../../domain/records.ts';
import type { ManifestDocument, ManifestKind } from '../../publish/manifests/manifest-documents.ts';
import type { Spec } from '../../publish/manifests/manifest-fields.ts';
import type { References } from '../../publish/manifests/manifest-references.ts';
import type { WriteStore } from '../../store/store.ts';

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
  readonly rulesChanged: CheckedRules[];
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

/** The custom rules of a policy of which some are new or changed. */
export interface CheckedRules {
  readonly policyId: string;
  /** What is new or changed, each with its index in the document. */
  readonly changed: readonly { readonly rule: CustomRuleRecord; readonly at: number }[];
  /** All rules of the policy, as they will be. */
  readonly rules: readonly CustomRuleRecord[];
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
