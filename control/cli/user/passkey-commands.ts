/** `waf passkey ...`: the caller's passkeys. A browser registers them, in the console. */

import type { Passkey } from '../../../proto/gen/waf/access/v1/passkey_pb.ts';
import type { CommandDefinition } from '../command.ts';
import { showMessage, timeText } from '../show.ts';

const columns = ['ID', 'NAME', 'HOST', 'SINCE', 'LAST USED', 'SYNCED'];
const idArgument = { name: '<id>', summary: 'id of the passkey; see passkey list' };

/** Commands on passkeys. */
export const passkeyCommands: readonly CommandDefinition[] = [
  {
    path: ['passkey', 'list'],
    summary: 'List your passkeys',
    help: 'Add one in the console, on the page of your account.',
    arguments: [],
    flags: [],
    run: async (context) => {
      const { passkeys } = await context.api();
      const response = await passkeys.listPasskeys({});
      await showMessage(context, response, { columns, rows: response.items.map(rowOf) });
      return 0;
    },
  },
  {
    path: ['passkey', 'rename'],
    summary: 'Give a passkey another name',
    help: '',
    arguments: [idArgument, { name: '<name>', summary: 'the new name' }],
    flags: [],
    run: async (context, [id = '', name = '']) => {
      const { passkeys } = await context.api();
      const response = await passkeys.renamePasskey({ id, name });
      const rows = response.passkey === undefined ? [] : [rowOf(response.passkey)];
      await showMessage(context, response, { columns, rows });
      return 0;
    },
  },
  {
    path: ['passkey', 'remove'],
    summary: 'Remove a passkey: it signs nobody in any more',
    help: '',
    arguments: [idArgument],
    flags: [],
    run: async (context, [id = '']) => {
      const { passkeys } = await context.api();
      const response = await passkeys.removePasskey({ id });
      await showMessage(context, response, {
        columns: ['PASSKEY', 'REMOVED'],
        rows: [[id, response.removed ? 'yes' : 'no']],
      });
      return 0;
    },
  },
];

function rowOf({ id, name, host, createdAt, lastUsedAt, synced }: Passkey): string[] {
  return [id, name, host, timeText(createdAt), timeText(lastUsedAt), synced ? 'yes' : 'no'];
}
