/** `waf update`: releases that are newer than the running program, and how to get them. */

import {
  textFlag,
  type CommandContext,
  type CommandDefinition,
  type FlagDefinition,
  type FlagValues,
} from '../command.ts';
import { releaseTable } from './release-table.ts';
import { printable, showMessage } from '../show.ts';

/** Flags of commands that look for newer releases. */
export const updateFlags: readonly FlagDefinition[] = [
  {
    flags: '--channel <channel>',
    summary: 'stable or prerelease',
    default: 'stable',
    choices: ['stable', 'prerelease'],
  },
];

/** What is asked, and what is not done. */
export const updateHelp =
  'Asks the signed index that the setting release.index_url names; without it nobody is asked and\n' +
  'only imported releases are shown. Nothing is downloaded: waf release import does that, and\n' +
  'waf release apply puts a release on nodes. waf release index makes an index.';

/** The command. */
export const updateCommand: CommandDefinition = {
  path: ['update'],
  summary: 'Show releases that are newer than the running program',
  help: updateHelp,
  flags: updateFlags,
  run: showUpdates,
};

/** Shows what CheckForUpdates answers, then what to do next. */
export async function showUpdates(
  context: CommandContext,
  _args: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { system } = await context.api();
  const response = await system.checkForUpdates({ channel: textFlag(flags, 'channel') ?? '' });
  const { releases, status, channel } = response;
  await showMessage(context, response, releaseTable(releases));
  context.output.note(adviceOf(status, channel));
  for (const { sourceUrl } of releases.filter((one) => one.sourceUrl !== '')) {
    context.output.note(`Import it: waf release import --url ${printable(sourceUrl)}`);
  }
  return 0;
}

function adviceOf(status: string, channel: string): string {
  if (status === 'available') return `A newer release of the channel ${channel} is available.`;
  if (status === 'current') return `This program is the newest of the channel ${channel}.`;
  if (status === 'no_release') return `The index has no ${channel} release for this machine.`;
  return 'No index is asked: waf system settings-set --set release.index_url=https://…';
}
