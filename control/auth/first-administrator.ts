/** The first start: built-in roles, the first administrator, and the file with the password. */

import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { defaultTenantId, type RoleRecord, type UserRecord } from '../domain/records.ts';
import { credentials, roles, users } from '../store/collections.ts';
import type { Store } from '../store/store.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { builtInRoles } from './permissions.ts';

const username = 'admin';
const administratorId = 'user-admin';

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
    const id = administratorId;
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
      firstPassword: true,
      failedAttempts: 0,
      lockedUntil: '',
      sessionEpoch: 1,
    });
  });
  return true;
}

/**
 * Removes the file with the first password as soon as that password no longer is the one of the
 * first administrator: changed, reset, restored, or the user removed. Also looks now, for changes
 * of which the file was not told. Returns the undo, which ends once that look did. Cost: one
 * password check while there is a file.
 */
export function forgetFirstPassword(
  store: Store,
  logger: Logger,
  passwordFile: string,
): () => Promise<void> {
  const first = readPassword(passwordFile);
  if (first === null) return () => Promise.resolve();
  const hash = (): string | undefined => store.get(credentials, administratorId)?.passwordHash;
  const known = hash();
  const forget = (): void => {
    undo();
    removeFile(passwordFile, logger);
  };
  const undo = store.onChange((changed) => {
    if (changed.has(credentials.name) && hash() !== known) forget();
  });
  const look = verifyPassword(known || undefined, first)
    .then((fits) => fits || forget())
    .catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : 'unknown';
      logger.warn('the first password could not be compared with its file', { reason });
    });
  return async () => {
    undo();
    await look;
  };
}

function readPassword(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}

function removeFile(path: string, logger: Logger): void {
  try {
    rmSync(path, { force: true });
    logger.info('the file with the first password is gone: the password has changed', {});
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown';
    logger.error('the file with the first password could not be removed', { path, reason });
  }
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
