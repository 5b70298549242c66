/**
 * Owns the first start: built-in roles, the first administrator, and the file with the password.
 */

import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import type { Clock } from '../../engine/base/clock.ts';
import { defaultTenantId, type RoleRecord, type UserRecord } from '../domain/records.ts';
import { credentials, roles, users } from '../store/collections.ts';
import type { Store } from '../store/store.ts';
import { hashPassword } from './passwords.ts';
import { builtInRoles } from './permissions.ts';

const username = 'admin';

/**
 * Makes the built-in roles current and, in a store without users, the administrator. Resolves to
 * true when the administrator was made; the password is then in `passwordFile`, mode 0600.
 */
export async function ensureAdministrator(
  store: Store,
  clock: Clock,
  passwordFile: string,
): Promise<boolean> {
  const now = new Date(clock.nowMs()).toISOString();
  const outdated = builtInRoles.filter((role) => {
    const stored = store.get(roles, role.id);
    return stored?.permissions.join() !== role.permissions.join();
  });
  if (outdated.length > 0) {
    await store.write((tx) => {
      for (const role of outdated) {
        const before = tx.get(roles, role.id);
        const after: RoleRecord = {
          ...role,
          permissions: [...role.permissions],
          builtin: true,
          tenantId: defaultTenantId,
          createdAt: before?.createdAt ?? now,
          updatedAt: now,
        };
        tx.put(roles, after);
        if (before !== undefined) {
          tx.audit({ ...systemNote('role', role.id, role.name), action: 'update', before, after });
        }
      }
    });
  }
  if (store.list(users).length > 0) return false;
  const password = randomBytes(18).toString('base64url');
  const passwordHash = await hashPassword(password);
  writePrivately(passwordFile, `${password}\n`);
  await store.write((tx) => {
    const id = 'user-admin';
    const user: UserRecord = {
      id,
      tenantId: defaultTenantId,
      username,
      email: '',
      displayName: 'Administrator',
      roleIds: ['role-administrator'],
      locked: false,
      createdAt: now,
      updatedAt: now,
    };
    tx.put(users, user);
    tx.audit({ ...systemNote('user', id, username), action: 'create', after: user });
    tx.put(credentials, {
      id,
      passwordHash,
      failedAttempts: 0,
      lockedUntil: '',
      sessionEpoch: 1,
    });
  });
  return true;
}

/** What the service does by itself at its start. */
function systemNote(resourceType: string, resourceId: string, resourceName: string) {
  return {
    actorId: 'system',
    actorName: 'system',
    tenantId: defaultTenantId,
    resourceType,
    resourceId,
    resourceName,
  };
}

function writePrivately(path: string, text: string): void {
  const file = openSync(path, 'w', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
