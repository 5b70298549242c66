/** The list of what is stored: every collection, its identifiers and its indexes. */

import { poolsOf } from '../domain/site/site-routing.ts';
import type { BinaryReleaseRecord } from '../domain/release/releases.ts';
import type {
  CustomRuleRecord,
  PolicyRecord,
  PolicyVersionRecord,
  RoleRecord,
  RuleOverrideRecord,
  RulesetRecord,
  SiteOverrideRecord,
  SiteRecord,
  UpstreamRecord,
  UserRecord,
} from '../domain/records.ts';
import type { ShadowRunRecord } from '../domain/policy/shadow-runs.ts';
import type { Collection } from './collection.ts';

export type { Collection } from './collection.ts';
export { exclusionPlugins, pluginBindings } from './plugin-collections.ts';
export * from './access-collections.ts';
export * from './acme-collections.ts';
export * from './api-collections.ts';
export * from './alert-collections.ts';
export * from './log-collections.ts';
export * from './node-collections.ts';
export * from './publication-collections.ts';
import type {
  AgentGroupRecord,
  AgentRecord,
  CertificateKeyRecord,
  CertificateRecord,
  DnsCredentialsRecord,
  DnsProviderRecord,
  GeoDatabaseRecord,
  SiteRoutingRecord,
} from '../domain/resource-records.ts';

/** Secrets of a user; never leaves the store towards an API. */
export interface CredentialRecord {
  /** The user's id. */
  readonly id: string;
  /** argon2id in PHC form. */
  readonly passwordHash: string;
  /** Whether it is the one of the first start; absent for false. */
  readonly firstPassword?: boolean;
  /** Wrong passwords from the network since the last sign-in. */
  readonly failedAttempts: number;
  /** Wrong second factors since then; absent for none. */
  readonly failedFactors?: number;
  /** Addresses with failures or sign-ins; absent for none. */
  readonly origins?: readonly SignInOrigin[];
  /** Of the whole account. RFC 3339; '' when not locked for a time. */
  readonly lockedUntil: string;
  /** Rises when every session of the user must end. */
  readonly sessionEpoch: number;
  /** Second factor; absent when there is none. */
  readonly totp?: TotpRecord;
  /** Oldest first; absent for none. */
  readonly passkeys?: readonly PasskeyRecord[];
  /** Whether a passkey is asked for after the password; absent for false. */
  readonly passkeySecondFactor?: boolean;
}

/** One address, or IPv6 /64, from which somebody tried. */
export interface SignInOrigin {
  /** An IPv4 address or a /64 of IPv6; `socket` for the administration socket. */
  readonly origin: string;
  readonly failedAttempts: number;
  /** Time of the last failure, milliseconds since the epoch; 0 for none. */
  readonly failedAtMs: number;
  readonly lockedUntilMs: number;
  /** The user has signed in from here: an account lock that strangers caused does not count. */
  readonly signedIn: boolean;
}

/** A time-based second factor. */
export interface TotpRecord {
  /** Base32. */
  readonly secret: string;
  /** RFC 3339; '' until a code has proved it. */
  readonly confirmedAt: string;
  /** Number of the last time step that was used; a code works once. */
  readonly lastStep: number;
  /** SHA-256 of the recovery codes that are left, hex. */
  readonly recoverySha256: readonly string[];
}

/** A public key of WebAuthn that signs a user in. */
export interface PasskeyRecord {
  /** Credential id, base64url. */
  readonly id: string;
  readonly name: string;
  /** COSE key, base64url. */
  readonly publicKey: string;
  /** Signatures that the authenticator counted; 0 where it counts none. */
  readonly counter: number;
  /** The host name that it is for. */
  readonly host: string;
  /** Whether its provider keeps copies of it. */
  readonly synced: boolean;
  /** RFC 3339. */
  readonly createdAt: string;
  /** RFC 3339; '' before the first sign-in. */
  readonly lastUsedAt: string;
}

/** One sign-in and the refresh tokens that came of it. */
export interface SessionRecord {
  readonly id: string;
  readonly userId: string;
  /** SHA-256 of the refresh token that is good now, hex. */
  readonly tokenSha256: string;
  /** Marks every refresh token of the session, base64url; absent in sessions of before. */
  readonly familyKey?: string;
  readonly sessionEpoch: number;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** False when the cookie ends with the browser; absent means true. */
  readonly remember?: boolean;
  /** RFC 3339; absent before the first refresh. */
  readonly refreshedAt?: string;
  /** Address that signed in, and how; absent in sessions of before. */
  readonly address?: string;
  readonly method?: string;
}

/** Who a user is at an identity provider; bound at the first sign-in. */
export interface ExternalIdentityRecord {
  /** SHA-256 of provider, issuer and subject, hex. */
  readonly id: string;
  readonly provider: string;
  readonly userId: string;
  readonly createdAt: string;
  /** True for a user that the provider made; its groups then decide the roles. */
  readonly managed?: boolean;
}

/** A key that the service made for itself. */
export interface KeyRecord {
  readonly id: string;
  readonly purpose: 'access_token' | 'bundle' | 'challenge';
  /** PKCS #8 PEM; for challenges 32 random bytes in base64. */
  readonly privateKeyPem: string;
  readonly createdAt: string;
}

/** One configuration that was published. */
export interface PublicationRecord {
  readonly id: string;
  readonly revision: string;
  readonly sha256: string;
  readonly createdAt: string;
  /** What became of it on the nodes that answered, by node. */
  readonly nodes?: Readonly<Record<string, NodeDelivery>>;
  /** What it says of policies that are held back; absent when none is. */
  readonly heldNote?: string;
  /** Intents of operation controls that it carries; absent for none. */
  readonly intents?: readonly string[];
}

