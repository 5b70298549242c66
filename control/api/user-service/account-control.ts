/** UserService/ResetPassword, LockUser, UnlockUser and ResetUserMFA. */

import type { UserService } from '../../../proto/gen/waf/v1/user_pb.ts';
import { keepAdministrator } from '../../auth/administrators.ts';
import { forgiven } from '../../auth/lock-out.ts';
import { passkeysOf } from '../../auth/passkeys.ts';
import { checkPassword, hashPassword } from '../../auth/passwords.ts';
import type { Caller } from '../../auth/permissions.ts';
import { refusal } from '../../domain/errors.ts';
import type { UserRecord } from '../../domain/records.ts';
import { credentials } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { nextUpdate } from '../unchanged.ts';
import { keep, noteAction, stored } from '../resource/owned.ts';
import { showUser } from './show-user.ts';
import { endSessions, refuseStronger, userKind } from './user.ts';

/** Sets a password and ends the user's sessions. */
export function resetPassword(parts: Uses<'store'>): Method<typeof UserService, 'resetPassword'> {
  return async ({ userId, password }, context) => {
    const caller = callerOf(context);
    const { username } = stored(parts.store, caller, userKind, userId, 'userId');
    checkPassword(password, 'password', username);
    const passwordHash = await hashPassword(password);
    await parts.store.write((tx) => {
      const user = stored(tx, caller, userKind, userId, 'userId');
      refuseStronger(tx, caller, user);
      endSessions(tx, user.id);
      const credential = tx.get(credentials, user.id);
      const sessionEpoch = credential?.sessionEpoch ?? 1;
      const fresh = { id: user.id, failedAttempts: 0, lockedUntil: '' };
      const next = { ...fresh, ...credential, passwordHash, sessionEpoch, firstPassword: false };
      tx.put(credentials, forgiven(next));
      noteAction(tx, caller, userKind, user, 'reset_password');
    });
    return { changed: true };
  };
}

/** Keeps a user out. */
export function lockUser(parts: Uses<'store' | 'clock'>): Method<typeof UserService, 'lockUser'> {
  return async ({ userId }, context) => {
    const user = await setLocked(parts, callerOf(context), userId, true);
    return { user: showUser(parts, user) };
  };
}

/** Lets a user in again; also ends a lock-out after wrong passwords. */
export function unlockUser(
  parts: Uses<'store' | 'clock'>,
): Method<typeof UserService, 'unlockUser'> {
  return async ({ userId }, context) => {
    const user = await setLocked(parts, callerOf(context), userId, false);
    return { user: showUser(parts, user) };
  };
}

/** Removes the second factors of a user, passkeys among them. */
export function resetUserMfa(parts: Uses<'store'>): Method<typeof UserService, 'resetUserMFA'> {
  return async ({ userId }, context) => {
    const caller = callerOf(context);
    const mfaReset = await parts.store.write((tx) => {
      const user = stored(tx, caller, userKind, userId, 'userId');
      refuseStronger(tx, caller, user);
      const credential = tx.get(credentials, user.id);
      if (credential?.totp === undefined && passkeysOf(credential).length === 0) return false;
      const { totp: _factor, passkeys: _keys, passkeySecondFactor: _asked, ...rest } = credential!;
      tx.put(credentials, rest);
      endSessions(tx, user.id);
      noteAction(tx, caller, userKind, user, 'reset_mfa');
      return true;
    });
    return { mfaReset };
  };
}

function setLocked(
  parts: Uses<'store' | 'clock'>,
  caller: Caller,
  userId: string,
  locked: boolean,
): Promise<UserRecord> {
  return parts.store.write((tx) => {
    const before = stored(tx, caller, userKind, userId, 'userId');
    if (locked && before.id === caller.userId) {
      throw refusal('failed_precondition', 'userId: nobody can lock the own user');
    }
    refuseStronger(tx, caller, before);
    const after = { ...before, locked, updatedAt: nextUpdate(before, parts.clock) };
    const action = locked ? 'lock' : 'unlock';
    return keep(tx, caller, userKind, before, after, { action }, () => {
      if (locked) {
        keepAdministrator(tx, caller.tenantId);
        endSessions(tx, after.id);
        return;
      }
      const credential = tx.get(credentials, after.id);
      if (credential !== undefined) tx.put(credentials, forgiven(credential));
    });
  });
}
