/**
 * Owns the step from desired state to a runtime bundle: which sites serve, their origins, the text
 * of their policies, the rule files that these need. Never reads or writes the store.
 */

import { create } from '@bufbuild/protobuf';
import {
  RuntimeBundleSchema,
  RuntimePolicySchema,
  RuntimeRulesetSchema,
  RuntimeUpstreamSchema,
  type RuntimeBundle,
  type RuntimePolicy,
  type RuntimeRuleset,
  type RuntimeUpstream,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { PolicyJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import type { UpstreamEndpointJson } from '../../proto/gen/waf/v1/common_pb.ts';
import type { RulesetIncludes, SiteRecord } from '../domain/records.ts';
import { renderPolicy, type AddedSecLang } from '../domain/policy-seclang.ts';
import { hostsOf, parseEndpointUrl } from '../domain/site.ts';
import type { RulesetFile } from './ruleset-folder.ts';

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
}

/** A site with what was resolved for it. */
export interface BundleSite {
  readonly site: Pick<SiteRecord, 'id' | 'name' | 'primaryHost' | 'aliases' | 'upstreams' | 'waf'>;
  /** Policy that protects it; '' when the WAF is off. */
  readonly policyId: string;
  readonly failOpen: boolean;
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
  const sites = input.sites.map((one) => {
    const upstream = upstreamOf(one, input.upstreams);
    upstreams.set(upstream.id, upstream);
    const { site, policyId } = one;
    return {
      id: site.id,
      name: site.name,
      hosts: hostsOf(site),
      upstreamId: upstream.id,
      wafEnabled: policyId !== '',
      detectionOnly: site.waf?.mode === 'WAF_MODE_DETECTION',
      policyId,
      failOpen: one.failOpen,
    };
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

function upstreamOf({ site }: BundleSite, pools: readonly BundleUpstream[]): RuntimeUpstream {
  const upstreams = site.upstreams ?? [];
  const poolId = upstreams[0]?.upstreamId ?? '';
  const pool = pools.find(({ id }) => id === poolId);
  const endpoints = pool?.endpoints ?? upstreams.flatMap(({ inline }) => (inline ? [inline] : []));
  const parsed = endpoints.map((endpoint, at) => ({
    ...parseEndpointUrl(endpoint.url ?? '', `site.upstreams[${at}].inline.url`),
    weight: endpoint.weight || 1,
  }));
  return create(RuntimeUpstreamSchema, {
    id: pool?.id ?? `site-${site.id}`,
    tls: parsed[0]?.tls ?? false,
    endpoints: parsed.map(({ host, port, weight }) => ({ host, port, weight })),
  });
}
