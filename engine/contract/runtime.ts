/** A decoded bundle: everything that one generation of the engine serves. Plain data. */

import type { LoggingConfig } from './logging.ts';
import type { PolicySource } from './policy.ts';
import type { SiteConfig } from './site.ts';

/** What a bundle resolves to. */
export interface RuntimeConfig {
  readonly revision: string;
  /** SHA-256 of the bundle, hex. */
  readonly sha256: string;
  readonly sites: readonly SiteConfig[];
  /** Every policy that a site names, but for those that control holds back. */
  readonly policies: readonly PolicySource[];
  /** What is kept of requests; absent for the standard policy. */
  readonly logging?: LoggingConfig;
}
