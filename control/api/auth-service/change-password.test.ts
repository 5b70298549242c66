/** What comes between the proof of the old password and the new one has the last word. */

import { createContextValues, type HandlerContext } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { credentials, sessions, users } from '../../store/collections.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore } from '../../store/store.ts';
import { callerKey, type ApiParts } from '../context.ts';
import { changePassword } from './change-password.ts';

const at = new Date(0).toISOString();
const caller = {
  userId: 'lola',
  username: 'lola',
  tenantId: 'default',
  permissions: new Set<string>(),
  sessionId: 'hers',
  address: '',
};

/** Changes the password while `meanwhile` happens to the session epoch. */
async function change(meanwhile: number) {
  const store = await openStore(openMemoryKv(), systemClock);
  const credential = {
    id: 'lola',
    passwordHash: 'old',
    failedAttempts: 0,
    lockedUntil: '',
    sessionEpoch: 1,
  };
  await store.write((tx) => {
    const { userId: id, username, tenantId } = caller;
    const names = { username, email: '', displayName: '', roleIds: [], locked: false };
    tx.put(users, { id, tenantId, ...names, createdAt: at, updatedAt: at });
    tx.put(credentials, credential);
    const session = { id: 'hers', userId: id, tokenSha256: '', createdAt: at, expiresAt: at };
    tx.put(sessions, { ...session, sessionEpoch: 1 });
  });
  const confirm = async (): Promise<boolean> => {
    const sessionEpoch = credential.sessionEpoch + meanwhile;
    await store.write((tx) => tx.put(credentials, { ...credential, sessionEpoch }));
    return true;
  };
  const parts = { store, signIn: { confirm } } as unknown as ApiParts;
  const values = createContextValues().set(callerKey, caller);
  const asked = { currentPassword: 'the old password', newPassword: 'the password of a thief' };
  const result = Promise.resolve(
    changePassword(parts)(asked as never, { values } as HandlerContext),
  ).then(
    () => 'changed',
    (error: { code?: string }) => error.code,
  );
  return { result: await result, kept: store.get(credentials, 'lola')?.passwordHash === 'old' };
}

test('a session that is still valid changes the password', async () => {
  expect(await change(0)).toEqual({ result: 'changed', kept: false });
});

test('a session that an administrator ended meanwhile does not', async () => {
  expect(await change(1)).toEqual({ result: 'unauthenticated', kept: true });
});
