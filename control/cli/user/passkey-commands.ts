/** `waf passkey ...`: the caller's passkeys. A browser registers them, in the console. */

import type { Passkey } from '../../../proto/gen/waf/access/v1/passkey_pb.ts';
import type { CommandDefinition } from '../command.ts';
import { callCommand } from '../regular-commands.ts';
import { showMessage, timeText } from '../show.ts';

const columns = ['ID', 'NAME', 'HOST', 'SINCE', 'LAST USED', 'SYNCED'];
const idArgument = { name: '<id>', summary: 'id of the passkey; see passkey list' };

/** Commands on passkeys. */
export const passkeyCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['passkey', 'list'],
    summary: 'List your passkeys',
    help: 'Add one in the console, on the page of your account.',
    call: ({ passkeys }) => passkeys.listPasskeys({}),
    table: ({ items }) => ({ columns, rows: items.map(rowOf) }),
  }),
  {
    path: ['passkey', 'rename'],
    summary: 'Give a passkey another name',
    arguments: [idArgument, { name: '<name>', summary: 'the new name' }],
    run: async (context, [id = '', name = '']) => {
      const { passkeys } = await context.api();
      const response = await passkeys.renamePasskey({ id, name });
      const rows = response.passkey === undefined ? [] : [rowOf(response.passkey)];
      return showMessage(context, response, { columns, rows });
    },
  },
  {
    path: ['passkey', 'remove'],
    summary: 'Remove a passkey: it signs nobody in any more',
    arguments: [idArgument],
    run: async (context, [id = '']) => {
      const { passkeys } = await context.api();
      const response = await passkeys.removePasskey({ id });
      return showMessage(context, response, {
        columns: ['PASSKEY', 'REMOVED'],
        rows: [[id, response.removed ? 'yes' : 'no']],
      });
    },
  },
];

function rowOf({ id, name, host, createdAt, lastUsedAt, synced }: Passkey): string[] {
  return [id, name, host, timeText(createdAt), timeText(lastUsedAt), synced ? 'yes' : 'no'];
}
