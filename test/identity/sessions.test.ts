/** Sessions over the API: cookies, rotation, what ends them, limits, menus. */

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestControl, type Answer, type TestControl } from '../support/test-control.ts';

let waf: TestControl;
const password = 'correct horse battery';
let users = 0;

beforeAll(async () => {
  waf = await startTestControl();
});
afterEach(() => void vi.useRealTimers());
afterAll(() => waf.control.close());

interface User {
  readonly id: string;
  readonly username: string;
}

/** A new user, so that no test meets the limits of another. */
async function addUser(more: object = {}): Promise<User> {
  const username = `user${++users}`;
  const { body } = await waf.call('UserService/CreateUser', {
    user: { username, ...more },
    password,
  });
  return { id: (body['user'] as { id: string }).id, username };
}
const login = ({ username }: User, more: object = {}): Promise<Answer> =>
  waf.call('AuthService/Login', { username, password, ...more });
const tokenOf = ({ body }: Answer): string => String(body['accessToken']);
const cookieOf = ({ cookie }: Answer): string => cookie.split(';')[0] ?? '';
const isAlive = async (token: string): Promise<boolean> =>
  (await waf.call('AuthService/GetUserInfo', {}, { token })).status === 200;
const refresh = (cookie: string): Promise<Answer> =>
  waf.call('AuthService/Refresh', {}, { cookie });

