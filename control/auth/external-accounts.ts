/**
 * Which user somebody is who proved an identity elsewhere: bound identities, users that an
 * administrator allowed, users that are made. Never trusts a name or mail address alone.
 */

import { createHash, randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { refusal } from '../domain/errors.ts';
import type { AccountRules } from '../domain/settings/identity-settings.ts';
import { defaultTenantId, type UserRecord } from '../domain/records.ts';
import { isEmail, isUsername, trimDisplayName } from '../domain/user-names.ts';
import {
  credentials,
  externalIdentities,
  roles,
  sessions,
  users,
  type ExternalIdentityRecord,
} from '../store/collections.ts';
import type { Store, WriteStore } from '../store/store.ts';
import { hasAdministrator } from './administrators.ts';
import type { Proof } from './lock-out.ts';

/** Somebody as a provider vouches for. */
export interface ExternalIdentity {
  /** `radius`, `oidc:<id>` or `saml:<id>`. */
  readonly provider: string;
  readonly issuer: string;
  /** Never given to another person by the provider. */
  readonly subject: string;
  readonly username: string;
  /** '' unless the provider vouches for it. */
  readonly verifiedEmail: string;
  readonly displayName: string;
  readonly groups: readonly string[];
}

/**
 * The user of an identity, in one transaction: the one it is bound to; else the one user whose
 * `externalProviders` name the provider and whose name, or verified mail address, is the same; else
 * a new one where the provider may make users. Errors: permission_denied; the failure is audited.
 */
export async function resolveAccount(
  store: Store,
  clock: Clock,
  rules: AccountRules,
  identity: ExternalIdentity,
  address: string,
): Promise<Proof> {
  const now = new Date(clock.nowMs()).toISOString();
  const proof = await store.write((tx) => {
    const user =
      boundUser(tx, identity) ??
      claimUser(tx, identity, now) ??
      (rules.autoCreate ? makeUser(tx, rules, identity, now) : null);
    const credential = user === null ? undefined : tx.get(credentials, user.id);
    // Wrong passwords lock the password out, not whom a provider vouches for.
    if (user === null || user.locked || credential === undefined) {
      tx.audit({
        actorId: user?.id ?? '',
        actorName: user?.username ?? '',
        tenantId: defaultTenantId,
        action: 'login_failed',
        resourceType: 'session',
        resourceId: user?.id ?? '',
        metadata: { address, method: identity.provider },
      });
      return null;
    }
    const sessionEpoch = followGroups(tx, rules, identity, user, now);
    return { userId: user.id, sessionEpoch };
  });
  if (proof !== null) return proof;
  throw refusal(
    'permission_denied',
    'no user may sign in with this identity: ask an administrator to allow the provider',
  );
}

/** Whether a user may sign in by a provider. */
export function allows(user: UserRecord, provider: string): boolean {
  return user.externalProviders?.includes(provider) === true;
}

/** Forgets what was bound by providers that the user may no longer use. */
export function dropIdentities(tx: WriteStore, user: UserRecord): void {
  for (const bound of tx.find(externalIdentities, 'user', user.id)) {
    if (!allows(user, bound.provider)) tx.remove(externalIdentities, bound.id);
  }
}

function identityId({ provider, issuer, subject }: ExternalIdentity): string {
  return createHash('sha256')
    .update(JSON.stringify([provider, issuer, subject]))
    .digest('hex');
}

function boundUser(tx: WriteStore, identity: ExternalIdentity): UserRecord | null {
  const bound = tx.get(externalIdentities, identityId(identity));
  const user = bound === undefined ? undefined : tx.get(users, bound.userId);
  return user !== undefined && allows(user, identity.provider) ? user : null;
}

function claimUser(tx: WriteStore, identity: ExternalIdentity, now: string): UserRecord | null {
  const { provider, verifiedEmail } = identity;
  const name = identity.username.toLowerCase();
  const mail = verifiedEmail.toLowerCase();
  const fits = tx
    .list(users)
    .filter((user) => allows(user, provider))
    .filter(
      (user) =>
        user.username.toLowerCase() === name || (mail !== '' && user.email.toLowerCase() === mail),
    )
    .filter(
      (user) =>
        !tx.find(externalIdentities, 'user', user.id).some((one) => one.provider === provider),
    );
  const user = fits[0];
  if (user === undefined || fits.length > 1) return null;
  bind(tx, identity, user, now, false);
  return user;
}

function makeUser(
  tx: WriteStore,
  rules: AccountRules,
  identity: ExternalIdentity,
  now: string,
): UserRecord | null {
  const { provider, username, verifiedEmail } = identity;
  const taken = tx.find(users, 'username', username.toLowerCase()).length > 0;
  if (taken || !isUsername(username)) return null;
  if (tx.get(externalIdentities, identityId(identity)) !== undefined) return null;
  const user: UserRecord = {
    id: `user-${randomUUID()}`,
    tenantId: defaultTenantId,
    username,
    email: isEmail(verifiedEmail) ? verifiedEmail : '',
    displayName: trimDisplayName(identity.displayName),
    roleIds: rolesOf(tx, rules, identity.groups),
    locked: false,
    externalProviders: [provider],
    createdAt: now,
    updatedAt: now,
  };
  tx.put(users, user);
  tx.put(credentials, {
    id: user.id,
    passwordHash: '',
    failedAttempts: 0,
    lockedUntil: '',
    sessionEpoch: 1,
  });
  tx.audit({ ...providerNote(identity, user), action: 'create', after: user });
  bind(tx, identity, user, now, true);
  return user;
}

function bind(
  tx: WriteStore,
  identity: ExternalIdentity,
  user: UserRecord,
  createdAt: string,
  managed: boolean,
): void {
  const record: ExternalIdentityRecord = {
    id: identityId(identity),
    provider: identity.provider,
    userId: user.id,
    createdAt,
    managed,
  };
  tx.put(externalIdentities, record);
  tx.audit({ ...providerNote(identity, user), action: 'link_identity' });
}

/** Gives users that the provider made the roles of their groups; changed roles end sessions. */
function followGroups(
  tx: WriteStore,
  rules: AccountRules,
  identity: ExternalIdentity,
  user: UserRecord,
  now: string,
): number {
  const credential = tx.get(credentials, user.id);
  const epoch = credential?.sessionEpoch ?? 0;
  const managed = tx.get(externalIdentities, identityId(identity))?.managed === true;
  if (!managed || Object.keys(rules.roleMappings).length === 0) return epoch;
  const roleIds = rolesOf(tx, rules, identity.groups);
  if ([...roleIds].sort().join() === [...user.roleIds].sort().join()) return epoch;
  const after: UserRecord = { ...user, roleIds, updatedAt: now };
  tx.put(users, after);
  if (!hasAdministrator(tx, user.tenantId)) {
    tx.put(users, user);
    return epoch;
  }
  for (const session of tx.find(sessions, 'user', user.id)) tx.remove(sessions, session.id);
  if (credential !== undefined) tx.put(credentials, { ...credential, sessionEpoch: epoch + 1 });
  tx.audit({ ...providerNote(identity, after), action: 'assign_roles', before: user, after });
  return epoch + 1;
}

function rolesOf(tx: WriteStore, rules: AccountRules, groups: readonly string[]): string[] {
  const mapped = groups.flatMap((group) =>
    Object.hasOwn(rules.roleMappings, group) ? [rules.roleMappings[group] ?? ''] : [],
  );
  const wanted = new Set([...rules.defaultRoleIds, ...mapped]);
  return [...wanted].filter((id) => tx.get(roles, id) !== undefined);
}

function providerNote({ provider }: ExternalIdentity, user: UserRecord) {
  return {
    actorId: provider,
    actorName: provider,
    tenantId: user.tenantId,
    resourceType: 'user',
    resourceId: user.id,
    resourceName: user.username,
  };
}
