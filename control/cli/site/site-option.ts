/** Changes what a setting of the deployment chooses for a site, and shows it. */

import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition } from '../command.ts';
import { textFlag } from '../command.ts';
import { withListeners } from '../listeners.ts';
import { nameArgument } from '../named-resource.ts';

/** A setting of the deployment that chooses for sites; its standard is the first choice. */
interface SiteOption {
  readonly key: string;
  readonly choices: readonly string[];
}

/** Stands in such settings for all sites that are not named. */
const everySite = '*';

/** A command that shows what one of the settings chooses for a site, or changes it. */
export interface SiteOptionCommand {
  readonly path: readonly string[];
  readonly option: SiteOption;
  readonly summary: string;
  readonly help: string;
  /** Name of the flag, without hyphens. */
  readonly flag: string;
  readonly flagSummary: string;
  /** One line to try, and what it answers. */
  readonly tryLine: (site: Site, choice: string) => string;
}

/** The command of a setting. */
export function siteOptionCommand(of: SiteOptionCommand): CommandDefinition {
  return {
    path: of.path,
    summary: of.summary,
    help: of.help,
    arguments: [nameArgument('site')],
    flags: [
      { flags: `--${of.flag} <choice>`, summary: of.flagSummary, choices: of.option.choices },
    ],
    published: true,
    run: async (context, [id = ''], flags) => {
      const { sites } = await context.api();
      const { site } = await sites.getSite({ id });
      const choice = textFlag(flags, of.flag);
      await changeAndShow(context, of.option, id, choice);
      const present = choiceOf(await settingsNow(context), of.option, id);
      if (site !== undefined) {
        context.output.note(withListeners(context.options, of.tryLine(site, present)));
      }
      return 0;
    },
  };
}

async function settingsNow(context: CommandContext): Promise<Readonly<Record<string, unknown>>> {
  const { settings } = await (await context.api()).system.getSystemSettings({});
  return (settings?.values ?? {}) as Readonly<Record<string, unknown>>;
}

/** Changes the choice, unless none is given, and prints the setting. */
async function changeAndShow(
  context: CommandContext,
  option: SiteOption,
  siteId: string,
  choice: string | undefined,
): Promise<void> {
  const { system } = await context.api();
  if (choice !== undefined) {
    await againWhenChanged(async () => {
      const { settings } = await system.getSystemSettings({});
      const present = settings?.values?.[option.key] ?? {};
      const values = { [option.key]: { ...(present as object), [siteId]: choice } };
      const expectedUpdatedAt = readAt(settings?.updatedAt);
      await system.updateSystemSettings({ values: values as never, expectedUpdatedAt });
    });
  }
  const values = await settingsNow(context);
  const chosen = (values[option.key] ?? {}) as Readonly<Record<string, string>>;
  context.output.result(
    { [option.key]: chosen },
    {
      columns: ['SETTING', 'VALUE'],
      rows: [
        [option.key, choiceOf(values, option, siteId)],
        ['sites not named', chosen[everySite] ?? option.choices[0]!],
      ],
    },
  );
}

/** What the setting chooses for a site. */
function choiceOf(
  values: Readonly<Record<string, unknown>>,
  { key, choices }: SiteOption,
  siteId: string,
): string {
  const chosen = (values[key] ?? {}) as Readonly<Record<string, string>>;
  return chosen[siteId] ?? chosen[everySite] ?? choices[0]!;
}
