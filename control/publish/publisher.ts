/**
 * Owns the present configuration: builds, signs and hands it out when the desired state changes.
 * Changes that come together become one publication. Never waits for nodes.
 */

import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  RuntimeRulesetSchema,
  type SignedRuntimeBundle,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { Clock } from '../../engine/base/clock.ts';
import { toAppError } from '../../engine/base/errors.ts';
import type { Logger } from '../../engine/base/log.ts';
import type { PolicyRecord, RulesetRecord, SiteRecord, UpstreamRecord } from '../domain/records.ts';
import { responsesJson } from '../domain/settings.ts';
import {
  keys,
  policies,
  publications,
  rulesets,
  settingsId,
  siteRoutings,
  sites,
  systemSettings,
  upstreams,
  type KeyRecord,
} from '../store/collections.ts';
import type { ReadStore, Store, WriteStore } from '../store/store.ts';
import {
  buildBundle,
  toRuntimeRuleset,
  type BundlePolicy,
  type BundleRuleset,
  type BundleSite,
  type BundleUpstream,
} from './build-bundle.ts';
import { policyVariant, variantId } from './policy-variant.ts';
import type { ReadRuleset } from './ruleset-folder.ts';
import { generateKeyPem, readSigningKey, signBundle, type SigningKey } from './signing.ts';

/** A configuration that nodes are to serve. */
export interface Publication {
  readonly revision: string;
  readonly signed: SignedRuntimeBundle;
}

/** Hands out configurations. */
export interface Publisher {
  readonly publicKey: Uint8Array;
  current(): Publication | null;
  /** Calls `listener` with every new publication; returns the undo. */
  subscribe(listener: (publication: Publication) => void): () => void;
  /** Hands the current configuration out again. */
  redeliver(): void;
  /** Publishes now; resolves to what is current then. */
  publish(): Promise<Publication>;
  close(): void;
}

/** Changes within this time become one publication. */
const gatherMs = 15;
const published = new Set([
  'sites',
  'policies',
  'upstreams',
  'site-routings',
  'rulesets',
  'rule-overrides',
  'custom-rules',
  'site-overrides',
  'settings',
]);

/** Starts the publisher and publishes the present state. */
export async function startPublisher(
  store: Store,
  clock: Clock,
  logger: Logger,
): Promise<Publisher> {
  const key = await signingKey(store, clock);
  const listeners = new Set<(publication: Publication) => void>();
  let current: Publication | null = null;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<unknown> = Promise.resolve();

  const publishNow = async (): Promise<Publication> => {
    const next = await makePublication(store, clock, key, current);
    if (next === current) return next;
    current = next;
    logger.info('configuration published', { revision: next.revision });
    for (const listener of listeners) listener(next);
    return next;
  };
  const publish = (): Promise<Publication> => {
    const next = running.then(publishNow);
    running = next.catch(() => undefined);
    return next;
  };
  const undo = store.onChange((changed) => {
    if (timer !== null || ![...changed].some((name) => published.has(name))) return;
    timer = setTimeout(() => {
      timer = null;
      publish().catch((error: unknown) => {
        logger.error('publishing failed', { reason: toAppError(error).message });
      });
    }, gatherMs);
  });
  await publish();
  return {
    publicKey: key.publicKey,
    current: () => current,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    publish,
    redeliver: () => {
      if (current !== null) for (const listener of listeners) listener(current);
    },
    close: () => {
      undo();
      if (timer !== null) clearTimeout(timer);
    },
  };
}

async function makePublication(
  store: Store,
  clock: Clock,
  key: SigningKey,
  current: Publication | null,
): Promise<Publication> {
  const state = gatherState(store);
  const draft = (revision: string, createdAtMs: number): SignedRuntimeBundle =>
    signBundle(buildBundle({ id: `config-${revision}`, revision, createdAtMs, ...state }), key);
  if (current !== null) {
    const same = draft(current.revision, createdAtOf(store, current.revision));
    if (same.sha256 === current.signed.sha256) return current;
  }
  return store.write((tx) => {
    const revision = String(tx.next('config-revision'));
    const createdAtMs = clock.nowMs();
    const signed = draft(revision, createdAtMs);
    const createdAt = new Date(createdAtMs).toISOString();
    tx.put(publications, {
      id: revision.padStart(12, '0'),
      revision,
      sha256: signed.sha256,
      createdAt,
    });
    return { revision, signed };
  });
}

function createdAtOf(store: ReadStore, revision: string): number {
  const found = store.get(publications, revision.padStart(12, '0'));
  return found === undefined ? 0 : Date.parse(found.createdAt);
}

