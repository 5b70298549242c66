/** Tests proofs beneath the API: lock-out, equal work, second factors, sessions, signing keys. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Clock } from '../../base/clock.ts';
import type * as argon2 from '@node-rs/argon2';
import { openAccessTokens } from '../../control/auth/access-tokens.ts';
import type * as passwords from '../../control/auth/passwords.ts';
import { hashPassword } from '../../control/auth/passwords.ts';
import { openSessions } from '../../control/auth/sessions.ts';
import { superadmin } from '../../control/auth/permissions.ts';
import { openSignIn, type SignIn } from '../../control/auth/sign-in.ts';
import { defaultTenantId } from '../../control/domain/records.ts';
import {
  credentials,
  keys,
  roles,
  sessions,
  users,
  type CredentialRecord,
} from '../../control/store/collections.ts';
import { openMemoryKv } from '../../control/store/memory-kv.ts';
import { openStore, type Store } from '../../control/store/store.ts';

const work = vi.hoisted(() => ({ checks: 0, verified: 0, plain: '' }));
vi.mock('@node-rs/argon2', async (load) => {
  const real = await load<typeof argon2>();
  return {
    ...real,
    verify: (...args: Parameters<typeof real.verify>) => {
      work.verified++;
      return real.verify(...args);
    },
  };
});
// Thousands of comparisons would take the machine for a minute: `plain` makes them free.
vi.mock('../../control/auth/passwords.ts', async (load) => {
  const real = await load<typeof passwords>();
  return {
    ...real,
    verifyPassword: async (...args: Parameters<typeof real.verifyPassword>) => {
      work.checks++;
      if (work.plain === '') return real.verifyPassword(...args);
      const turns = work.checks % 7;
      for (let turn = 0; turn < turns; turn++) await new Promise((next) => setImmediate(next));
      return args[1] === work.plain;
    },
  };
});

const password = 'correct horse battery';
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
let nowMs = Date.parse('2026-03-01T00:00:00Z');
const clock: Clock = { nowMs: () => nowMs } as Clock;
let store: Store;
let signIn: SignIn;
const unlimited = 1_000_000;

beforeEach(async () => {
  store = await openStore(openMemoryKv(), clock);
  signIn = openSignIn(store, clock, unlimited);
  await addUser('lola');
  work.checks = 0;
  work.plain = '';
});
afterEach(() => store.close());

async function addUser(username: string, change: Partial<CredentialRecord> = {}): Promise<void> {
  const passwordHash = await hashPassword(password);
  const at = new Date(nowMs).toISOString();
  await store.write((tx) => {
    tx.put(users, {
      id: `user-${username}`,
      tenantId: defaultTenantId,
      username,
      email: '',
      displayName: '',
      roleIds: [],
      locked: false,
      createdAt: at,
      updatedAt: at,
    });
    tx.put(credentials, {
      id: `user-${username}`,
      passwordHash,
      failedAttempts: 0,
      lockedUntil: '',
      sessionEpoch: 1,
      ...change,
    });
  });
}

const tryPassword = (username: string, given: string, address = '192.0.2.1') =>
  signIn
    .password({ username, password: given, address, remember: true })
    .then((result) => result.kind)
    .catch((error: { code?: string }) => error.code ?? 'unknown');

/** Signs in from an address, up to the session. */
async function begin(username: string, address: string): Promise<string> {
  const result = await signIn.password({ username, password, address, remember: true });
  if (result.kind !== 'user') return result.kind;
  const times = () => ({ accessMs: dayMs, refreshMs: dayMs });
  const service = openSessions(store, await openAccessTokens(store, clock), clock, times);
  await service.begin(result.proof, { address, method: 'password', remember: true });
  return 'user';
}