describe('cookies', () => {
  test('the refresh token is out of the reach of scripts and of other sites', async () => {
    const user = await addUser();
    const answer = await login(user, { remember: true });
    expect(answer.cookie).toMatch(/^waf_refresh=[\w.-]{50,}; Expires=[^;]+; /);
    expect(answer.cookie).toMatch(/; Path=\/waf\.v1\.AuthService; HttpOnly; SameSite=Strict$/);
    expect(answer.text).not.toContain(cookieOf(answer).slice('waf_refresh='.length));
    const days =
      (Date.parse(/Expires=([^;]+)/.exec(answer.cookie)?.[1] ?? '') - Date.now()) / 86.4e6;
    expect(days).toBeGreaterThan(6.9);
    const short = await login(user);
    expect(short.cookie).not.toContain('Expires');
    const rotated = await refresh(cookieOf(short));
    expect(rotated.cookie).toMatch(/^waf_refresh=/);
    expect(rotated.cookie).not.toContain('Expires');
    const out = await waf.call('AuthService/Logout', {}, { cookie: cookieOf(rotated) });
    expect(out.cookie).toMatch(/^waf_refresh=; Max-Age=0; /);
  });

  test('they are Secure where the listener speaks TLS', async () => {
    const secured = await startTestControl({ managementTls: 'own' });
    try {
      const asked = { username: 'admin', password: secured.password };
      const { cookie } = await secured.call('AuthService/Login', asked);
      expect(cookie).toMatch(/; HttpOnly; SameSite=Strict; Secure$/);
    } finally {
      await secured.control.close();
    }
  });

  test('a form of another site does nothing', async () => {
    const answer = await login(await addUser());
    const { request } = await import('node:http');
    const send = (headers: Record<string, string>): Promise<number> =>
      new Promise((resolve) => {
        const asked = request({
          host: '127.0.0.1',
          port: waf.control.managementPort,
          method: 'POST',
          path: '/waf.v1.AuthService/Logout',
          headers: { cookie: cookieOf(answer), ...headers },
        });
        asked.on('response', (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        asked.end('{}');
      });
    expect(await send({ 'content-type': 'text/plain' })).toBe(415);
    expect(await send({ 'content-type': 'application/x-www-form-urlencoded' })).toBe(415);
    const json = { 'content-type': 'application/json' };
    expect(await send({ ...json, origin: 'https://evil.example' })).toBe(403);
    expect(await isAlive(tokenOf(answer))).toBe(true);
    expect(await send(json)).toBe(200);
    expect(await isAlive(tokenOf(answer))).toBe(false);
  });
});

describe('a session ends', () => {
  const ends: [string, (user: User) => Promise<Answer>][] = [
    [
      'when the password is set',
      ({ id }) =>
        waf.call('UserService/ResetPassword', { userId: id, password: 'another password' }),
    ],
    ['when the user is locked', ({ id }) => waf.call('UserService/LockUser', { userId: id })],
    [
      'when roles change',
      ({ id }) => waf.call('UserService/AssignRoles', { userId: id, roleIds: ['role-auditor'] }),
    ],
    [
      'when providers change',
      ({ id }) =>
        waf.call('UserService/UpdateUser', {
          user: { id, externalProviders: ['radius'] },
          updateMask: 'externalProviders',
        }),
    ],
    ['when the user is removed', ({ id }) => waf.call('UserService/DeleteUser', { id })],
  ];
  test.each(ends)('%s', async (_name, end) => {
    const user = await addUser();
    const answer = await login(user);
    expect(await isAlive(tokenOf(answer))).toBe(true);
    expect((await end(user)).status).toBe(200);
    expect(await isAlive(tokenOf(answer))).toBe(false);
    expect((await refresh(cookieOf(answer))).status).toBe(401);
  });

  test('when an old refresh cookie is replayed, with the whole family', async () => {
    const first = await login(await addUser());
    const second = await refresh(cookieOf(first));
    const third = await refresh(cookieOf(second));
    expect(third.status).toBe(200);
    expect((await refresh(cookieOf(first))).body['code']).toBe('unauthenticated');
    for (const one of [first, second, third]) {
      expect(await isAlive(tokenOf(one))).toBe(false);
      expect((await refresh(cookieOf(one))).status).toBe(401);
    }
  });

  test('by its bearer token when a program keeps no cookies', async () => {
    const token = tokenOf(await login(await addUser()));
    const out = await waf.call('AuthService/Logout', {}, { token });
    expect(out.body).toEqual({ loggedOut: true });
    expect(await isAlive(token)).toBe(false);
    expect((await waf.call('AuthService/Logout', {}, { network: true })).body).toEqual({});
  });

  test('with what was begun before: an open challenge', async () => {
    const user = await addUser();
    const [recovery = ''] = await enroll(user);
    const asked = await login(user);
    expect(asked.body['challengeRequired']).toBe(true);
    await waf.call('UserService/ResetPassword', { userId: user.id, password: 'another password' });
    const cookie = cookieOf(asked);
    const answer = { code: recovery };
    const entered = await waf.call('AuthService/CompleteAuthenticationChallenge', answer, {
      cookie,
    });
    expect(entered.status).toBe(401);
  });
});

/** Enrolls a second factor; resolves to the recovery codes. */
async function enroll(user: User): Promise<string[]> {
  const token = tokenOf(await login(user));
  const begun = await waf.call('AuthService/BeginTOTPEnrollment', {}, { token });
  const { secret, enrollmentToken } = begun.body as { secret: string; enrollmentToken: string };
  const { Secret, TOTP } = await import('otpauth');
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  const proof = { enrollmentToken, code };
  const { body } = await waf.call('AuthService/ConfirmTOTPEnrollment', proof, { token });
  return body['recoveryCodes'] as string[];
}

describe('limits', () => {
  test('1,000 parallel guesses reach the password ten times and lock the user', async () => {
    // All in one minute, however slow the machine.
    vi.useFakeTimers({ toFake: ['Date'] });
    const user = await addUser();
    const statuses: number[] = [];
    const guess = async (): Promise<void> => {
      const wrong = { username: user.username, password: 'wrong wrong wrong' };
      for (let at = 0; at < 20; at++) {
        statuses.push((await waf.call('AuthService/Login', wrong)).status);
      }
    };
    await Promise.all(Array.from({ length: 50 }, guess));
    const count = (wanted: number): number => statuses.filter((one) => one === wanted).length;
    expect([count(401), count(429)]).toEqual([10, 990]);
    const { body } = await waf.call('UserService/GetUser', { id: user.id });
    expect(body['user']).toMatchObject({ locked: true });
    const locked = await waf.call('UserService/ListUsers', { locked: true });
    expect(JSON.stringify(locked.body)).toContain(user.username);
    await waf.call('UserService/UnlockUser', { userId: user.id });
    const after = await waf.call('UserService/GetUser', { id: user.id });
    expect(JSON.stringify(after.body)).not.toContain('"locked"');
  });

  test('a stolen session does not get to guess codes', async () => {
    const user = await addUser();
    const [first = '', second = ''] = await enroll(user);
    const asked = await login(user);
    const entered = await waf.call(
      'AuthService/CompleteAuthenticationChallenge',
      { code: first },
      { cookie: cookieOf(asked) },
    );
    const token = tokenOf(entered);
    for (let at = 0; at < 5; at++) {
      const guess = { code: String(100_000 + at) };
      expect((await waf.call('AuthService/DisableTOTP', guess, { token })).status).toBe(403);
    }
    // Kept out now: even a right code does nothing.
    const right = await waf.call('AuthService/DisableTOTP', { code: second }, { token });
    expect(right.status).toBe(403);
  });
});

test('menus show what the caller may open', async () => {
  const paths = async (token: string): Promise<string[]> => {
    const { body } = await waf.call('MenuService/ListMenus', {}, { token });
    return ((body['menus'] ?? []) as { path: string }[]).map(({ path }) => path);
  };
  const nobody = tokenOf(await login(await addUser()));
  expect(await paths(nobody)).toEqual([]);
  const auditor = tokenOf(await login(await addUser({ roles: [{ id: 'role-auditor' }] })));
  expect(await paths(auditor)).toContain('/audit');
  const all = await waf.call('MenuService/ListMenus', {});
  const menus = all.body['menus'] as { path: string; meta: { order: number; title: string } }[];
  expect(menus.length).toBeGreaterThan(8);
  expect(new Set(menus.map(({ path }) => path)).size).toBe(menus.length);
  expect(menus.map(({ meta }) => meta.order)).toEqual(menus.map((_, at) => at + 1));
});

describe('the audit log', () => {
  test('pages by cursor without gaps or repeats', async () => {
    for (let at = 0; at < 5; at++) await addUser();
    const asked = { resourceType: 'user', action: 'create' };
    const all = await waf.call('AuditService/QueryAudit', { ...asked, page: { pageSize: 200 } });
    const ids = (answer: Answer): string[] =>
      (answer.body['items'] as { id: string }[]).map(({ id }) => id);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await waf.call('AuditService/QueryAudit', {
        ...asked,
        page: { pageSize: 3, cursor },
      });
      seen.push(...ids(page));
      cursor = (page.body['page'] as { nextCursor?: string }).nextCursor ?? '';
    } while (cursor !== '');
    expect(seen).toEqual(ids(all));
    const skipped = await waf.call('AuditService/QueryAudit', {
      ...asked,
      page: { offset: 2, pageSize: 2 },
    });
    expect(ids(skipped)).toEqual(seen.slice(2, 4));
    const both = await waf.call('AuditService/QueryAudit', {
      page: { offset: 1, cursor: seen[0] },
    });
    expect(both.body['code']).toBe('invalid_argument');
    const odd = await waf.call('AuditService/QueryAudit', { outcome: 'maybe' });
    expect(String(odd.body['message'])).toMatch(/^outcome: /);
  });

  test('filters by outcome, actor and time', async () => {
    const user = await addUser();
    await waf.call('AuthService/Login', { username: user.username, password: 'wrong wrong wrong' });
    const failed = await waf.call('AuditService/QueryAudit', {
      outcome: 'failure',
      actorId: user.id,
    });
    expect(failed.body).toMatchObject({ total: '1', items: [{ action: 'login_failed' }] });
    const actor = await waf.call('AuditService/QueryAudit', {
      actorQuery: user.username.toUpperCase(),
    });
    expect(actor.body['total']).toBe('1');
    const timeRange = { end: '2020-01-01T00:00:00Z' };
    expect(
      (await waf.call('AuditService/QueryAudit', { timeRange })).body['items'],
    ).toBeUndefined();
  });

  test('is verified as a whole while rows are written', async () => {
    let writing = true;
    let made = 0;
    const write = async (): Promise<void> => {
      while (writing) {
        await waf.call('RoleService/CreateRole', { role: { name: `Role ${++made}` } });
      }
    };
    const writers = Array.from({ length: 16 }, write);
    // More rows than are checked in one turn of the event loop.
    for (let checked = 0; checked < 600;) {
      const { body } = await waf.call('AuditService/VerifyChain', {});
      expect(body).toMatchObject({ healthy: true });
      checked = Number(body['checkedRows']);
    }
    writing = false;
    await Promise.all(writers);
  });
});
