/** How users look in a table, and finding the user or role that an operator names. */

import type { User } from '../../../proto/gen/waf/v1/user_pb.ts';
import type { ApiClient } from '../api-client.ts';
import type { Table } from '../output.ts';
import { resolveName } from '../resolve-names.ts';
import { timeText } from '../show.ts';

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

/** Id of the user with this name or id. Errors: as resolveName. */
export function findUserId(api: ApiClient, named: string): Promise<string> {
  return resolveName(api, 'user', named);
}

/** Id of the role with this name or id. Errors: as resolveName. */
export function findRoleId(api: ApiClient, named: string): Promise<string> {
  return resolveName(api, 'role', named);
}
