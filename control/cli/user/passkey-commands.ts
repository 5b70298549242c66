/** `waf passkey ...`: the caller's passkeys. A browser registers them, in the console. */

import type { Passkey } from '../../../proto/gen/waf/access/v1/passkey_pb.ts';
import type { CommandDefinition } from '../command.ts';
import { callCommand } from '../regular-commands.ts';
import { timeText } from '../show.ts';

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
  callCommand({
    path: ['passkey', 'rename'],
    summary: 'Give a passkey another name',
    arguments: [idArgument, { name: '<name>', summary: 'the new name' }],
    call: ({ passkeys }, [id = '', name = '']) => passkeys.renamePasskey({ id, name }),
    table: (response) => ({
      columns,
      rows: response.passkey === undefined ? [] : [rowOf(response.passkey)],
    }),
  }),
  callCommand({
    path: ['passkey', 'remove'],
    summary: 'Remove a passkey: it signs nobody in any more',
    arguments: [idArgument],
    call: ({ passkeys }, [id = '']) => passkeys.removePasskey({ id }),
    table: (response, [id = '']) => ({
      columns: ['PASSKEY', 'REMOVED'],
      rows: [[id, response.removed ? 'yes' : 'no']],
    }),
  }),
];

function rowOf({ id, name, host, createdAt, lastUsedAt, synced }: Passkey): string[] {
  return [id, name, host, timeText(createdAt), timeText(lastUsedAt), synced ? 'yes' : 'no'];
}
