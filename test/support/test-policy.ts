/** A policy of a few rules, and the settings of pool threads that run it. */

import path from 'node:path';
import type { PolicySource } from '../../engine/contract/policy.ts';
import type { ThreadSettings } from '../../engine/threads/thread-settings.ts';

/** A policy that inspects bodies both ways, with these rules. */
export function policyOf(rules: string): PolicySource {
  return {
    id: 'p',
    name: 'p',
    revision: '1',
    seclangEntry: `
SecRuleEngine On
SecRequestBodyAccess On
SecResponseBodyAccess On
SecResponseBodyMimeType text/html
${rules}`,
    files: new Map(),
  };
}

/** Two pool threads that keep everything below `folder`. */
export function poolThreadSettings(folder: string): ThreadSettings {
  return {
    place: 'pool',
    poolThreads: 2,
    sharedSocket: false,
    events: 'notable',
    cacheFolder: path.join(folder, 'databases'),
    collectionsFolder: path.join(folder, 'collections'),
    countryFile: path.join(folder, 'country.mmdb'),
    logLevel: 'error',
  };
}
