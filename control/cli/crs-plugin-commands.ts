/** `waf crs plugin…` and `waf crs exclusion…`: plugins of rulesets, and exclusion plugins. */

import type { ArgumentDefinition, CommandDefinition } from './command.ts';
import { switchFlag, textFlag } from './command.ts';
import { readArchive } from './crs-commands.ts';
import { bindingTable, pluginTable } from './crs-table.ts';
import { badFlag } from './input.ts';
import { waitFor } from './policy-progress.ts';
import { showMessage, showRemoved } from './show.ts';

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
      const { ListCrsPluginsResponseSchema } = await import('../../proto/gen/waf/v1/crs_pb.ts');
      const response = await (await context.api()).crs.listCrsPlugins({ rulesetId });
      await showMessage(context, ListCrsPluginsResponseSchema, response, {
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
      const { GetCrsPluginConfigSchemaResponseSchema } =
        await import('../../proto/gen/waf/v1/crs_pb.ts');
      const response = await (await context.api()).crs.getCrsPluginConfigSchema({ pluginId });
      const properties = (response.schema?.['properties'] ?? {}) as Record<
        string,
        { type?: string; default?: unknown; description?: string }
      >;
      await showMessage(context, GetCrsPluginConfigSchemaResponseSchema, response, {
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
      const { ListCrsExclusionPluginsResponseSchema } =
        await import('../../proto/gen/waf/v1/crs_pb.ts');
      const response = await (await context.api()).crs.listCrsExclusionPlugins({});
      const table = pluginTable(response.items);
      await showMessage(context, ListCrsExclusionPluginsResponseSchema, response, table);
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
      const { GetCrsExclusionPluginResponseSchema } =
        await import('../../proto/gen/waf/v1/crs_pb.ts');
      const response = await (await context.api()).crs.getCrsExclusionPlugin({ idOrSlug });
      const found = response.plugin === undefined ? [] : [response.plugin];
      await showMessage(context, GetCrsExclusionPluginResponseSchema, response, pluginTable(found));
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
      const { ImportCrsExclusionPluginResponseSchema } =
        await import('../../proto/gen/waf/v1/crs_pb.ts');
      const githubTag = textFlag(flags, 'tag') ?? '';
      if ((path === undefined) === (githubTag === '')) throw badFlag('give an archive or --tag');
      const archive = path === undefined ? new Uint8Array() : await readArchive(path);
      const { crs } = await context.api();
      const response = await waitFor(context, 'Compiling the plugin', (options) =>
        crs.importCrsExclusionPlugin({ idOrSlug, githubTag, archive }, options),
      );
      const kept = response.plugin === undefined ? [] : [response.plugin];
      const table = pluginTable(kept);
      await showMessage(context, ImportCrsExclusionPluginResponseSchema, response, table);
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
      const { ListPolicyExclusionPluginsResponseSchema } =
        await import('../../proto/gen/waf/v1/crs_pb.ts');
      const response = await (await context.api()).crs.listPolicyExclusionPlugins({ policyId });
      const table = bindingTable(response.items);
      await showMessage(context, ListPolicyExclusionPluginsResponseSchema, response, table);
      return 0;
    },
  },
  {
    path: ['crs', 'exclusion-use'],
    summary: 'Let a policy use an exclusion plugin, everywhere or under a path',
    help: 'Example: waf crs exclusion-use POLICY wordpress --path /blog',
    arguments: [...policyArgument, ...pluginArgument],
    flags: [
      { flags: '--path <prefix>', summary: 'only under this path' },
      { flags: '--off', summary: 'save it disabled' },
    ],
    published: true,
    run: async (context, [policyId = '', pluginId = ''], flags) => {
      const { UpsertPolicyExclusionPluginResponseSchema } =
        await import('../../proto/gen/waf/v1/crs_pb.ts');
      const enabled = !switchFlag(flags, 'off');
      const pathPrefix = textFlag(flags, 'path') ?? '';
      const { crs } = await context.api();
      const slug = (await crs.getCrsExclusionPlugin({ idOrSlug: pluginId })).plugin?.slug;
      const uses = (await crs.listPolicyExclusionPlugins({ policyId })).items;
      const before = uses.find((one) => one.pluginSlug === slug && one.pathPrefix === pathPrefix);
      const asked = { policyId, pluginId, enabled, pathPrefix };
      const binding = before === undefined ? asked : { ...before, ...asked };
      const response = await waitFor(context, 'Compiling rules', (options) =>
        crs.upsertPolicyExclusionPlugin({ binding }, options),
      );
      const table = bindingTable(response.binding === undefined ? [] : [response.binding]);
      await showMessage(context, UpsertPolicyExclusionPluginResponseSchema, response, table);
      return 0;
    },
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
