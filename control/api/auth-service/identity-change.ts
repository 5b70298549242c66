/** Who may change the settings of identity providers. */

import { superadmin, type Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { identityKeys, rolesHandedOut } from '../../domain/settings/identity-settings.ts';
import { roles, users } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { ours } from '../resource/owned.ts';

const keys: readonly string[] = Object.values(identityKeys);

/**
 * Whoever decides who signs in decides over users. Errors: permission_denied without user:write, or
 * where a provider gives permissions that the caller lacks, by its roles or by a user who signs in
 * through one; invalid_argument for a role that does not exist.
 */
export function checkIdentityChange(
  store: ReadStore,
  caller: Caller,
  values: Readonly<Record<string, unknown>>,
): void {
  if (!Object.keys(values).some((key) => keys.includes(key))) return;
  const handedOut = rolesHandedOut(values).map((id) => {
    const role = ours(store.get(roles, id), caller);
    if (role !== undefined) return role;
    throw invalidField('values', 'a provider hands out a role that does not exist');
  });
  if (caller.permissions.has(superadmin)) return;
  if (!caller.permissions.has('user:write')) {
    throw refusal('permission_denied', 'settings of identity providers need user:write as well');
  }
  const reachable = store
    .list(users)
    .filter((user) => (user.externalProviders?.length ?? 0) > 0)
    .flatMap((user) => user.roleIds.flatMap((id) => store.get(roles, id) ?? []));
  const given = [...handedOut, ...reachable].flatMap((role) => role.permissions);
  if (given.every((code) => caller.permissions.has(code))) return;
  throw refusal('permission_denied', 'a provider gives permissions that you do not hold');
}
