/**
 * Turns what is there into manifest documents that apply reads back. Pure. Secrets and what
 * certificates and rulesets hold are never part of a manifest.
 */

import { stringify } from 'yaml';
import type { AlertChannelJson, AlertRuleJson } from '../../../proto/gen/waf/v1/alert_pb.ts';
import type { AgentGroupJson } from '../../../proto/gen/waf/v1/agent_group_pb.ts';
import type { ACMEDNSProviderJson } from '../../../proto/gen/waf/v1/cert_pb.ts';
import type { CustomRuleJson } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import type { CountryAccessRuleJson } from '../../../proto/gen/waf/v1/country_access_pb.ts';
import type { PolicyCrsExclusionPluginJson } from '../../../proto/gen/waf/v1/crs_pb.ts';
import type { RateLimitEndpointRecordJson } from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import type { TrustProfileJson } from '../../../proto/gen/waf/v1/trust_pb.ts';
import type {
  IpListBindingRecordJson,
  IpListEntryJson,
  IpListJson,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import type { PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { RoleJson } from '../../../proto/gen/waf/v1/role_pb.ts';
import type { RuleOverrideJson } from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import type {
  SiteJson,
  SitePolicyOverrideJson,
  SiteRoutingJson,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import type { UpstreamJson } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import {
  dnsSpec,
  groupSpec,
  roleSpec,
  settingsSpec,
  userSpec,
  type UserSpec,
} from './manifest-accounts.ts';
import { alertChannelSpec, alertRuleSpec } from './manifest-alerts.ts';
import { manifestApiVersion, type ManifestKind } from './manifest-documents.ts';
import type { Spec } from './manifest-fields.ts';
import {
  bindingSpec,
  countrySpec,
  pluginUseSpec,
  rateLimitSpec,
  trustSpec,
} from './manifest-access.ts';
import { References } from './manifest-references.ts';
import { customRuleSpecOf, overrideSpecOf } from './manifest-rules.ts';
import { siteSpec } from './manifest-site.ts';
import { sourceSpec } from './manifest-source.ts';
import { filled, ipListSpec, policySpec, upstreamSpec } from './manifest-specs.ts';

/** What there is, as the API shows it. */
export interface ExportedState {
  /** Built-in ones too, by which others are named. */
  readonly roles: readonly RoleJson[];
  readonly users: readonly (UserSpec & { readonly id: string; readonly name: string })[];
  /** Those that are stored. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly dnsProviders: readonly ACMEDNSProviderJson[];
  readonly agentGroups: readonly AgentGroupJson[];
  readonly upstreams: readonly UpstreamJson[];
  readonly ipLists: readonly {
    readonly list: IpListJson;
    readonly entries: readonly IpListEntryJson[];
  }[];
  readonly policies: readonly {
    readonly policy: PolicyJson;
    readonly overrides: readonly RuleOverrideJson[];
    readonly rules: readonly CustomRuleJson[];
    readonly plugins: readonly PolicyCrsExclusionPluginJson[];
    readonly bindings: readonly IpListBindingRecordJson[];
    readonly limits: readonly RateLimitEndpointRecordJson[];
  }[];
  readonly sites: readonly {
    readonly site: SiteJson;
    readonly routing: SiteRoutingJson | undefined;
    readonly policyOverride: SitePolicyOverrideJson | undefined;
    readonly bindings: readonly IpListBindingRecordJson[];
    readonly limits: readonly RateLimitEndpointRecordJson[];
    readonly trust: TrustProfileJson | undefined;
  }[];
  readonly countryRules: readonly CountryAccessRuleJson[];
  readonly alertChannels: readonly AlertChannelJson[];
  readonly alertRules: readonly AlertRuleJson[];
  /** What decides for the whole deployment. */
  readonly deployment: {
    readonly bindings: readonly IpListBindingRecordJson[];
    readonly trust: TrustProfileJson;
  };
  readonly certificates: readonly { readonly id: string; readonly name: string }[];
  readonly rulesets: readonly { readonly id: string; readonly version: string }[];
}

/** A document as it is written. */
export interface ExportedDocument {
  readonly apiVersion: string;
  readonly kind: ManifestKind;
  readonly metadata: { readonly name: string; readonly id?: string };
  readonly spec: Spec;
}

/** The documents, in the order in which they depend on each other. */
export function exportDocuments(state: ExportedState): ExportedDocument[] {
  const references = referencesOf(state);
  const of = (
    kind: ManifestKind,
    { id = '', name = '' }: { readonly id?: string; readonly name?: string },
    spec: Spec,
  ): ExportedDocument => ({
    apiVersion: manifestApiVersion,
    kind,
    metadata: { name, id },
    spec,
  });
  const own = state.roles.filter(({ builtin }) => builtin !== true);
  return [
    ...own.map((role) => of('Role', role, roleSpec(role))),
    ...state.users.map((user) => of('User', user, userSpec(user, references))),
    ...state.dnsProviders.map((one) => of('DnsProvider', one, dnsSpec(one))),
    ...state.agentGroups.map((one) => of('AgentGroup', one, groupSpec(one))),
    ...state.upstreams.map((pool) => of('Upstream', pool, upstreamSpec(pool))),
    ...state.ipLists.map(({ list, entries }) => of('IpList', list, listSpec(list, entries))),
    ...state.policies.map((one) => of('Policy', one.policy, wholePolicySpec(one, references))),
    ...state.sites.map((one) => of('Site', one.site, wholeSiteSpec(one, references))),
    ...settingsDocuments(state, references),
    ...state.countryRules.map((one) => of('CountryRule', one, countrySpec(one, references))),
    ...state.alertChannels.map((one) => of('AlertChannel', one, alertChannelSpec(one))),
    ...state.alertRules.map((one) => of('AlertRule', one, alertRuleSpec(one, references))),
    ...deploymentDocuments(state, references),
  ];
}

function listSpec(list: IpListJson, entries: readonly IpListEntryJson[]): Spec {
  const { description = '', source } = list;
  if (source === undefined) return ipListSpec({ description, entries });
  return filled({ description, source: sourceSpec(source) });
}

function wholePolicySpec(
  { policy, overrides, rules, plugins, bindings, limits }: ExportedState['policies'][number],
  references: References,
): Spec {
  return filled({
    ...policySpec(policy, references),
    ruleOverrides: sorted(overrides, ({ crsRuleId = '', siteId = '', scope = '' }) => [
      crsRuleId.padStart(9, '0'),
      siteId === '' ? '' : references.nameOf('site', siteId),
      scope,
    ]).map((one) => overrideSpecOf(one, references)),
    customRules: sorted(rules, ({ sortOrder = 0, ruleId = '' }) => [
      String(sortOrder).padStart(10, '0'),
      String(ruleId).padStart(20, '0'),
    ]).map((one) => customRuleSpecOf(one, references)),
    exclusionPlugins: plugins.map(pluginUseSpec),
    ipListBindings: bindings.map((one) => bindingSpec(one, references, false)),
    rateLimits: limits.map((one) => rateLimitSpec(one, references, false)),
  });
}

function wholeSiteSpec(
  { trust, bindings, limits, ...site }: ExportedState['sites'][number],
  references: References,
): Spec {
  return {
    ...siteSpec(site, references),
    ...filled({
      ipListBindings: bindings.map((one) => bindingSpec(one, references, true)),
      rateLimits: limits.map((one) => rateLimitSpec(one, references, true)),
    }),
    // An empty profile of a site says something: it trusts nobody.
    ...(trust === undefined ? {} : { trustProfile: trustSpec(trust, references) }),
  };
}

function settingsDocuments(
  { settings }: ExportedState,
  references: References,
): ExportedDocument[] {
  if (Object.keys(settings).length === 0) return [];
  const spec = settingsSpec(settings, references);
  return [
    { apiVersion: manifestApiVersion, kind: 'Settings', metadata: { name: 'default' }, spec },
  ];
}

/** None where nothing decides for the whole deployment. */
function deploymentDocuments(
  { deployment }: ExportedState,
  references: References,
): ExportedDocument[] {
  const { bindings, trust } = deployment;
  const spec = filled({
    ipListBindings: bindings.map((one) => bindingSpec(one, references, false)),
    trustProfile: trustSpec(trust, references),
  });
  if (Object.keys(spec).length === 0) return [];
  const metadata = { name: 'default' };
  return [{ apiVersion: manifestApiVersion, kind: 'Deployment', metadata, spec }];
}

/** In an order that does not depend on ids, which the service makes anew. */
function sorted<T>(items: readonly T[], keyOf: (item: T) => readonly string[]): T[] {
  const key = (item: T): string => keyOf(item).join('\n');
  return [...items].sort((left, right) => (key(left) < key(right) ? -1 : 1));
}

/** The documents as one YAML text. */
export function toManifestText(documents: readonly ExportedDocument[]): string {
  return documents
    .map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
}

function referencesOf(state: ExportedState): References {
  const references = new References();
  for (const { id = '', name = '' } of state.roles) references.add('role', id, name);
  for (const { id = '', name = '' } of state.upstreams) references.add('upstream', id, name);
  for (const { list } of state.ipLists) references.add('ip list', list.id ?? '', list.name ?? '');
  for (const { policy } of state.policies) {
    references.add('policy', policy.id ?? '', policy.name ?? '');
  }
  for (const { site } of state.sites) references.add('site', site.id ?? '', site.name ?? '');
  for (const { id = '', name = '' } of state.alertChannels) {
    references.add('alert channel', id, name);
  }
  for (const { id, name } of state.certificates) references.add('certificate', id, name);
  for (const { id, version } of state.rulesets) {
    references.add('ruleset', id, ...(version === '' ? [] : [`crs-${version}`]));
  }
  return references;
}
