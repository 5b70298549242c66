/** AuthService/ChangePassword. */

import type { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import { checkPassword, hashPassword } from '../../auth/passwords.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { credentials, sessions } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { noteAction } from '../resource/owned.ts';
import { userKind } from '../user-service/user.ts';
import { requireUser } from './own-user.ts';

/** Changes the caller's password and ends the caller's other sessions. */
export function changePassword(
  parts: Uses<'store' | 'signIn'>,
): Method<typeof AuthService, 'changePassword'> {
  return async ({ currentPassword, newPassword }, context) => {
    const caller = callerOf(context);
    const user = requireUser(parts.store, caller);
    checkPassword(newPassword, 'newPassword', user.username);
    if (newPassword === currentPassword) {
      throw invalidField('newPassword', 'must differ from the current one');
    }
    if (!(await parts.signIn.confirm(user.id, currentPassword, caller.address))) {
      throw refusal('permission_denied', 'currentPassword: is wrong');
    }
    const passwordHash = await hashPassword(newPassword);
    await parts.store.write((tx) => {
      const credential = tx.get(credentials, user.id);
      // Whoever ended the session meanwhile, by a new password or a lock, has the last word.
      const session = tx.get(sessions, caller.sessionId);
      if (credential === undefined || session?.sessionEpoch !== credential.sessionEpoch) {
        throw refusal('unauthenticated', 'the session has ended: sign in again');
      }
      // A new epoch also voids what was begun with the old password: open challenges, proofs.
      const sessionEpoch = credential.sessionEpoch + 1;
      tx.put(credentials, { ...credential, passwordHash, sessionEpoch, firstPassword: false });
      for (const session of tx.find(sessions, 'user', user.id)) {
        if (session.id === caller.sessionId) tx.put(sessions, { ...session, sessionEpoch });
        else tx.remove(sessions, session.id);
      }
      noteAction(tx, caller, userKind, user, 'change_password');
    });
    return { changed: true };
  };
}