/** What became of a configuration on one node. */
export interface NodeDelivery {
  /** RFC 3339; '' when only the answer is known. */
  readonly deliveredAt: string;
  /** RFC 3339; '' when it was not applied. */
  readonly appliedAt: string;
  readonly result: 'success' | 'failure' | 'superseded';
  /** What failed, with file and line where rules did; '' otherwise. */
  readonly error: string;
}

/** Collections that people's resources lie in. */
export const sites: Collection<SiteRecord> = {
  name: 'sites',
  indexes: {
    name: (site) => [site.name],
    host: (site) => [site.primaryHost, ...(site.aliases ?? [])],
  },
};
/** Policies and templates. */
export const policies: Collection<PolicyRecord> = { name: 'policies', indexes: {} };
/** Saved states of policies. */
export const policyVersions: Collection<PolicyVersionRecord> = {
  name: 'policy-versions',
  indexes: { policy: (version) => [version.policyId] },
};
/** Upstream pools. */
export const upstreams: Collection<UpstreamRecord> = { name: 'upstreams', indexes: {} };
/** Overrides of CRS rules, found by policy. */
export const ruleOverrides: Collection<RuleOverrideRecord> = {
  name: 'rule-overrides',
  indexes: { policy: (override) => [override.policyId] },
};
/** Rules of operators, found by policy. */
export const customRules: Collection<CustomRuleRecord> = {
  name: 'custom-rules',
  indexes: { policy: (rule) => [rule.policyId] },
};
/** What sites change in their policies; the id is the site's. */
export const siteOverrides: Collection<SiteOverrideRecord> = {
  name: 'site-overrides',
  indexes: { policy: (override) => [override.policyId ?? ''] },
};
/** Rulesets; their files lie in blobs. */
export const rulesets: Collection<RulesetRecord> = {
  name: 'rulesets',
  indexes: {},
  blobs: (ruleset) => [ruleset.blob],
};
/** Rulesets that inspect beside those of policies; the id is the policy's. */
export const shadowRuns: Collection<ShadowRunRecord> = {
  name: 'shadow-runs',
  indexes: { run: ({ runId }) => [runId] },
};
/** Users, found by name. */
export const users: Collection<UserRecord> = {
  name: 'users',
  indexes: { username: (user) => [user.username.toLowerCase()] },
};
/** Roles, found by name. */
export const roles: Collection<RoleRecord> = {
  name: 'roles',
  indexes: { name: (role) => [role.name.toLowerCase()] },
};

/** Collections of the service's own. */
export const credentials: Collection<CredentialRecord> = { name: 'credentials', indexes: {} };
/** Sessions, found by user. */
export const sessions: Collection<SessionRecord> = {
  name: 'sessions',
  indexes: { user: (session) => [session.userId] },
};
/** Identities at providers, found by user. */
export const externalIdentities: Collection<ExternalIdentityRecord> = {
  name: 'external-identities',
  indexes: { user: (identity) => [identity.userId] },
};
/** Keys of the service, found by purpose. */
export const keys: Collection<KeyRecord> = {
  name: 'keys',
  indexes: { purpose: (key) => [key.purpose] },
};
/** Configurations that were published. */
export const publications: Collection<PublicationRecord> = { name: 'publications', indexes: {} };

/** Settings of the deployment: one record. */
export interface SettingsRecord {
  readonly id: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** RFC 3339. */
  readonly updatedAt: string;
  /** Nodes had to hear of the last change; absent means no. */
  readonly published?: boolean;
}

/** Id of the one settings record. */
export const settingsId = 'system';

/** Settings of the deployment. */
export const systemSettings: Collection<SettingsRecord> = { name: 'settings', indexes: {} };

/** Routing tables of sites, found by the pools that they name. */
export const siteRoutings: Collection<SiteRoutingRecord> = {
  name: 'site-routings',
  indexes: {
    upstream: ({ routing }) => poolsOf(routing),
  },
};
/** Certificates, found by fingerprint and by name, counted for each tenant. */
export const certificates: Collection<CertificateRecord> = {
  name: 'certificates',
  indexes: {
    fingerprint: (certificate) => [certificate.fingerprintSha256],
    name: (certificate) => [certificate.name],
    tenant: (certificate) => [certificate.tenantId],
  },
  counted: ['tenant'],
};
/** Private keys of certificates. */
export const certificateKeys: Collection<CertificateKeyRecord> = {
  name: 'certificate-keys',
  indexes: {},
};
/** Accounts at DNS providers. */
export const dnsProviders: Collection<DnsProviderRecord> = { name: 'dns-providers', indexes: {} };
/** Credentials of DNS providers. */
export const dnsCredentials: Collection<DnsCredentialsRecord> = {
  name: 'dns-credentials',
  indexes: {},
};
/** Enrolled nodes, found by what they call themselves. */
export const agents: Collection<AgentRecord> = {
  name: 'agents',
  indexes: { fingerprint: (agent) => [agent.fingerprint ?? ''] },
};
/** Groups of nodes. */
export const agentGroups: Collection<AgentGroupRecord> = { name: 'agent-groups', indexes: {} };
/** Data sets that map addresses. */
export const geoDatabases: Collection<GeoDatabaseRecord> = { name: 'geo-databases', indexes: {} };
/** Imported releases of the program. */
export const binaryReleases: Collection<BinaryReleaseRecord> = {
  name: 'binary-releases',
  indexes: {},
};
