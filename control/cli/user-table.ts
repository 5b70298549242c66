/** Owns how users look in a table, and finding the user or role that an operator names. */

import { AppError } from '../../engine/base/errors.ts';
import type { Role } from '../../proto/gen/waf/v1/role_pb.ts';
import type { User } from '../../proto/gen/waf/v1/user_pb.ts';
import type { ApiClient } from './api-client.ts';
import type { Table } from './output.ts';
import { timeText } from './show.ts';

const pageSize = 200;

/** One row a user. */
export function userTable(users: readonly User[]): Table {
  return {
    columns: ['ID', 'USER', 'NAME', 'MAIL', 'ROLES', 'STATE', 'TOTP', 'PROVIDERS', 'LAST LOGIN'],
    rows: users.map((user) => [
      user.id,
      user.username,
      user.displayName,
      user.email,
      user.roles.map((role) => role.name).join(', '),
      user.locked ? 'locked' : 'open',
      user.totpEnabled ? 'on' : 'off',
      user.externalProviders.join(' '),
      timeText(user.lastLoginAt),
    ]),
  };
}

/** Id of the user with this name or id. Errors: AppError not_found. */
export async function findUserId({ users }: ApiClient, named: string): Promise<string> {
  const { items } = await users.listUsers({ query: named, page: { page: 1, pageSize } });
  const wanted = named.toLowerCase();
  const found = items.find((one) => one.username.toLowerCase() === wanted);
  if (found !== undefined) return found.id;
  if (isId(named)) return named;
  throw new AppError('not_found', 'no user has this name; see waf user list', { source: 'client' });
}

/** Id of the role with this name or id. Errors: AppError not_found. */
export async function findRoleId({ roles }: ApiClient, named: string): Promise<string> {
  const found = await findRole(roles, named);
  if (found !== undefined) return found.id;
  if (isId(named)) return named;
  throw new AppError('not_found', 'no role has this name; see waf role list', { source: 'client' });
}

async function findRole(roles: ApiClient['roles'], named: string): Promise<Role | undefined> {
  const { items } = await roles.listRoles({ query: named, page: { page: 1, pageSize } });
  return items.find((one) => one.name.toLowerCase() === named.toLowerCase());
}

/** Ids that the service gave hold no blank; names may. */
function isId(text: string): boolean {
  return /^(?:user|role)-[\w-]+$/.test(text);
}
