/**
 * The shape in which resources are kept and decided on: the JSON form of their messages, with what
 * the service itself gives made certain. Never holds a decision.
 */

import type { CrsRulesetJson } from '../../proto/gen/waf/v1/crs_pb.ts';
import type { CustomRuleJson } from '../../proto/gen/waf/v1/custom_rule_pb.ts';
import type { PolicyJson, PolicyVersionJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import type { RoleJson } from '../../proto/gen/waf/v1/role_pb.ts';
import type { RuleOverrideJson } from '../../proto/gen/waf/v1/rule_override_pb.ts';
import type { SiteJson, SitePolicyOverrideJson } from '../../proto/gen/waf/v1/site_pb.ts';
import type { UpstreamJson } from '../../proto/gen/waf/v1/upstream_pb.ts';

/** The one tenant of an installation until there are more. */
export const defaultTenantId = 'default';

/** What every stored resource has. */
export interface ResourceBase {
  readonly id: string;
  readonly tenantId: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A site as it is kept. */
export type SiteRecord = SiteJson &
  ResourceBase & { readonly name: string; readonly primaryHost: string; readonly revision: string };

/** A policy as it is kept. */
export type PolicyRecord = PolicyJson &
  ResourceBase & {
    readonly name: string;
    readonly revision: string;
    readonly crsRulesetId: string;
    readonly status: string;
  };

/** A saved state of a policy. */
export type PolicyVersionRecord = PolicyVersionJson & {
  readonly id: string;
  readonly policyId: string;
  readonly revision: string;
  readonly createdAt: string;
};

/** An upstream pool as it is kept. */
export type UpstreamRecord = UpstreamJson & ResourceBase & { readonly name: string };

/** A role as it is kept. */
export type RoleRecord = RoleJson &
  ResourceBase & { readonly name: string; readonly permissions: string[] };

/** An override of a CRS rule as it is kept. */
export type RuleOverrideRecord = RuleOverrideJson & {
  readonly id: string;
  readonly policyId: string;
  readonly siteId: string;
};

/** A rule of an operator as it is kept. */
export type CustomRuleRecord = CustomRuleJson & {
  readonly id: string;
  readonly policyId: string;
  readonly siteId: string;
  readonly ruleId: string;
};

/** What one site changes in its policy; the id is the site's. */
export type SiteOverrideRecord = SitePolicyOverrideJson & {
  readonly id: string;
  readonly siteId: string;
};

/** A user without the credentials, which lie in a record of their own. */
export interface UserRecord extends ResourceBase {
  readonly username: string;
  readonly email: string;
  readonly displayName: string;
  readonly roleIds: readonly string[];
  readonly locked: boolean;
  readonly lastLoginAt?: string;
  /** Providers that may sign the user in: `radius`, `oidc:<id>`, `saml:<id>`. */
  readonly externalProviders?: readonly string[];
}

/** A ruleset and where its files are kept. */
export type RulesetRecord = CrsRulesetJson & {
  readonly id: string;
  readonly version: string;
  /** Name of the blob that holds the files. */
  readonly blob: string;
  /** Paths that a policy includes, in order. */
  readonly includes: RulesetIncludes;
};

/** Rule files of a ruleset, in the order in which a policy includes them. */
export interface RulesetIncludes {
  /** Setup files that a plugin brings. */
  readonly pluginConfigs: readonly string[];
  readonly pluginsBefore: readonly string[];
  readonly rules: readonly string[];
  readonly pluginsAfter: readonly string[];
  /** Best-fit table for urlDecodeUni; '' when the ruleset has none. */
  readonly unicodeMap: string;
}
