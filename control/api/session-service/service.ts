/** SessionService: people list and end sessions, their own and, where they may, those of others. */

import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  SessionSchema,
  type Session,
  type SessionService,
} from '../../../proto/gen/waf/access/v1/session_pb.ts';
import { meets, type Caller } from '../../auth/permissions.ts';
import { sessionNote } from '../../auth/sessions.ts';
import { notFound, refusal } from '../../domain/errors.ts';
import type { UserRecord } from '../../domain/records.ts';
import { sessions, users, type SessionRecord } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import { pageOf } from '../convert.ts';
import type { Built, Method } from '../method.ts';
import { ours } from '../resource/owned.ts';
import { refuseStronger } from '../user-service/user.ts';

const seesAll = { public: false, anyPermission: ['user:read'], allPermission: [] };
const endsAll = { public: false, anyPermission: ['user:write'], allPermission: [] };

/** SessionService. */
export function sessionService(parts: Uses<'store' | 'clock'>): Built<typeof SessionService> {
  return { listSessions: listSessions(parts), endSession: endSession(parts) };
}

function listSessions(
  parts: Uses<'store' | 'clock'>,
): Method<typeof SessionService, 'listSessions'> {
  return ({ page: asked, allUsers }, context) => {
    const caller = callerOf(context);
    if (allUsers && !meets(seesAll, caller.permissions)) {
      throw refusal('permission_denied', 'allUsers: needs user:read');
    }
    const nowMs = parts.clock.nowMs();
    const found = parts.store
      .list(sessions)
      .filter(({ expiresAt }) => Date.parse(expiresAt) > nowMs)
      .flatMap((session) => {
        const user = userOf(parts.store, caller, session);
        return user === null || !(allUsers || user.id === caller.userId) ? [] : [{ session, user }];
      })
      .sort((left, right) => (left.session.createdAt < right.session.createdAt ? 1 : -1));
    const { items, page } = pageOf(found, asked);
    return { items: items.map(({ session, user }) => show(caller, session, user)), page };
  };
}

function endSession({ store }: Uses<'store'>): Method<typeof SessionService, 'endSession'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    await store.write((tx) => {
      const session = tx.get(sessions, id);
      const user = session === undefined ? null : userOf(tx, caller, session);
      if (user === null) throw notFound('session', id);
      if (user.id !== caller.userId) {
        if (!meets(endsAll, caller.permissions)) throw notFound('session', id);
        refuseStronger(tx, caller, user);
      }
      tx.remove(sessions, id);
      tx.audit({
        ...sessionNote(user, 'session_ended', id),
        ...actorNote(caller),
        resourceName: user.username,
      });
    });
    return { ended: true };
  };
}

/** Whose session it is; null for one of another tenant. */
function userOf(store: ReadStore, caller: Caller, { userId }: SessionRecord): UserRecord | null {
  return ours(store.get(users, userId), caller) ?? null;
}

function show(caller: Caller, session: SessionRecord, user: UserRecord): Session {
  const { id, refreshedAt, address = '', method = '' } = session;
  return create(SessionSchema, {
    id,
    userId: user.id,
    username: user.username,
    createdAt: timestampFromDate(new Date(session.createdAt)),
    expiresAt: timestampFromDate(new Date(session.expiresAt)),
    address,
    method,
    current: id === caller.sessionId,
    ...(refreshedAt === undefined ? {} : { refreshedAt: timestampFromDate(new Date(refreshedAt)) }),
  });
}
