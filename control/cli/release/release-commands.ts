/** `waf release`: signed releases of the program. */

import { readFileSync, statSync } from 'node:fs';
import type { ArgumentDefinition, CommandDefinition } from '../command.ts';
import { textFlag } from '../command.ts';
import { badFlag, readInput, unreadableText } from '../input.ts';
import { waitFor } from '../policy-progress.ts';
import { callCommand, deleteCommand, listCommand } from '../regular-commands.ts';
import { only, showMessage } from '../show.ts';
import { releaseTable } from './release-table.ts';
import { showUpdates, updateFlags, updateHelp } from './update.ts';

const releaseArgument: readonly ArgumentDefinition[] = [
  { name: '<release>', summary: 'id, for example release-1.2.3-linux-x64' },
];
/** Above the bound that the service has, so that the service says what is wrong. */
const signatureBytesMax = 65_536;

/** Commands on releases. */
export const releaseCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['release', 'list'],
    summary: 'List imported releases, newest import first',
    call: ({ system }, { page }) => system.listBinaryReleases({ page }),
    table: releaseTable,
  }),
  callCommand({
    path: ['release', 'show'],
    summary: 'Show one imported release',
    arguments: releaseArgument,
    call: ({ system }, [id = '']) => system.getBinaryRelease({ id }),
    table: ({ release }) => releaseTable(only(release)),
  }),
  {
    path: ['release', 'import'],
    summary: 'Import a release that a trusted key signed',
    help:
      'The setting release.trusted_keys names the minisign public keys that may sign. A request\n' +
      'takes 16 MiB: give a larger release by --url. Nothing is kept unless the signature is right.\n' +
      'Example: waf release import --url https://example.com/waf-1.2.3.tar.gz',
    arguments: [{ name: '[archive]', summary: '.tar.gz' }],
    flags: [
      { flags: '--url <url>', summary: 'fetch the archive from here' },
      {
        flags: '--signature <file>',
        summary: 'signature; default is the name of the archive with .minisig',
      },
    ],
    run: async (context, [path], flags) => {
      const sourceUrl = textFlag(flags, 'url') ?? '';
      if ((path === undefined) === (sourceUrl === '')) throw badFlag('give an archive or --url');
      const file = textFlag(flags, 'signature') ?? (path === undefined ? '' : `${path}.minisig`);
      const signature = file === '' ? '' : readSignatureFile(file);
      const tarball = path === undefined ? new Uint8Array() : readInput(path);
      const { system } = await context.api();
      const response = await waitFor(context, 'Importing the release', (options) =>
        system.importBinaryRelease({ tarball, sourceUrl, signature }, options),
      );
      return showMessage(context, response, releaseTable(only(response.release)));
    },
  },
  {
    path: ['release', 'check'],
    summary: 'Show releases that are newer than the running program; the same as waf update',
    help: updateHelp,
    flags: updateFlags,
    run: showUpdates,
  },
  deleteCommand({
    path: ['release', 'delete'],
    summary: 'Remove an imported release and its file',
    arguments: releaseArgument,
    kind: 'release',
    call: ({ system }, id) => system.deleteBinaryRelease({ id }),
  }),
];

/** Errors: AppError bad_flag. */
function readSignatureFile(path: string): string {
  try {
    if (statSync(path).size <= signatureBytesMax) return readFileSync(path, 'latin1');
  } catch (error) {
    throw badFlag(`${unreadableText(path, error)}; name the signature by --signature`);
  }
  throw badFlag(`${path} is larger than ${signatureBytesMax} bytes; it is no signature`);
}
