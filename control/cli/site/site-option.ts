/** Changes what a setting of the deployment chooses for a site, and shows it. */

import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import {
  choicesOf,
  chosenFor,
  everySite,
  type SiteOption,
} from '../../domain/site/site-choices.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition } from '../command.ts';
import { textFlag } from '../command.ts';
import { withListeners } from '../listeners.ts';
import { nameArgument } from '../named-resource.ts';

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
  const { option } = of;
  return {
    path: of.path,
    summary: of.summary,
    help: of.help,
    arguments: [nameArgument('site')],
    flags: [{ flags: `--${of.flag} <choice>`, summary: of.flagSummary, choices: option.choices }],
    published: true,
    run: async (context, [id = ''], flags) => {
      const { sites } = await context.api();
      const { site } = await sites.getSite({ id });
      const choice = textFlag(flags, of.flag);
      if (choice !== undefined) await chooseForSite(context, option, id, choice);
      const values = await settingsNow(context);
      const chosen = choicesOf(values, option.key);
      const present = chosenFor(values, option, id);
      const others = chosen[everySite] ?? option.choices[0]!;
      context.output.result(
        { [option.key]: chosen },
        {
          columns: ['SETTING', 'VALUE'],
          rows: [
            [option.key, present],
            ['sites not named', others],
          ],
        },
      );
      if (site !== undefined) {
        context.output.note(withListeners(context.options, of.tryLine(site, present)));
      }
      return 0;
    },
  };
}

/** The values of all settings. */
export async function settingsNow(
  context: CommandContext,
): Promise<Readonly<Record<string, unknown>>> {
  const { settings } = await (await context.api()).system.getSystemSettings({});
  return (settings?.values ?? {}) as Readonly<Record<string, unknown>>;
}

/** Chooses for a site; '' leaves it to what holds for all others. Errors: invalid_argument. */
export async function chooseForSite(
  context: CommandContext,
  { key }: SiteOption,
  siteId: string,
  choice: string,
): Promise<void> {
  const { system } = await context.api();
  await againWhenChanged(async () => {
    const { settings } = await system.getSystemSettings({});
    const { [siteId]: _before, ...others } = choicesOf(settings?.values ?? {}, key);
    const chosen = choice === '' ? others : { ...others, [siteId]: choice };
    const expectedUpdatedAt = readAt(settings?.updatedAt);
    await system.updateSystemSettings({ values: { [key]: chosen }, expectedUpdatedAt });
  });
}
