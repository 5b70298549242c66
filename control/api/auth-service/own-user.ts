/** Finds the caller's own user. */

import type { Caller } from '../../auth/permissions.ts';
import { refusal } from '../../domain/errors.ts';
import type { UserRecord } from '../../domain/records.ts';
import { users } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';

/** Errors: failed_precondition on the administration socket, where no user is signed in. */
export function requireUser(store: ReadStore, caller: Caller): UserRecord {
  const user = store.get(users, caller.userId);
  if (user !== undefined) return user;
  throw refusal('failed_precondition', 'this call is for signed-in users');
}
