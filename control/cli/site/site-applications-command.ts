/** `waf site applications`: which known applications a site serves. */

import { againWhenChanged, readAt } from '../change-attempts.ts';
import {
  switchFlag,
  textFlag,
  type CommandContext,
  type CommandDefinition,
  type FlagValues,
} from '../command.ts';
import { badFlag } from '../input.ts';
import { nameArgument } from '../named-resource.ts';

const key = 'detection.applications';

/** The command. */
export const siteApplicationsCommand: CommandDefinition = {
  path: ['site', 'applications'],
  summary: 'Show or change which applications a site serves, so that their editors work',
  help:
    'Known applications send HTML, SQL or code in fields of their own. There, and only there,\n' +
    'the score does not count the signs of such content. A path after @ says where one lies.\n' +
    'Only for policies that decide by score; others use plugins: waf crs exclusion-use.\n' +
    'Example: waf site applications shop --names wordpress@/blog,grafana',
  arguments: [nameArgument('site')],
  flags: [
    { flags: '--names <list>', summary: 'names, comma-joined, each with @ and a path or not' },
    { flags: '--none', summary: 'serves none of them' },
  ],
  published: true,
  run: async (context, [siteId = ''], flags) => {
    await changeApplications(context, siteId, flags);
    return 0;
  },
};

/** Changes the list where a flag names one, and prints it. Errors: bad_flag, invalid_argument. */
async function changeApplications(
  context: CommandContext,
  siteId: string,
  flags: FlagValues,
): Promise<void> {
  const names = textFlag(flags, 'names');
  const none = switchFlag(flags, 'none');
  if (names !== undefined && none) throw badFlag('--names and --none exclude each other');
  const wanted = none ? '' : names;
  if (wanted !== undefined) await setApplications(context, siteId, wanted);
  const { system } = await context.api();
  const { settings } = await system.getSystemSettings({});
  const chosen = (settings?.values?.[key] ?? {}) as Readonly<Record<string, string>>;
  const shown = chosen[siteId] ?? chosen['*'] ?? '';
  context.output.result(
    { [key]: chosen },
    { columns: ['SETTING', 'VALUE'], rows: [[key, shown === '' ? 'none' : shown]] },
  );
}

/** Sets the list of a site; '' for none. Errors: invalid_argument for an unknown name. */
export async function setApplications(
  context: CommandContext,
  siteId: string,
  names: string,
): Promise<void> {
  const { system } = await context.api();
  await againWhenChanged(async () => {
    const { settings } = await system.getSystemSettings({});
    const present = (settings?.values?.[key] ?? {}) as Readonly<Record<string, string>>;
    const { [siteId]: _before, ...others } = present;
    const value = names === '' ? others : { ...others, [siteId]: names };
    const expectedUpdatedAt = readAt(settings?.updatedAt);
    await system.updateSystemSettings({ values: { [key]: value } as never, expectedUpdatedAt });
  });
}