describe('lock-out', () => {
  test('of 1,000 parallel guesses five are counted, and then the address is kept out', async () => {
    work.plain = password;
    const guesses = Array.from({ length: 1000 }, (_, at) =>
      tryPassword('lola', at === 700 ? password : `wrong password ${at}`),
    );
    const results = await Promise.all(guesses);
    // All were compared, in parallel; what counted was settled one by one.
    expect(work.checks).toBe(1000);
    expect(results.filter((one) => one !== 'unauthenticated')).toEqual([]);
    const failures = [...store.auditRows()].filter((row) => row.action === 'login_failed');
    expect(failures).toHaveLength(1000);
    const credential = store.get(credentials, 'user-lola');
    expect(credential?.lockedUntil).toBe('');
    expect(credential?.origins).toMatchObject([
      { origin: '192.0.2.1', lockedUntilMs: nowMs + 15 * minuteMs },
    ]);
    expect(await tryPassword('lola', password)).toBe('unauthenticated');
    expect(await tryPassword('lola', password, '192.0.2.2')).toBe('user');
    expect(await tryPassword('lola', password, '')).toBe('user');
  });

  /** Five wrong passwords from each of `count` addresses. */
  const guessFrom = async (count: number, first = 1): Promise<void> => {
    for (let from = first; from < first + count; from++) {
      for (let at = 0; at < 5; at++) await tryPassword('lola', 'wrong', `198.51.100.${from}`);
    }
  };
  const makeAdministrator = (username: string): Promise<void> =>
    store.write((tx) => {
      const id = 'role-administrator';
      const at = { createdAt: '', updatedAt: '' };
      const names = { name: 'Administrator', description: '', builtin: true };
      tx.put(roles, { id, ...names, ...at, permissions: [superadmin], tenantId: defaultTenantId });
      const user = tx.get(users, `user-${username}`);
      if (user !== undefined) tx.put(users, { ...user, roleIds: [id] });
    });

  test('many addresses lock the account, but not the socket nor where the user was', async () => {
    expect(await begin('lola', '192.0.2.7')).toBe('user');
    await guessFrom(4);
    expect(await tryPassword('lola', password, '203.0.113.1')).toBe('user');
    await guessFrom(1, 5);
    expect(store.get(credentials, 'user-lola')?.lockedUntil).not.toBe('');
    expect(await tryPassword('lola', password, '203.0.113.1')).toBe('unauthenticated');
    expect(await tryPassword('lola', password, '')).toBe('user');
    expect(await tryPassword('lola', password, '192.0.2.7')).toBe('user');
    nowMs += 15 * minuteMs + 1;
    expect(await tryPassword('lola', password, '203.0.113.1')).toBe('user');
  });

  test('the last administrator is locked out of no other address; one of two is', async () => {
    await makeAdministrator('lola');
    await guessFrom(20);
    expect(await tryPassword('lola', password, '203.0.113.1')).toBe('user');
    expect(await tryPassword('lola', password, '198.51.100.20')).toBe('unauthenticated');
    await addUser('nora');
    await makeAdministrator('nora');
    nowMs += 16 * minuteMs;
    await guessFrom(5);
    expect(await tryPassword('lola', password, '203.0.113.1')).toBe('unauthenticated');
  });

  test('strangers do not use up the sign-ins of the socket and of known addresses', async () => {
    signIn = openSignIn(store, clock);
    await begin('lola', '192.0.2.7');
    for (let from = 0; from < 40; from++) {
      for (let at = 0; at < 5; at++) await tryPassword('lola', 'wrong', `198.51.100.${from}`);
    }
    expect(await tryPassword('lola', password, '203.0.113.1')).toBe('resource_exhausted');
    expect(await tryPassword('lola', password, '')).toBe('user');
    expect(await tryPassword('lola', password, '192.0.2.7')).toBe('user');
  });

  test('wrong codes lock the account after five, wherever the answers come from', async () => {
    await makeAdministrator('lola');
    for (let at = 0; at < 5; at++) {
      const address = `198.51.100.${at}`;
      expect(await signIn.confirm('user-lola', 'wrong', address)).toBe(false);
    }
    expect(await tryPassword('lola', password, '203.0.113.1')).toBe('unauthenticated');
    expect(await tryPassword('lola', password, '')).toBe('user');
  });

  test('what is remembered of addresses is bounded, known ones stay', async () => {
    for (let at = 0; at < 12; at++) await begin('lola', `192.0.2.${at}`);
    for (let at = 0; at < 60; at++) await tryPassword('lola', 'wrong', `198.51.100.${at}`);
    const origins = store.get(credentials, 'user-lola')?.origins ?? [];
    expect(origins.filter(({ signedIn }) => signedIn)).toHaveLength(8);
    expect(origins.length).toBeLessThanOrEqual(40);
  });

  test('after five wrong passwords a right one is refused, however many come at once', async () => {
    for (let at = 0; at < 5; at++) await tryPassword('lola', `wrong password ${at}`);
    work.plain = password;
    const right = Array.from({ length: 1000 }, () => tryPassword('lola', password));
    expect(new Set(await Promise.all(right))).toEqual(new Set(['unauthenticated']));
    nowMs += 15 * minuteMs + 1;
    expect(await tryPassword('lola', password)).toBe('user');
  });

  test('the login limit lets ten attempts in a minute reach the password at all', async () => {
    signIn = openSignIn(store, clock);
    const guesses = Array.from({ length: 1000 }, () => tryPassword('lola', 'wrong password'));
    const results = await Promise.all(guesses);
    expect(results.filter((one) => one === 'resource_exhausted')).toHaveLength(990);
    expect(work.checks).toBe(10);
  });

  test('an address over its limit uses up no limit of users', async () => {
    signIn = openSignIn(store, clock);
    const from = (username: string, address: string) =>
      signIn
        .password({ username, password, address, remember: true })
        .then((result) => result.kind)
        .catch((error: { code?: string }) => error.code);
    for (let at = 0; at < 10; at++) await from(`nobody${at}`, '192.0.2.9');
    for (let at = 0; at < 20; at++) {
      expect(await from('lola', '192.0.2.9')).toBe('resource_exhausted');
    }
    expect(await from('lola', '192.0.2.10')).toBe('user');
    nowMs += minuteMs;
    expect(await from('lola', '192.0.2.9')).toBe('user');
  });

  test('a network of IPv6 addresses has the limit of one', async () => {
    signIn = openSignIn(store, clock);
    const from = (at: number, address: string) =>
      signIn
        .password({ username: `nobody${at}`, password, address, remember: true })
        .catch((error: { code?: string }) => error.code);
    const codes: unknown[] = [];
    for (let at = 0; at < 30; at++) codes.push(await from(at, `2001:db8:0:1::${at + 1}`));
    expect(codes.filter((one) => one === 'unauthenticated')).toHaveLength(10);
    expect(codes.filter((one) => one === 'resource_exhausted')).toHaveLength(20);
    expect(await from(99, '2001:db8:0:2::1')).toBe('unauthenticated');
  });

  test('a right password does not buy further codes', async () => {
    const { Secret } = await import('otpauth');
    const totp = {
      secret: new Secret({ size: 20 }).base32,
      confirmedAt: new Date(nowMs).toISOString(),
      lastStep: 0,
      recoverySha256: [],
    };
    await addUser('tess', { totp });
    let wrong = 0;
    for (let round = 0; round < 10; round++) {
      const given = { username: 'tess', password, address: '192.0.2.1', remember: true };
      const begun = await signIn.password(given).catch(() => null);
      if (begun?.kind !== 'challenge') break;
      const answered = await signIn.answer(begun.challenge, '000000', '').catch(() => null);
      expect(answered).toBeNull();
      wrong++;
    }
    expect(wrong).toBe(5);
  });
});

