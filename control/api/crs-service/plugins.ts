/** CrsService/ListCrsPlugins and GetCrsPluginConfigSchema: what rulesets bring along. */

import type { JsonObject } from '@bufbuild/protobuf';
import {
  CrsPluginSchema,
  type CrsPluginJson,
  type CrsService,
} from '../../../proto/gen/waf/v1/crs_pb.ts';
import {
  pluginSchema,
  type PluginFiles,
  type PluginText,
} from '../../domain/policy/crs-plugin-files.ts';
import { findCurated } from '../../domain/policy/exclusion-plugins.ts';
import { notFound } from '../../domain/errors.ts';
import type { BundleRuleset } from '../../publish/build-bundle.ts';
import { filesOfPlugin, pluginsOfRuleset } from '../../publish/rulesets/ruleset-plugins.ts';
import type { RulesetFile } from '../../publish/rulesets/ruleset-folder.ts';
import { loadRuleset } from '../../publish/rulesets/stored-rulesets.ts';
import type { ReadStore } from '../../store/store.ts';
import type { Uses } from '../context.ts';
import { requireText, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { findPlugin } from './stored-plugin.ts';
import { storedRuleset } from './ruleset-rules.ts';

/** The plugins of a ruleset by name. */
export function listCrsPlugins(parts: Uses<'store'>): Method<typeof CrsService, 'listCrsPlugins'> {
  return ({ rulesetId }) => {
    const { id } = storedRuleset(parts.store, rulesetId, 'rulesetId');
    const ruleset = loadRuleset(parts.store, id);
    const found = ruleset === null ? [] : pluginsOfRuleset(ruleset);
    const plugins = found.map((plugin) =>
      toMessage(CrsPluginSchema, describePlugin(id, ruleset?.files ?? [], plugin)),
    );
    return { plugins };
  };
}

/** The settings of a ruleset's plugin, or of an imported exclusion plugin. */
export function getCrsPluginConfigSchema(
  parts: Uses<'store'>,
): Method<typeof CrsService, 'getCrsPluginConfigSchema'> {
  return ({ pluginId }) => {
    const schema = schemaOf(parts.store, requireText(pluginId, 'pluginId'));
    if (schema === null) throw notFound('plugin', pluginId);
    return { schema: schema as unknown as JsonObject };
  };
}

function schemaOf(store: ReadStore, pluginId: string): ReturnType<typeof pluginSchema> | null {
  const cut = pluginId.lastIndexOf(':');
  const ruleset = cut < 0 ? null : loadRuleset(store, pluginId.slice(0, cut));
  if (ruleset !== null) return schemaInRuleset(ruleset, pluginId.slice(cut + 1));
  const { imported } = findPlugin(store, pluginId);
  if (imported === undefined) return null;
  return pluginSchema(textsAt(filesOfPlugin(store, imported), /-config\.conf$/));
}

/** The settings of a plugin of a ruleset; null when it has no such plugin. */
export function schemaInRuleset(
  ruleset: BundleRuleset,
  name: string,
): ReturnType<typeof pluginSchema> | null {
  const plugin = pluginsOfRuleset(ruleset).find((one) => one.name === name);
  if (plugin === undefined) return null;
  return pluginSchema(textsOf(ruleset.files, plugin.configs));
}

function describePlugin(
  rulesetId: string,
  files: readonly RulesetFile[],
  plugin: PluginFiles,
): CrsPluginJson {
  const { name, configs, befores, afters, all } = plugin;
  const confs = textsOf(files, [...configs, ...befores, ...afters]);
  const stated = /\bver:'([^']{1,64})'/.exec(confs.map(({ text }) => text).join('\n'))?.[1];
  return {
    id: `${rulesetId}:${name}`,
    rulesetId,
    name,
    description: findCurated(name)?.description ?? '',
    configSchema: pluginSchema(textsOf(files, configs)) as unknown as NonNullable<
      CrsPluginJson['configSchema']
    >,
    version: stated?.slice(stated.lastIndexOf('/') + 1) ?? '',
    files: all.map((path) => path.slice(path.lastIndexOf('/') + 1)),
    curated: findCurated(name) !== undefined,
    hasBefore: befores.length > 0,
    hasAfter: afters.length > 0,
    hasConfig: configs.length > 0,
  };
}

function textsOf(files: readonly RulesetFile[], paths: readonly string[]): PluginText[] {
  const wanted = new Set(paths);
  return files.filter(({ path }) => wanted.has(path)).map(toText);
}

/** Files whose path fits, as texts. */
export function textsAt(files: readonly RulesetFile[], pattern: RegExp): PluginText[] {
  return files.filter(({ path }) => pattern.test(path)).map(toText);
}

function toText({ path, content }: RulesetFile): PluginText {
  return { path, text: Buffer.from(content).toString('latin1') };
}
