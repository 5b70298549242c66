/** Tests which sessions people see and end, over the API. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

const password = 'a long passphrase 42';
let waf: TestControl;
const tokens = new Map<string, string>();

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  for (const [username, id] of [
    ['boss', 'role-administrator'],
    ['anna', 'role-waf-operator'],
    ['carl', 'role-waf-operator'],
  ] as const) {
    const user = { username, roles: [{ id }] };
    await made('UserService/CreateUser', { user, password });
    tokens.set(username, await signIn(username));
  }
});
afterAll(() => waf.control.close());

async function made(rpc: string, body: object, as?: string): Promise<Record<string, unknown>> {
  const way = as === undefined ? {} : { token: tokens.get(as) ?? as };
  const answer = await waf.call(rpc, body, way);
  expect([rpc, answer.status, answer.body['message']]).toEqual([rpc, 200, undefined]);
  return answer.body;
}

async function signIn(username: string): Promise<string> {
  const { body } = await waf.call('AuthService/Login', { username, password }, { network: true });
  return String(body['accessToken']);
}

interface Shown {
  readonly id: string;
  readonly username: string;
  readonly current?: boolean;
}

const service = 'waf.access.v1.SessionService';
const list = async (as: string, body: object = {}): Promise<Shown[]> =>
  ((await made(`${service}/ListSessions`, body, as))['items'] ?? []) as Shown[];
const end = async (as: string, id: string) =>
  (await waf.call(`${service}/EndSession`, { id }, { token: tokens.get(as) ?? as })).body['code'];
const works = async (token: string): Promise<boolean> =>
  (await waf.call('AuthService/GetUserInfo', {}, { token })).status === 200;

test('people see their own sessions, with address and way, and which one asks', async () => {
  const second = await signIn('anna');
  const found = await list('anna');
  expect(found).toMatchObject([
    { username: 'anna', address: '127.0.0.1', method: 'password' },
    { username: 'anna', address: '127.0.0.1', method: 'password', current: true },
  ]);
  expect((await list(second)).map(({ current }) => current === true)).toEqual([true, false]);
});

test('people end a session of theirs, and it is refused at once', async () => {
  const other = await signIn('anna');
  const { id } = (await list(other)).find(({ current }) => current === true)!;
  expect(await end('anna', id)).toBeUndefined();
  expect(await works(other)).toBe(false);
  expect(await works(tokens.get('anna')!)).toBe(true);
  expect(await end('anna', id)).toBe('not_found');
});

test('without user:read nobody sees the sessions of others, without user:write nobody ends them', async () => {
  const all = await waf.call(
    `${service}/ListSessions`,
    { allUsers: true },
    { token: tokens.get('anna')! },
  );
  expect(all.body['code']).toBe('permission_denied');
  const [carl] = await list('carl');
  expect(await end('anna', carl!.id)).toBe('not_found');
  expect(await works(tokens.get('carl')!)).toBe(true);
});

test('an administrator sees and ends sessions of others, under the own name', async () => {
  const found = await list('boss', { allUsers: true });
  expect(new Set(found.map(({ username }) => username))).toEqual(new Set(['boss', 'anna', 'carl']));
  const carl = found.find(({ username }) => username === 'carl')!;
  expect(await end('boss', carl.id)).toBeUndefined();
  expect(await works(tokens.get('carl')!)).toBe(false);
  const { items } = await made('AuditService/QueryAudit', {
    page: { pageSize: 1 },
    action: 'session_ended',
  });
  expect(items).toMatchObject([{ actorName: 'boss', resourceName: 'carl' }]);
});

test('who may write users ends no session of a user who holds more', async () => {
  const role = { name: 'helpdesk', permissions: ['user:read', 'user:write'] };
  const { role: stored } = await made('RoleService/CreateRole', { role });
  const user = { username: 'desk', roles: [{ id: (stored as { id: string }).id }] };
  await made('UserService/CreateUser', { user, password });
  tokens.set('desk', await signIn('desk'));
  const boss = (await list('desk', { allUsers: true })).find(({ username }) => username === 'boss');
  expect(await end('desk', boss!.id)).toBe('permission_denied');
});

test('an API token sees and ends no session', async () => {
  const { secret } = await made(
    'waf.access.v1.TokenService/CreateApiToken',
    { name: 'all', roleId: 'role-administrator', noExpiry: true },
    'boss',
  );
  const answer = await waf.call(`${service}/ListSessions`, {}, { token: String(secret) });
  expect(answer.body['code']).toBe('permission_denied');
  const [own] = await list('boss');
  expect(await end(String(secret), own!.id)).toBe('permission_denied');
});

test('a well-known password is refused wherever one is set', async () => {
  const known = 'Password2026!';
  const user = { username: 'weak', roles: [] };
  const created = await waf.call('UserService/CreateUser', { user, password: known });
  expect(created.body['message']).toMatch(/^password: is a common password/);
  const change = { currentPassword: password, newPassword: known };
  const changed = await waf.call('AuthService/ChangePassword', change, {
    token: tokens.get('anna')!,
  });
  expect(changed.body['message']).toMatch(/^newPassword: is a common password/);
  const { items } = await made('UserService/ListUsers', { query: 'anna' });
  const userId = (items as { id: string }[])[0]!.id;
  const reset = await waf.call('UserService/ResetPassword', { userId, password: known });
  expect(reset.body['message']).toMatch(/^password: is a common password/);
});
