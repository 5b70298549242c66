/**
 * The step from desired state to a runtime bundle: which sites serve, their origins, the text of
 * their policies, the rule files that these need. Never reads or writes the store.
 */

import { create } from '@bufbuild/protobuf';
import {
  RuntimeBundleSchema,
  RuntimePolicySchema,
  RuntimeRulesetSchema,
  RuntimeSiteSchema,
  RuntimeUpstreamSchema,
  type RuntimeBundle,
  type RuntimePolicy,
  type RuntimeRuleset,
  type RuntimeSite,
  type RuntimeUpstream,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { shadowSuffix, type ShadowRunRecord } from '../domain/policy/shadow-runs.ts';
import type { PolicyJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import type { UpstreamEndpointJson } from '../../proto/gen/waf/v1/common_pb.ts';
import type { SiteRouteJson, SiteRoutingJson } from '../../proto/gen/waf/v1/site_pb.ts';
import type {
  UpstreamHealthCheckJson,
  UpstreamResiliencePolicyJson,
  UpstreamTlsJson,
} from '../../proto/gen/waf/v1/upstream_pb.ts';
import type { RulesetIncludes, SiteRecord, UpstreamRecord } from '../domain/records.ts';
import { renderPolicy, type AddedSecLang } from '../domain/policy/policy-seclang.ts';
import type { TravelingTls } from '../domain/site/site-certificate.ts';
import { hostsOf, parseEndpointUrl } from '../domain/site/site.ts';
import { probeOf, resilienceOf } from '../domain/site/upstream-behavior.ts';
import { byName } from './parts/by-name.ts';
import { toRuntimeBot } from './parts/site-bot.ts';
import { toRuntimeDelivery } from './parts/site-delivery.ts';
import type { RulesetFile } from './rulesets/ruleset-folder.ts';

/** Version of the bundle's meaning; the engine knows the same number. */
export const bundleFormatVersion = 1;

/** A ruleset with its files. */
export interface BundleRuleset {
  /** Fingerprint of the files. */
  readonly id: string;
  readonly version: string;
  readonly includes: RulesetIncludes;
  readonly files: readonly RulesetFile[];
}

/** A policy with what belongs to it. */
export interface BundlePolicy {
  readonly id: string;
  readonly revision: string;
  readonly policy: PolicyJson;
  readonly ruleset: BundleRuleset | null;
  readonly added?: AddedSecLang;
  readonly files?: readonly RulesetFile[];
}

/** A pool of endpoints. */
export interface BundleUpstream {
  readonly id: string;
  readonly endpoints: readonly UpstreamEndpointJson[];
  readonly requestHeaders?: Readonly<Record<string, string>>;
  readonly healthCheck?: UpstreamHealthCheckJson;
  readonly resilience?: UpstreamResiliencePolicyJson;
  readonly tls?: UpstreamTlsJson;
}

/** A site with what was resolved for it. */
export interface BundleSite {
  readonly site: Pick<SiteRecord, 'id' | 'name' | 'primaryHost' | 'aliases' | 'upstreams' | 'waf'> &
    Partial<Pick<SiteRecord, 'botProtection' | 'delivery' | 'tenantId'>>;
  /** Policy that protects it; '' when the WAF is off. */
  readonly policyId: string;
  /** The policy that `policyId` is a variant of; '' where it is the policy itself. */
  readonly sharedPolicyId?: string;
  readonly failOpen: boolean;
  /** Paths with pools of their own. */
  readonly routing?: SiteRoutingJson;
  /** What inspects beside the policy; absent for nothing. */
  readonly shadow?: ShadowRunRecord | undefined;
  /** TLS towards clients; absent for plain HTTP only. */
  readonly tls?: TravelingTls;
}

/** Everything that a bundle is made of. */
export interface BundleInput {
  readonly id: string;
  readonly revision: string;
  readonly createdAtMs: number;
  readonly sites: readonly BundleSite[];
  readonly policies: readonly BundlePolicy[];
  readonly upstreams: readonly BundleUpstream[];
  /** Block pages as JSON; '' for the built-in ones. */
  readonly responsesJson: string;
}

/** Builds the bundle: only what its sites use goes in. */
export function buildBundle(input: BundleInput): RuntimeBundle {
  const used = new Set(input.sites.map(({ policyId }) => policyId));
  const policies = input.policies.filter(({ id }) => used.has(id));
  const rulesets = new Map<string, RuntimeRuleset>();
  for (const { ruleset } of policies) {
    if (ruleset !== null) rulesets.set(ruleset.id, toRuntimeRuleset(ruleset));
  }
  const upstreams = new Map<string, RuntimeUpstream>();
  const pools = new Map(input.upstreams.map((pool) => [pool.id, pool]));
  const sites = input.sites.map((one) => {
    const built = toRuntimeSite(one, pools);
    for (const upstream of built.upstreams) upstreams.set(upstream.id, upstream);
    return built.site;
  });
  return create(RuntimeBundleSchema, {
    formatVersion: bundleFormatVersion,
    id: input.id,
    revision: BigInt(input.revision),
    createdAtMs: BigInt(input.createdAtMs),
    sites,
    upstreams: [...upstreams.values()],
    policies: policies.map(toRuntimePolicy),
    rulesets: [...rulesets.values()],
    responsesJson: input.responsesJson,
  });
}

/** A site as it travels, with the pools that it names. */
export function toRuntimeSite(
  one: BundleSite,
  pools: ReadonlyMap<string, BundleUpstream>,
): { site: RuntimeSite; upstreams: RuntimeUpstream[] } {
  const { site, policyId, routing } = one;
  const upstreams: RuntimeUpstream[] = [];
  const use = (upstream: RuntimeUpstream): string => {
    if (upstream.endpoints.length === 0) return '';
    upstreams.push(upstream);
    return upstream.id;
  };
  const bot = toRuntimeBot(site);
  const made = create(RuntimeSiteSchema, {
    id: site.id,
    name: site.name,
    hosts: hostsOf(site),
    upstreamId: use(upstreamOf(one, pools)),
    routes: (routing?.routes ?? []).map((route) => ({
      id: route.id ?? '',
      pathPrefix: route.pathPrefix ?? '',
      upstreamId: use(poolUpstream(pools.get(route.upstreamId ?? ''))),
      stripPrefix: route.rewriteMode === 'PATH_REWRITE_MODE_STRIP_PREFIX',
      ...canaryOf(route, (id) => use(poolUpstream(pools.get(id)))),
    })),
    unmatchedNotFound: routing?.unmatchedAction === 'UNMATCHED_PATH_ACTION_RETURN_404',
    wafEnabled: policyId !== '',
    detectionOnly: site.waf?.mode === 'WAF_MODE_DETECTION',
    policyId,
    sharedPolicyId: one.sharedPolicyId ?? '',
    tenantId: site.tenantId ?? '',
    failOpen: one.failOpen,
    deliveryJson: toRuntimeDelivery(site.delivery),
    ...(one.tls === undefined ? {} : { tls: one.tls }),
    ...(bot === undefined ? {} : { bot }),
    ...(one.shadow === undefined ? {} : { shadow: shadowOf(one.shadow, policyId) }),
  });
  return { site: made, upstreams };
}

function canaryOf({ canary }: SiteRouteJson, use: (poolId: string) => string) {
  if (canary === undefined) return {};
  const { upstreamId = '', ...rest } = canary;
  const used = use(upstreamId);
  return used === '' ? {} : { canary: { ...rest, upstreamId: used } };
}

function shadowOf({ runId, endsAt, sharePercent = 100 }: ShadowRunRecord, policyId: string) {
  const untilMs = BigInt(Date.parse(endsAt));
  return { runId, policyId: policyId + shadowSuffix, untilMs, sharePercent };
}

/** A policy as it travels. */
export function toRuntimePolicy(one: BundlePolicy): RuntimePolicy {
  const { seclang } = renderPolicy(one.policy, one.ruleset, one.added);
  return create(RuntimePolicySchema, {
    id: one.id,
    name: one.policy.name ?? one.id,
    revision: BigInt(one.revision),
    rulesetId: one.ruleset?.id ?? '',
    seclang,
    files: (one.files ?? []).map(({ path, content }) => ({ path, content })),
  });
}

/** A ruleset as it travels. */
export function toRuntimeRuleset({ id, version, files }: BundleRuleset): RuntimeRuleset {
  return create(RuntimeRulesetSchema, {
    id,
    version,
    files: files.map(({ path, content }) => ({ path, content })),
  });
}

/** A pool as bundles take it. */
export function toBundleUpstream(pool: UpstreamRecord): BundleUpstream {
  const { id, endpoints, requestHeaders, healthCheck, resilience, tls } = pool;
  return {
    id,
    endpoints: endpoints ?? [],
    requestHeaders: requestHeaders ?? {},
    ...(healthCheck === undefined ? {} : { healthCheck }),
    ...(resilience === undefined ? {} : { resilience }),
    ...(tls === undefined ? {} : { tls }),
  };
}

/** The pool of a site, or its inline endpoints as a pool of its own. */
export function upstreamOf(
  { site }: { readonly site: Pick<SiteRecord, 'id' | 'upstreams'> },
  pools: Pick<ReadonlyMap<string, BundleUpstream>, 'get'>,
): RuntimeUpstream {
  const upstreams = site.upstreams ?? [];
  const pool = pools.get(upstreams[0]?.upstreamId ?? '');
  if (pool !== undefined) return poolUpstream(pool);
  return poolUpstream({
    id: `site-${site.id}`,
    endpoints: upstreams.flatMap(({ inline }) => (inline ? [inline] : [])),
    requestHeaders: Object.assign({}, ...upstreams.map((one) => one.requestHeaders ?? {})),
    // All of them have the same.
    tls: upstreams[0]?.tls ?? {},
  });
}

/** A pool as it travels; without a pool one that has no endpoints. */
export function poolUpstream(pool: BundleUpstream | undefined): RuntimeUpstream {
  const endpoints = (pool?.endpoints ?? []).map((endpoint, at) => ({
    ...parseEndpointUrl(endpoint.url ?? '', `endpoints[${at}].url`),
    weight: endpoint.weight || 1,
  }));
  const probe = probeOf(pool?.healthCheck, pool?.endpoints ?? []);
  const resilience = pool?.resilience === undefined ? null : resilienceOf(pool.resilience);
  return byName(RuntimeUpstreamSchema, {
    ...pool?.tls,
    id: pool?.id ?? '',
    tls: endpoints[0]?.tls ?? false,
    endpoints,
    requestHeaders: Object.entries(pool?.requestHeaders ?? {}).map(([name, value]) => ({
      name,
      value,
    })),
    ...(probe === null ? {} : { healthCheck: probe }),
    ...(resilience === null ? {} : { resilience }),
  });
}
