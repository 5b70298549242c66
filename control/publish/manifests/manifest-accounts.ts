/**
 * The specs of documents on people and machines: roles, users, groups of nodes, accounts at DNS
 * providers, settings. From document to values and back. Passwords, second factors and credentials
 * are never written.
 */

import type { AgentGroupJson } from '../../../proto/gen/waf/v1/agent_group_pb.ts';
import type { ACMEDNSProviderJson } from '../../../proto/gen/waf/v1/cert_pb.ts';
import type { RoleJson } from '../../../proto/gen/waf/v1/role_pb.ts';
import { mapRolesHandedOut } from '../../domain/settings/identity-settings.ts';
import { mapSitesNamed } from '../../domain/site/site-options.ts';
import type { ManifestDocument } from './manifest-documents.ts';
import { invalid, known, list, object, text, type Spec } from './manifest-fields.ts';
import type { References } from './manifest-references.ts';
import { storedSecret } from './manifest-source.ts';
import { filled, readHeaders } from './manifest-specs.ts';

/** The role of a Role document. */
export function readRoleSpec({ name, spec, where }: ManifestDocument): RoleJson {
  known(spec, ['description', 'permissions'], where, 'spec.');
  return {
    name,
    description: text(spec, 'description', where, 'spec.'),
    permissions: texts(spec, 'permissions', where, 'spec.'),
  };
}

/** A role as documents state it. */
export function roleSpec({ description, permissions = [] }: RoleJson): Spec {
  return filled({ description, permissions: [...permissions].sort() });
}

/** What a User document states; the user's name is that of the document. */
export interface UserSpec {
  readonly email: string;
  readonly displayName: string;
  readonly roleIds: readonly string[];
  readonly externalProviders?: readonly string[];
  readonly locked: boolean;
}

/** The user of a User document. Roles are named. */
export function readUserSpec(
  { name: username, spec, where }: ManifestDocument,
  references: References,
): Required<UserSpec> & { readonly username: string } {
  known(spec, ['email', 'displayName', 'roles', 'externalProviders', 'locked'], where, 'spec.');
  const locked = spec['locked'] ?? false;
  if (typeof locked !== 'boolean') throw invalid(where, 'spec.locked: must be true or false');
  const named = texts(spec, 'roles', where, 'spec.');
  return {
    username,
    email: text(spec, 'email', where, 'spec.'),
    displayName: text(spec, 'displayName', where, 'spec.'),
    roleIds: named.map((name, at) => references.idOf('role', name, where, `spec.roles[${at}]`)),
    externalProviders: texts(spec, 'externalProviders', where, 'spec.'),
    locked,
  };
}

/** A user as documents state it. */
export function userSpec(user: UserSpec, references: References): Spec {
  const { email, displayName, roleIds, externalProviders = [], locked } = user;
  return filled({
    email,
    displayName,
    roles: roleIds.map((id) => references.nameOf('role', id)).sort(),
    externalProviders: [...externalProviders].sort(),
    locked: locked ? true : undefined,
  });
}

/** The group of an AgentGroup document. Nodes are named by their ids. */
export function readGroupSpec({ name, spec, where }: ManifestDocument): AgentGroupJson {
  known(spec, ['selector'], where, 'spec.');
  const selector = object(spec['selector'], where, 'spec.selector');
  known(selector, ['matchTags', 'matchAgentIds'], where, 'spec.selector.');
  const read = (field: string): string[] => texts(selector, field, where, 'spec.selector.');
  return { name, selector: { matchTags: read('matchTags'), matchAgentIds: read('matchAgentIds') } };
}

/** A group as documents state it. */
export function groupSpec({ selector }: AgentGroupJson): Spec {
  const { matchTags, matchAgentIds } = selector ?? {};
  return { selector: filled({ matchTags, matchAgentIds }) };
}

/** What a DnsProvider document states. */
export interface DnsSpec {
  readonly account: ACMEDNSProviderJson;
  /** JSON; null keeps what is stored. */
  readonly credentials: Uint8Array | null;
}

/** The account of a DnsProvider document. */
export function readDnsSpec({ name, spec, where }: ManifestDocument): DnsSpec {
  const fields = ['provider', 'zones', 'settings', 'propagationSeconds', 'status', 'credentials'];
  known(spec, fields, where, 'spec.');
  const seconds = spec['propagationSeconds'] ?? 0;
  if (typeof seconds !== 'number' || !Number.isInteger(seconds)) {
    throw invalid(where, 'spec.propagationSeconds: must be a whole number');
  }
  const { credentials = storedSecret } = spec;
  return {
    account: {
      name,
      provider: text(spec, 'provider', where, 'spec.'),
      zones: texts(spec, 'zones', where, 'spec.'),
      settings: readHeaders(spec['settings'] ?? {}, where, 'spec.settings'),
      propagationSeconds: seconds,
      status: text(spec, 'status', where, 'spec.') || 'active',
    },
    credentials:
      credentials === storedSecret
        ? null
        : Buffer.from(JSON.stringify(object(credentials, where, 'spec.credentials'))),
  };
}

/** An account as documents state it. */
export function dnsSpec(account: ACMEDNSProviderJson): Spec {
  const { provider, zones, settings, propagationSeconds, status } = account;
  const stated = { provider, zones, settings, propagationSeconds: propagationSeconds || undefined };
  return filled({ ...stated, status, credentials: storedSecret });
}

/** The values of a Settings document. Sites, and roles that providers hand out, are named. */
export function readSettingsSpec(
  { spec, where }: ManifestDocument,
  references: References,
): Readonly<Record<string, unknown>> {
  const sited = mapSitesNamed(spec, (name) => references.idOf('site', name, where, 'spec'));
  return mapRolesHandedOut(sited, (name) => references.idOf('role', name, where, 'spec'));
}

/** Settings as documents state them. */
export function settingsSpec(
  values: Readonly<Record<string, unknown>>,
  references: References,
): Spec {
  const sited = mapSitesNamed(values, (id) => references.nameOf('site', id));
  return mapRolesHandedOut(sited, (id) => references.nameOf('role', id));
}

function texts(from: Spec, field: string, where: string, prefix: string): string[] {
  return list(from, field, where, prefix).map((one, at) => {
    if (typeof one === 'string') return one;
    throw invalid(where, `${prefix}${field}[${at}]: must be text`);
  });
}
