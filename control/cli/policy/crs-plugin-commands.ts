/** `waf crs plugin…` and `waf crs exclusion…`: plugins of rulesets, and exclusion plugins. */

import type { PolicyCrsExclusionPlugin } from '../../../proto/gen/waf/v1/crs_pb.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { switchFlag, textFlag } from '../command.ts';
import { readArchive } from './crs-commands.ts';
import { bindingTable, pluginTable } from './crs-table.ts';
import { badFlag, wholeNumber } from '../input.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import { waitFor } from '../policy-progress.ts';
import { callCommand, deleteCommand } from '../regular-commands.ts';
import { only, showMessage } from '../show.ts';

const pluginArgument = [{ name: '<plugin>', summary: 'slug, for example wordpress' }];
const policyArgument = [nameArgument('policy')];

/** Commands on plugins. */
export const crsPluginCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['crs', 'plugins'],
    summary: 'List the plugins of a ruleset',
    help: 'A policy switches one on in its layer plugins: waf policy set-layer POLICY plugins.',
    arguments: [nameArgument('ruleset')],
    call: ({ crs }, [rulesetId = '']) => crs.listCrsPlugins({ rulesetId }),
    table: ({ plugins }) => ({
      columns: ['ID', 'VERSION', 'FILES'],
      rows: plugins.map((one) => [one.id, one.version || '-', one.files.join(' ')]),
    }),
  }),
  callCommand({
    path: ['crs', 'plugin-schema'],
    summary: 'Show the settings that a plugin takes',
    arguments: [{ name: '<plugin>', summary: 'plugin id, or slug of an exclusion plugin' }],
    call: ({ crs }, [pluginId = '']) => crs.getCrsPluginConfigSchema({ pluginId }),
    table: ({ schema }) => {
      const properties = (schema?.['properties'] ?? {}) as Record<
        string,
        { type?: string; default?: unknown; description?: string }
      >;
      return {
        columns: ['SETTING', 'TYPE', 'DEFAULT', 'DESCRIPTION'],
        rows: Object.entries(properties).map(([name, one]) => [
          name,
          one.type ?? '',
          JSON.stringify(one.default ?? ''),
          one.description ?? '',
        ]),
      };
    },
  }),
  callCommand({
    path: ['crs', 'exclusions'],
    summary: 'List exclusion plugins',
    call: ({ crs }) => crs.listCrsExclusionPlugins({}),
    table: ({ items }) => pluginTable(items),
  }),
  callCommand({
    path: ['crs', 'exclusion'],
    summary: 'Show one exclusion plugin',
    arguments: pluginArgument,
    call: ({ crs }, [idOrSlug = '']) => crs.getCrsExclusionPlugin({ idOrSlug }),
    table: ({ plugin }) => pluginTable(only(plugin)),
  }),
  {
    path: ['crs', 'exclusion-import'],
    summary: 'Import an exclusion plugin; a newer import replaces it',
    help: 'Takes a release as tar.gz or zip, or its folder.',
    arguments: [
      ...pluginArgument,
      { name: '[archive]', summary: 'archive or folder; - reads standard input' },
    ],
    flags: [{ flags: '--tag <tag>', summary: 'fetch this release of the CRS project' }],
    run: async (context, [idOrSlug = '', path], flags) => {
      const githubTag = textFlag(flags, 'tag') ?? '';
      if ((path === undefined) === (githubTag === '')) throw badFlag('give an archive or --tag');
      const archive = path === undefined ? new Uint8Array() : await readArchive(path);
      const { crs } = await context.api();
      const response = await waitFor(context, 'Compiling the plugin', (options) =>
        crs.importCrsExclusionPlugin({ idOrSlug, githubTag, archive }, options),
      );
      return showMessage(context, response, pluginTable(only(response.plugin)));
    },
  },
  callCommand({
    path: ['crs', 'exclusion-uses'],
    summary: 'List the exclusion plugins of a policy',
    arguments: policyArgument,
    call: ({ crs }, [policyId = '']) => crs.listPolicyExclusionPlugins({ policyId }),
    table: ({ items }) => bindingTable(items),
  }),
  {
    path: ['crs', 'exclusion-use'],
    summary: 'Let a policy use an exclusion plugin, everywhere or under a path',
    help:
      'Example: waf crs exclusion-use POLICY wordpress --path /blog\n' +
      'Uses add up, one for each plugin and path; --replace takes away all other uses, --remove\n' +
      'the named one.',
    arguments: [...policyArgument, ...pluginArgument],
    flags: [
      { flags: '--path <prefix>', summary: 'only under this path' },
      { flags: '--off', summary: 'save it disabled' },
      { flags: '--order <n>', summary: 'its place among the uses; lower runs first' },
      ...listChangeFlags,
    ],
    published: true,
    run: useExclusions,
  },
  deleteCommand({
    path: ['crs', 'exclusion-drop'],
    summary: 'Remove an exclusion plugin from a policy',
    arguments: [{ name: '<use>', summary: 'id of the use' }],
    published: true,
    kind: 'exclusion plugin',
    call: ({ crs }, id) => crs.deletePolicyExclusionPlugin({ id }),
  }),
];

