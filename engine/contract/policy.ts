/**
 * The shape in which policies travel: plain data, decoded from a verified bundle. Never holds
 * compiled rules.
 */

import type { SharedImages } from './shared-images.ts';

/** Name under which the text of a policy stands in diagnostics and matched rules. */
export const policyEntryFile = 'policy.conf';

/** Where the rule set's own files stand among a policy's files; others are the operator's. */
export const rulesetFolder = 'crs/';

/** One policy as text: the entry includes the files by their paths. */
export interface PolicySource {
  readonly id: string;
  readonly name: string;
  /** Rises with every change of the policy. */
  readonly revision: string;
  /** SecLang text, UTF-8, of the file `policyEntryFile`. */
  readonly seclangEntry: string;
  /** Rule and data files by relative path with forward slashes. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** A policy with the name under which threads share it: equal keys mean equal text and files. */
export interface KeyedPolicy {
  readonly key: string;
  readonly source: PolicySource;
}

/** Which policies a generation inspects with, and how threads come by them. */
export interface InspectionConfig {
  readonly policies: readonly KeyedPolicy[];
  /** Policy key by site id; sites without inspection are absent. */
  readonly keyOfSite: ReadonlyMap<string, string>;
  /** Key of the policy that inspects beside that of a site, by site id; absent for none. */
  readonly shadowKeyOfSite?: ReadonlyMap<string, string>;
  /** Sites whose policy still compiles and that nothing stands in for: their requests wait. */
  readonly compiling?: ReadonlySet<string>;
  /** Policies are built on first use, so that a cold start serves at once. */
  readonly lazy: boolean;
  /** Databases in shared memory by their cache key; what is missing comes from the cache. */
  readonly shared: SharedImages;
}

/** Nothing is inspected. */
export const noInspection: InspectionConfig = {
  policies: [],
  keyOfSite: new Map(),
  lazy: false,
  shared: new Map(),
};
