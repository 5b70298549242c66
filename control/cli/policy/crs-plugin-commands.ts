/** `waf crs plugin…` and `waf crs exclusion…`: plugins of rulesets, and exclusion plugins. */

import type { PolicyCrsExclusionPlugin } from '../../../proto/gen/waf/v1/crs_pb.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import type {
  ArgumentDefinition,
  CommandContext,
  CommandDefinition,
  FlagValues,
} from '../command.ts';
import { switchFlag, textFlag } from '../command.ts';
import { readArchive } from './crs-commands.ts';
import { bindingTable, pluginTable } from './crs-table.ts';
import { badFlag } from '../input.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { waitFor } from '../policy-progress.ts';
import { showMessage, showRemoved } from '../show.ts';

const pluginArgument = [{ name: '<plugin>', summary: 'slug, for example wordpress' }];
const policyArgument: readonly ArgumentDefinition[] = [
  { name: '<policy>', summary: 'id or name', resource: 'policy' },
];

/** Commands on plugins. */
export const crsPluginCommands: readonly CommandDefinition[] = [
  {
    path: ['crs', 'plugins'],
    summary: 'List the plugins of a ruleset',
    help: 'A policy switches one on in its layer plugins: waf policy set-layer POLICY plugins.',
    arguments: [{ name: '<ruleset>', summary: 'id or name', resource: 'ruleset' }],
    flags: [],
    run: async (context, [rulesetId = '']) => {
      const response = await (await context.api()).crs.listCrsPlugins({ rulesetId });
      await showMessage(context, response, {
        columns: ['ID', 'VERSION', 'FILES'],
        rows: response.plugins.map((one) => [one.id, one.version || '-', one.files.join(' ')]),
      });
      return 0;
    },
  },
  {
    path: ['crs', 'plugin-schema'],
    summary: 'Show the settings that a plugin takes',
    help: '',
    arguments: [{ name: '<plugin>', summary: 'plugin id, or slug of an exclusion plugin' }],
    flags: [],
    run: async (context, [pluginId = '']) => {
      const response = await (await context.api()).crs.getCrsPluginConfigSchema({ pluginId });
      const properties = (response.schema?.['properties'] ?? {}) as Record<
        string,
        { type?: string; default?: unknown; description?: string }
      >;
      await showMessage(context, response, {
        columns: ['SETTING', 'TYPE', 'DEFAULT', 'DESCRIPTION'],
        rows: Object.entries(properties).map(([name, one]) => [
          name,
          one.type ?? '',
          JSON.stringify(one.default ?? ''),
          one.description ?? '',
        ]),
      });
      return 0;
    },
  },
  {
    path: ['crs', 'exclusions'],
    summary: 'List exclusion plugins',
    help: '',
    arguments: [],
    flags: [],
    run: async (context) => {
      const response = await (await context.api()).crs.listCrsExclusionPlugins({});
      const table = pluginTable(response.items);
      await showMessage(context, response, table);
      return 0;
    },
  },
  {
    path: ['crs', 'exclusion'],
    summary: 'Show one exclusion plugin',
    help: '',
    arguments: pluginArgument,
    flags: [],
    run: async (context, [idOrSlug = '']) => {
      const response = await (await context.api()).crs.getCrsExclusionPlugin({ idOrSlug });
      const found = response.plugin === undefined ? [] : [response.plugin];
      await showMessage(context, response, pluginTable(found));
      return 0;
    },
  },
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
      const kept = response.plugin === undefined ? [] : [response.plugin];
      const table = pluginTable(kept);
      await showMessage(context, response, table);
      return 0;
    },
  },
  {
    path: ['crs', 'exclusion-uses'],
    summary: 'List the exclusion plugins of a policy',
    help: '',
    arguments: policyArgument,
    flags: [],
    run: async (context, [policyId = '']) => {
      const response = await (await context.api()).crs.listPolicyExclusionPlugins({ policyId });
      const table = bindingTable(response.items);
      await showMessage(context, response, table);
      return 0;
    },
  },
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
  {
    path: ['crs', 'exclusion-drop'],
    summary: 'Remove an exclusion plugin from a policy',
    help: '',
    arguments: [{ name: '<use>', summary: 'id of the use' }],
    flags: [],
    published: true,
    run: async (context, [id = '']) => {
      await (await context.api()).crs.deletePolicyExclusionPlugin({ id });
      showRemoved(context, 'exclusion plugin', id);
      return 0;
    },
  },
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
  await showMessage(context, response, bindingTable(items));
  return 0;
}

/** Sets one use; its place in the order stays unless a flag names another. */
async function keepUse(
  context: CommandContext,
  place: { readonly policyId: string; readonly pluginId: string; readonly pathPrefix: string },
  named: string,
  flags: FlagValues,
): Promise<void> {
  const order = textFlag(flags, 'order');
  if (order !== undefined && !/^\d{1,9}$/.test(order))
    throw badFlag('--order wants a whole number');
  const { crs } = await context.api();
  const asked = { ...place, enabled: !switchFlag(flags, 'off') };
  await againWhenChanged(async () => {
    const { items } = await crs.listPolicyExclusionPlugins({ policyId: place.policyId });
    const before = items.find((one) => useOf(one) === named);
    const sortOrder = order === undefined ? (before?.sortOrder ?? 0) : Number(order);
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
