/** A user of a test who may do some things alone. */

import type { TestControl } from './test-control.ts';

/** Creates a user with these permissions and signs in; gives the access token. */
export async function signInWith(
  waf: TestControl,
  permissions: readonly string[],
  roleName = 'Probe',
  username = 'anna',
): Promise<string> {
  const password = 'a long enough password';
  const { body } = await waf.call('RoleService/CreateRole', {
    role: { name: roleName, permissions },
  });
  const { id } = body['role'] as { id: string };
  const user = { username, roles: [{ id }] };
  await waf.call('UserService/CreateUser', { user, password });
  const way = { network: true };
  const login = await waf.call('AuthService/Login', { username, password }, way);
  return String(login.body['accessToken']);
}