describe('equal work', () => {
  test.each([
    ['an unknown user', 'nobody', 'some wrong password'],
    ['a known user with a wrong password', 'lola', 'some wrong password'],
    ['a user without a password', 'sso', 'some wrong password'],
    ['a locked user with the right password', 'locked', password],
    ['a user who is locked out', 'out', password],
  ])('%s costs one password check and one audit row', async (_name, username, given) => {
    await addUser('sso', { passwordHash: '' });
    await addUser('out', { lockedUntil: new Date(nowMs + minuteMs).toISOString() });
    await addUser('locked');
    await store.write((tx) => {
      const user = tx.get(users, 'user-locked');
      if (user !== undefined) tx.put(users, { ...user, locked: true });
    });
    const rows = [...store.auditRows()].length;
    work.verified = 0;
    expect(await tryPassword(username, given)).toBe('unauthenticated');
    expect(work.verified).toBe(1);
    expect([...store.auditRows()].length - rows).toBe(1);
  });
});

describe('what was proved', () => {
  const openAll = async () => {
    const tokens = await openAccessTokens(store, clock);
    const times = () => ({ accessMs: 8 * 60 * minuteMs, refreshMs: 7 * dayMs });
    return openSessions(store, tokens, clock, times);
  };
  const how = { address: '', method: 'password', remember: true };
  const prove = async () => {
    const given = { username: 'lola', password, address: '', remember: true };
    const result = await signIn.password(given);
    if (result.kind !== 'user') throw new Error('a challenge');
    return result.proof;
  };

  test('is void when sessions were ended before the session began', async () => {
    const service = await openAll();
    const proof = await prove();
    await store.write((tx) => {
      const credential = tx.get(credentials, 'user-lola');
      if (credential !== undefined) tx.put(credentials, { ...credential, sessionEpoch: 2 });
    });
    await expect(service.begin(proof, how)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(store.list(sessions)).toHaveLength(0);
  });

  test('a replayed refresh token ends the family', async () => {
    const service = await openAll();
    const first = await service.begin(await prove(), how);
    const second = await service.refresh(first.refreshToken);
    const third = await service.refresh(second.refreshToken);
    expect(await service.callerOf(third.accessToken, '')).not.toBeNull();
    await expect(service.refresh(first.refreshToken)).rejects.toMatchObject({
      code: 'unauthenticated',
    });
    await expect(service.refresh(third.refreshToken)).rejects.toMatchObject({
      code: 'unauthenticated',
    });
    for (const { accessToken } of [first, second, third]) {
      expect(await service.callerOf(accessToken, '')).toBeNull();
    }
    expect([...store.auditRows()].some((row) => row.action === 'session_ended')).toBe(true);
  });

  test('of two parallel refreshes with one token at most one is answered', async () => {
    const service = await openAll();
    const { refreshToken } = await service.begin(await prove(), how);
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => service.refresh(refreshToken)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(store.list(sessions)).toHaveLength(0);
  });

  test('tokens and sessions end in time', async () => {
    const service = await openAll();
    const issued = await service.begin(await prove(), how);
    nowMs += 8 * 60 * minuteMs;
    expect(await service.callerOf(issued.accessToken, '')).toBeNull();
    nowMs += 7 * dayMs;
    await expect(service.refresh(issued.refreshToken)).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });
});

describe('signing keys', () => {
  const claims = { userId: 'user-lola', sessionId: 'session' };

  test('are replaced after a month; tokens of the old key stay good until they end', async () => {
    const tokens = await openAccessTokens(store, clock);
    const early = await tokens.issue(claims, nowMs + dayMs);
    expect(await tokens.verify(early)).toEqual(claims);
    nowMs += 30 * dayMs - minuteMs;
    const old = await tokens.issue(claims, nowMs + dayMs);
    nowMs += 2 * minuteMs;
    const [fresh] = await Promise.all(
      Array.from({ length: 5 }, () => tokens.issue(claims, nowMs + dayMs)),
    );
    const kid = (token = ''): unknown =>
      JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
    expect(kid(fresh)).not.toBe(kid(old));
    expect(await tokens.verify(old)).toEqual(claims);
    expect(await tokens.verify(fresh ?? '')).toEqual(claims);
    expect(store.list(keys)).toHaveLength(2);
    expect(await (await openAccessTokens(store, clock)).verify(old)).toEqual(claims);
    nowMs += 30 * dayMs + 2 * minuteMs;
    await tokens.issue(claims, nowMs + dayMs);
    expect(store.list(keys)).toHaveLength(2);
    expect(await tokens.verify(old)).toBeNull();
  });

  test('forged tokens are refused', async () => {
    const tokens = await openAccessTokens(store, clock);
    const good = await tokens.issue(claims, nowMs + dayMs);
    const [head = '', body = '', signature = ''] = good.split('.');
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string };
    const other = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), sub: 'user-admin' };
    for (const forged of [
      `${head}.${encode(other)}.${signature}`,
      `${encode({ alg: 'none', kid })}.${body}.`,
      `${encode({ alg: 'HS256', kid })}.${body}.${signature}`,
      `${encode({ alg: 'EdDSA', kid: 'token-0' })}.${body}.${signature}`,
      `${head}.${body}.`,
      'no token',
      '',
    ]) {
      expect(await tokens.verify(forged)).toBeNull();
    }
    expect(await tokens.verify(good)).toEqual(claims);
  });
});
