/** How users look in a table. */

import type { User } from '../../../proto/gen/waf/v1/user_pb.ts';
import type { Table } from '../output.ts';
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