function gatherState(store: ReadStore): {
  sites: BundleSite[];
  policies: BundlePolicy[];
  upstreams: BundleUpstream[];
  responsesJson: string;
} {
  const allPolicies = store.list(policies);
  const pools = store.list(upstreams);
  const fallback = allPolicies.find((policy) => policy.isDefault && !policy.isTemplate);
  const served = store
    .list(sites)
    .filter((site) => site.status === 'RESOURCE_STATUS_ACTIVE' && hasOrigin(store, site));
  const loaded = new Map<string, BundleRuleset>();
  const variants = new Map<string, BundlePolicy>();
  const bundleSites = served.map((site): BundleSite => {
    const routing = store.get(siteRoutings, site.id)?.routing ?? {};
    const enabled = site.waf?.enabled === true;
    const chosen = enabled ? site.waf?.policyId || fallback?.id || '' : '';
    const policy = allPolicies.find(({ id }) => id === chosen);
    if (policy === undefined) return { site, policyId: '', failOpen: false, routing };
    const policyId = variantId(store, policy.id, site.id);
    if (!variants.has(policyId)) {
      const siteId = policyId === policy.id ? '' : site.id;
      variants.set(policyId, bundlePolicy(store, policy, siteId, loaded));
    }
    return { site, policyId, failOpen: false, routing };
  });
  return {
    sites: bundleSites,
    policies: [...variants.values()],
    upstreams: pools.map(toBundleUpstream),
    responsesJson: responsesJson(store.get(systemSettings, settingsId)?.values ?? {}),
  };
}

function hasOrigin(store: ReadStore, site: SiteRecord): boolean {
  if ((site.upstreams ?? []).length > 0) return true;
  return (store.get(siteRoutings, site.id)?.routing.routes ?? []).length > 0;
}

/** A pool as bundles take it. */
export function toBundleUpstream(pool: UpstreamRecord): BundleUpstream {
  const { id, endpoints, requestHeaders, healthCheck, resilience } = pool;
  return {
    id,
    endpoints: endpoints ?? [],
    requestHeaders: requestHeaders ?? {},
    ...(healthCheck === undefined ? {} : { healthCheck }),
    ...(resilience === undefined ? {} : { resilience }),
  };
}

/** A policy as a site gets it ('' for no site), with its ruleset's files, read once in `loaded`. */
export function bundlePolicy(
  store: ReadStore,
  policy: PolicyRecord,
  siteId = '',
  loaded: Map<string, BundleRuleset> = new Map(),
): BundlePolicy {
  return policyVariant(store, policy, siteId, loadRuleset(store, policy.crsRulesetId, loaded));
}

/** A ruleset with its files; null for an unknown one. */
export function loadRuleset(
  store: ReadStore,
  id: string,
  loaded: Map<string, BundleRuleset> = new Map(),
): BundleRuleset | null {
  const known = loaded.get(id);
  if (known !== undefined) return known;
  const record = store.get(rulesets, id);
  const blob = record === undefined ? undefined : store.blob(record.blob);
  if (record === undefined || blob === undefined) return null;
  const { files, version } = fromBinary(RuntimeRulesetSchema, blob);
  const ruleset = { id: record.fingerprint ?? id, version, includes: record.includes, files };
  loaded.set(id, ruleset);
  return ruleset;
}

/** Keeps a ruleset that was read; the same content is kept once. */
export function storeRuleset(
  tx: WriteStore,
  read: ReadRuleset,
  record: Omit<RulesetRecord, 'blob' | 'includes' | 'fingerprint' | 'version'>,
): RulesetRecord {
  const blob = `ruleset-${read.fingerprint}`;
  const { fingerprint, version, includes, files } = read;
  const bytes = toBinary(
    RuntimeRulesetSchema,
    toRuntimeRuleset({ id: fingerprint, version, includes, files }),
  );
  tx.putBlob(blob, bytes);
  const stored: RulesetRecord = {
    ...record,
    id: record.id,
    version,
    fingerprint,
    includes,
    blob,
    ruleCount: read.ruleCount,
    ruleFileCount: includes.rules.length,
    pluginCount: includes.pluginsBefore.length,
  };
  tx.put(rulesets, stored);
  return stored;
}

async function signingKey(store: Store, clock: Clock): Promise<SigningKey> {
  const found = store.find(keys, 'purpose', 'bundle')[0];
  if (found !== undefined) return readSigningKey(found.privateKeyPem);
  const record: KeyRecord = {
    id: `bundle-${clock.nowMs()}`,
    purpose: 'bundle',
    privateKeyPem: generateKeyPem(),
    createdAt: new Date(clock.nowMs()).toISOString(),
  };
  await store.write((tx) => tx.put(keys, record));
  return readSigningKey(record.privateKeyPem);
}
