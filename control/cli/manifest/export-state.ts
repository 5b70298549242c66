/** Reads all that a manifest can hold, over the API. */

import { toJson } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { AlertChannelSchema, AlertRuleSchema } from '../../../proto/gen/waf/v1/alert_pb.ts';
import { AgentGroupSchema } from '../../../proto/gen/waf/v1/agent_group_pb.ts';
import { ACMEDNSProviderSchema } from '../../../proto/gen/waf/v1/cert_pb.ts';
import { CountryAccessRuleSchema } from '../../../proto/gen/waf/v1/country_access_pb.ts';
import { PolicyCrsExclusionPluginSchema } from '../../../proto/gen/waf/v1/crs_pb.ts';
import { CustomRuleSchema } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import {
  IpListBindingRecordSchema,
  IpListEntrySchema,
  IpListSchema,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { PolicySchema, type PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { RateLimitEndpointRecordSchema } from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { RoleSchema } from '../../../proto/gen/waf/v1/role_pb.ts';
import { RuleOverrideSchema } from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import {
  SitePolicyOverrideSchema,
  SiteRoutingSchema,
  SiteSchema,
  type Site,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { TrustProfileSchema } from '../../../proto/gen/waf/v1/trust_pb.ts';
import { UpstreamSchema } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import type { ExportedState } from '../../publish/manifests/manifest-export.ts';
import { allPages } from '../all-pages.ts';
import type { ApiClient } from '../api-client.ts';

type Accounts = Pick<
  ExportedState,
  'roles' | 'users' | 'settings' | 'dnsProviders' | 'agentGroups' | 'alertChannels' | 'alertRules'
>;

/** Everything that the caller may read, as the API shows it, and what was left out. */
export async function readExportedState(
  api: ApiClient,
): Promise<{ readonly state: ExportedState; readonly leftOut: readonly string[] }> {
  const leftOut: string[] = [];
  const state = { ...(await readResources(api)), ...(await readAccounts(api, leftOut)) };
  return { state, leftOut };
}

/** Who may not read one of these exports the rest. */
async function readAccounts(api: ApiClient, leftOut: string[]): Promise<Accounts> {
  const allowed = async <T>(what: string, read: () => Promise<T>, none: T): Promise<T> => {
    try {
      return await read();
    } catch (error) {
      const denied = error instanceof ConnectError && error.code === Code.PermissionDenied;
      if (!denied) throw error;
      leftOut.push(`${what}: ${error.rawMessage}`);
      return none;
    }
  };
  const roles = await allowed('roles', () => allPages((page) => api.roles.listRoles({ page })), []);
  const users = await allowed('users', () => allPages((page) => api.users.listUsers({ page })), []);
  const dns = await allowed('DNS providers', () => readDnsProviders(api), []);
  const groups = await allowed(
    'groups of nodes',
    () => allPages((page) => api.agentGroups.listAgentGroups({ page })),
    [],
  );
  const channels = await allowed(
    'alert channels',
    () => allPages((page) => api.alerts.listAlertChannels({ page })),
    [],
  );
  const rules = await allowed(
    'alert rules',
    () => allPages((page) => api.alerts.listAlertRules({ page })),
    [],
  );
  return {
    alertChannels: channels.map((one) => toJson(AlertChannelSchema, one)),
    alertRules: rules.map((one) => toJson(AlertRuleSchema, one)),
    roles: roles.map((one) => toJson(RoleSchema, one)),
    users: users.map((user) => ({
      id: user.id,
      name: user.username,
      email: user.email,
      displayName: user.displayName,
      roleIds: user.roles.map(({ id }) => id),
      externalProviders: user.externalProviders,
      locked: user.locked,
    })),
    settings: await allowed('settings', () => readSettings(api), {}),
    dnsProviders: dns,
    agentGroups: groups.map((one) => toJson(AgentGroupSchema, one)),
  };
}

async function readDnsProviders(api: ApiClient): Promise<Accounts['dnsProviders']> {
  const { items } = await api.certs.listDNSProviders({});
  return items.map((one) => toJson(ACMEDNSProviderSchema, one));
}

/** Settings that are stored; the others are what they are without. */
async function readSettings(api: ApiClient): Promise<Readonly<Record<string, unknown>>> {
  const { values = {}, sources = {} } = (await api.system.getSystemSettings({})).settings ?? {};
  return Object.fromEntries(Object.entries(values).filter(([key]) => sources[key] === 'stored'));
}

async function readResources(api: ApiClient): Promise<Omit<ExportedState, keyof Accounts>> {
  const pools = await allPages((page) => api.upstreams.listUpstreams({ page }));
  const sites = await allPages((page) => api.sites.listSites({ page }));
  const policies = await allPages((page) => api.policies.listPolicies({ page }));
  const certificates = await allPages((page) => api.certs.listCerts({ page }));
  const rulesets = await allPages((page) => api.system.listSystemCrsRulesets({ page }));
  const countries = await api.countries.listCountryAccessRules({});
  const bindings = await api.ipLists.listGlobalIpListBindings({});
  const { global, siteOverrides } = await api.trust.getTrustStatus({});
  const trust = new Map(siteOverrides.map((one) => [one.siteId, one.profile]));
  const own = policies.filter(({ isTemplate }) => !isTemplate);
  return {
    upstreams: pools.map((one) => toJson(UpstreamSchema, one)),
    ipLists: await readLists(api),
    policies: await inTurn(own, (policy) => readPolicy(api, toJson(PolicySchema, policy))),
    sites: await inTurn(sites, (site) => readSite(api, site, trust)),
    countryRules: countries.items.map((one) => toJson(CountryAccessRuleSchema, one)),
    deployment: {
      bindings: bindings.items.map((one) => toJson(IpListBindingRecordSchema, one)),
      trust: global === undefined ? {} : toJson(TrustProfileSchema, global),
    },
    certificates,
    rulesets,
  };
}

async function readPolicy(
  api: ApiClient,
  policy: PolicyJson,
): Promise<ExportedState['policies'][number]> {
  const policyId = policy.id ?? '';
  const overrides = await allPages((page) =>
    api.ruleOverrides.listRuleOverrides({ policyId, page }),
  );
  const rules = await allPages((page) => api.customRules.listCustomRules({ policyId, page }));
  const plugins = await api.crs.listPolicyExclusionPlugins({ policyId });
  const bindings = await api.ipLists.listIpListBindings({ policyId });
  const limits = await api.rateLimits.listRateLimitEndpoints({ policyId });
  const ofPolicy = ({ siteId }: { readonly siteId: string }): boolean => siteId === '';
  return {
    policy,
    overrides: overrides.map((one) => toJson(RuleOverrideSchema, one)),
    rules: rules.map((one) => toJson(CustomRuleSchema, one)),
    plugins: plugins.items.map((one) => toJson(PolicyCrsExclusionPluginSchema, one)),
    bindings: bindings.items.filter(ofPolicy).map((one) => toJson(IpListBindingRecordSchema, one)),
    limits: limits.items.filter(ofPolicy).map((one) => toJson(RateLimitEndpointRecordSchema, one)),
  };
}

async function readSite(
  api: ApiClient,
  site: Site,
  trust: ReadonlyMap<string, Parameters<typeof toJson<typeof TrustProfileSchema>>[1] | undefined>,
): Promise<ExportedState['sites'][number]> {
  const siteId = site.id;
  const { routing } = await api.sites.getSiteRouting({ siteId });
  const override = await found(api.sites.getSitePolicyOverride({ siteId }));
  const bindings = await api.ipLists.listIpListBindings({ siteId });
  const limits = await api.rateLimits.listRateLimitEndpoints({ siteId });
  const profile = trust.get(siteId);
  return {
    site: toJson(SiteSchema, site),
    routing: routing === undefined ? undefined : toJson(SiteRoutingSchema, routing),
    policyOverride:
      override?.override === undefined
        ? undefined
        : toJson(SitePolicyOverrideSchema, override.override),
    bindings: bindings.items.map((one) => toJson(IpListBindingRecordSchema, one)),
    limits: limits.items.map((one) => toJson(RateLimitEndpointRecordSchema, one)),
    trust: profile === undefined ? undefined : toJson(TrustProfileSchema, profile),
  };
}

/** Entries of lists that a source fills are fetched again, and not part of a manifest. */
async function readLists(api: ApiClient): Promise<ExportedState['ipLists']> {
  const lists = await allPages((page) => api.ipLists.listIpLists({ page }));
  const now = new Date().toISOString();
  return inTurn(lists, async (list) => {
    const fed = list.managementMode === 'subscription';
    const entries = fed
      ? []
      : await allPages((page) => api.ipLists.listIpListEntries({ ipListId: list.id, page }));
    return {
      list: toJson(IpListSchema, list),
      entries: entries
        .map((one) => toJson(IpListEntrySchema, one))
        .filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now),
    };
  });
}

async function inTurn<T, R>(items: readonly T[], read: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const item of items) done.push(await read(item));
  return done;
}

/** The answer; undefined when there is no such resource. */
async function found<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}
