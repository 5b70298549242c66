/**
 * Names policies by their content and lays their files in shared memory, so that a policy is one
 * copy however many threads hold it.
 */

import { createHash } from 'node:crypto';
import type { InspectionConfig, PolicySource } from '../contract/policy.ts';
import type { RuntimeConfig } from '../contract/runtime.ts';
import type { RoutesConfig } from '../contract/site.ts';

/** Routes with their inspection, from a decoded bundle. Files are shared through `keep`. */
export function routesOf(config: RuntimeConfig, keep: SharedFiles): RoutesConfig {
  const keyOf = new Map(config.policies.map((policy) => [policy.id, policyKey(policy)]));
  const policies = new Map(
    config.policies.map((policy) => {
      const key = keyOf.get(policy.id)!;
      return [key, { key, source: keep.share(policy) }];
    }),
  );
  const keyOfSite = new Map<string, string>();
  const shadowKeyOfSite = new Map<string, string>();
  for (const { id, waf } of config.sites) {
    const key = waf.enabled ? keyOf.get(waf.policyId ?? '') : undefined;
    if (key !== undefined) keyOfSite.set(id, key);
    const beside = key === undefined ? undefined : keyOf.get(waf.shadow?.policyId ?? '');
    if (beside !== undefined) shadowKeyOfSite.set(id, beside);
  }
  const inspection: InspectionConfig = {
    policies: [...policies.values()],
    keyOfSite,
    ...(shadowKeyOfSite.size > 0 && { shadowKeyOfSite }),
    lazy: false,
    shared: new Map(),
  };
  const { revision, sites, logging } = config;
  return { revision, sites, inspection, ...(logging === undefined ? {} : { logging }) };
}

/** Hash of all that decides how a policy acts. */
export function policyKey({ seclangEntry, files }: PolicySource): string {
  const hash = createHash('sha256').update(`${seclangEntry.length}\n${seclangEntry}`);
  for (const path of [...files.keys()].sort()) {
    hash.update(`\n${path}\n${digestOf(files.get(path)!)}\n`);
  }
  return hash.digest('hex');
}

/** Digests of files by their bytes: policies share them, and a new bundle keeps most of them. */
const digests = new WeakMap<Uint8Array, string>();

function digestOf(bytes: Uint8Array): string {
  const known = digests.get(bytes);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(bytes).digest('hex');
  digests.set(bytes, digest);
  return digest;
}

/** File contents in shared memory, one copy per distinct content in use. */
export class SharedFiles {
  private readonly byHash = new Map<string, WeakRef<Uint8Array>>();

  /** The same policy with its files in shared memory. */
  share(policy: PolicySource): PolicySource {
    const files = new Map([...policy.files].map(([path, bytes]) => [path, this.one(bytes)]));
    return { ...policy, files };
  }

  private one(bytes: Uint8Array): Uint8Array {
    const hash = digestOf(bytes);
    const known = this.byHash.get(hash)?.deref();
    if (known) return known;
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    this.byHash.set(hash, new WeakRef(shared));
    return shared;
  }
}