async function useExclusions(
  context: CommandContext,
  [policyId = '', pluginId = '']: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { ListPolicyExclusionPluginsResponseSchema } =
    await import('../../../proto/gen/waf/v1/crs_pb.ts');
  const mode = listMode(flags);
  const place = { pathPrefix: textFlag(flags, 'path') ?? '' };
  const { crs } = await context.api();
  const slug = (await crs.getCrsExclusionPlugin({ idOrSlug: pluginId })).plugin?.slug ?? '';
  const named = useOf({ ...place, pluginSlug: slug });
  const uses = async () => (await crs.listPolicyExclusionPlugins({ policyId })).items;
  const present = await uses();
  if (mode === 'remove') changeList(mode, present.map(useOf), [named], 'the use');
  else await keepUse(context, { ...place, policyId, pluginId }, named, flags);
  for (const one of present) {
    const goes = mode === 'remove' ? useOf(one) === named : useOf(one) !== named;
    if (mode !== 'add' && goes) await crs.deletePolicyExclusionPlugin({ id: one.id });
  }
  const items = await uses();
  noteChange(context.output, 'taken away', present.map(useOf), items.map(useOf));
  const { create } = await import('@bufbuild/protobuf');
  const response = create(ListPolicyExclusionPluginsResponseSchema, { items });
  return showMessage(context, response, bindingTable(items));
}

/** Sets one use; its place in the order stays unless a flag names another. */
async function keepUse(
  context: CommandContext,
  place: { readonly policyId: string; readonly pluginId: string; readonly pathPrefix: string },
  named: string,
  flags: FlagValues,
): Promise<void> {
  const order = textFlag(flags, 'order');
  const sortOrderAsked = order === undefined ? undefined : wholeNumber(order, '--order');
  const { crs } = await context.api();
  const asked = { ...place, enabled: !switchFlag(flags, 'off') };
  await againWhenChanged(async () => {
    const { items } = await crs.listPolicyExclusionPlugins({ policyId: place.policyId });
    const before = items.find((one) => useOf(one) === named);
    const sortOrder = sortOrderAsked ?? before?.sortOrder ?? 0;
    const binding = { ...asked, id: before?.id ?? '', sortOrder };
    const expectedUpdatedAt = readAt(before?.updatedAt);
    await waitFor(context, 'Compiling rules', (options) =>
      crs.upsertPolicyExclusionPlugin({ binding, expectedUpdatedAt }, options),
    );
  });
}

/** A use as people name it. */
function useOf({
  pluginSlug,
  pathPrefix,
}: Pick<PolicyCrsExclusionPlugin, 'pluginSlug' | 'pathPrefix'>) {
  return pathPrefix === '' ? pluginSlug : `${pluginSlug} ${pathPrefix}`;
}
