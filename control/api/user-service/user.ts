/** Users without passwords and second factors, which lie in a record of their own. */

import { keepAdministrator } from '../../auth/administrators.ts';
import { dropIdentities } from '../../auth/external-accounts.ts';
import { superadmin, type Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { UserRecord } from '../../domain/records.ts';
import { checkUserFields } from '../../domain/user-names.ts';
import { readUserSpec, userSpec } from '../../publish/manifests/manifest-accounts.ts';
import { credentials, roles, sessions, users } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { ours } from '../resource/owned.ts';
import type { Change, StatedKind } from '../resource/resource.ts';
import { holdsAll } from '../role-service/role.ts';

const providersMax = 16;
const rolesMax = 64;

/** Users; their methods set passwords, roles and locks one by one and stand beside. */
export const userKind: StatedKind<ReturnType<typeof readUserSpec>, UserRecord> = {
  collection: users,
  noun: 'user',
  audit: 'user',
  prefix: 'user',
  nameOf: ({ username }) => username,
  guard: ({ tx, caller }, user) => refuseStronger(tx, caller, user),
  settle: (change, asked, before, base) => {
    const { tx, caller } = change;
    const record: UserRecord = {
      ...before,
      ...base,
      ...asked,
      username: asked.username.trim(),
      roleIds: [...new Set(asked.roleIds)],
      externalProviders: [...new Set(asked.externalProviders)],
    };
    if (record.locked && before?.id === caller.userId) {
      throw refusal('failed_precondition', 'spec.locked: nobody can lock the own user');
    }
    checkUser(tx, record);
    checkRoles(tx, caller, record.roleIds, 'spec.roles');
    return {
      record,
      keepMore: (writing) => keepStated({ ...change, tx: writing }, record, before),
    };
  },
  document: { reference: 'user', permission: 'user:write', read: readUserSpec, spec: userSpec },
};

function keepStated(
  { tx, caller, document }: Change,
  record: UserRecord,
  before: UserRecord | null,
): void {
  if (before === null) {
    tx.put(credentials, freshCredential(record.id, ''));
    if (record.externalProviders?.length === 0) {
      document?.warn(
        `${document.where}: a password is a secret that no manifest holds: waf user password ` +
          record.username,
      );
    }
    return;
  }
  dropIdentities(tx, record);
  const decisive = ({ roleIds, externalProviders = [], locked }: UserRecord): string =>
    JSON.stringify([[...roleIds].sort(), [...externalProviders].sort(), locked]);
  if (decisive(before) === decisive(record)) return;
  keepAdministrator(tx, caller.tenantId);
  endSessions(tx, record.id);
}

/** The credential of a new user; '' for no password. */
export function freshCredential(id: string, passwordHash: string) {
  return { id, passwordHash, failedAttempts: 0, lockedUntil: '', sessionEpoch: 1 };
}

/** Errors: invalid_argument naming the field, already_exists. */
export function checkUser(store: ReadStore, user: UserRecord): void {
  checkUserFields(user);
  if ((user.externalProviders?.length ?? 0) > providersMax) {
    throw invalidField('user.externalProviders', `has at most ${providersMax} entries`);
  }
  const same = store.find(users, 'username', user.username.toLowerCase());
  if (same.some((other) => other.id !== user.id)) {
    throw refusal('already_exists', 'user.username: another user has it');
  }
}

/** Errors: invalid_argument for no role, permission_denied for what the caller lacks. */
export function checkRoles(
  store: ReadStore,
  caller: Caller,
  roleIds: readonly string[],
  field: string,
): void {
  if (roleIds.length > rolesMax) throw invalidField(field, `has at most ${rolesMax} entries`);
  roleIds.forEach((id, at) => {
    const role = ours(store.get(roles, id), caller);
    if (role === undefined) throw invalidField(`${field}[${at}]`, 'names no role');
    if (holdsAll(caller, role.permissions)) return;
    throw refusal('permission_denied', `${field}[${at}]: holds permissions that you do not hold`);
  });
}

/** Errors: permission_denied when the user holds more than the caller. */
export function refuseStronger(store: ReadStore, caller: Caller, user: UserRecord): void {
  if (caller.permissions.has(superadmin)) return;
  const held = user.roleIds.flatMap((id) => store.get(roles, id)?.permissions ?? []);
  if (holdsAll(caller, held)) return;
  throw refusal('permission_denied', 'this user holds permissions that you do not hold');
}

/** Ends every session of a user. */
export function endSessions(tx: WriteStore, userId: string): void {
  const credential = tx.get(credentials, userId);
  if (credential !== undefined) {
    tx.put(credentials, { ...credential, sessionEpoch: credential.sessionEpoch + 1 });
  }
  for (const session of tx.find(sessions, 'user', userId)) tx.remove(sessions, session.id);
}
