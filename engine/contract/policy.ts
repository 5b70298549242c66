/**
 * Owns the shape in which policies and sites reach the composition root: plain data, decoded from a
 * verified bundle. Never holds compiled rules.
 */

import type { RoutesConfig } from './site.ts';

/** Name under which the text of a policy stands in diagnostics and matched rules. */
export const policyEntryFile = 'policy.conf';

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

/** Everything that one engine generation serves. */
export interface RuntimeConfig {
  readonly revision: string;
  /** SHA-256 of the bundle, hex. */
  readonly sha256: string;
  readonly routes: RoutesConfig;
  /** Every policy that a site names, but for those that control holds back. */
  readonly policies: readonly PolicySource[];
}
