/** The promise that somebody can always administer a tenant. */

import { refusal } from '../domain/errors.ts';
import type { UserRecord } from '../domain/records.ts';
import { roles, users } from '../store/collections.ts';
import type { ReadStore } from '../store/store.ts';
import { superadmin } from './permissions.ts';

/** Whether a tenant has an administrator who can sign in. */
export function hasAdministrator(store: ReadStore, tenantId: string): boolean {
  return store
    .list(users)
    .some((user) => user.tenantId === tenantId && !user.locked && isAdministrator(store, user));
}

/** Whether somebody else could administer the user's tenant; true where the user could not. */
export function hasOtherAdministrator(store: ReadStore, user: UserRecord): boolean {
  if (!isAdministrator(store, user)) return true;
  return store
    .list(users)
    .some(
      (other) =>
        other.id !== user.id &&
        other.tenantId === user.tenantId &&
        !other.locked &&
        isAdministrator(store, other),
    );
}

function isAdministrator(store: ReadStore, { roleIds }: UserRecord): boolean {
  return roleIds.some((id) => store.get(roles, id)?.permissions.includes(superadmin) === true);
}

/** Errors: failed_precondition when the change would leave the tenant without an administrator. */
export function keepAdministrator(store: ReadStore, tenantId: string): void {
  if (hasAdministrator(store, tenantId)) return;
  throw refusal('failed_precondition', 'the last administrator must stay able to sign in');
}
