/**
 * Which plugins a policy runs: those of its ruleset that it switches on, and the exclusion plugins
 * that it is bound to. What cannot take effect becomes a warning, never an error.
 */

import { fromBinary } from '@bufbuild/protobuf';
import { RuntimeRulesetSchema } from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { crsMajor } from '../../domain/policy/crs-setup.ts';
import {
  groupPlugins,
  renderPluginConfig,
  type PluginFiles,
} from '../../domain/policy/crs-plugin-files.ts';
import {
  findCurated,
  renderPluginUse,
  type ExclusionPluginRecord,
  type PluginBindingRecord,
} from '../../domain/policy/exclusion-plugins.ts';
import type { RulesetIncludes } from '../../domain/records.ts';
import { exclusionPlugins, pluginBindings } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { BundleRuleset } from '../build-bundle.ts';
import type { RulesetFile } from './ruleset-folder.ts';

/** What plugins add to a policy. */
export interface PolicyPlugins {
  /** The ruleset, including only what the policy runs. */
  readonly ruleset: BundleRuleset | null;
  /** SecLang between the plugins' settings files and their rules. */
  readonly settings: string;
  readonly files: readonly RulesetFile[];
  readonly warnings: readonly string[];
}

/** Numbers of the rules that plugin settings become. */
const firstRuleId = 195_000;

/** The name in a plugin's id: `<ruleset>:<name>`, or the name alone. */
export function pluginName(pluginId: string): string {
  return pluginId.slice(pluginId.lastIndexOf(':') + 1);
}

/** The plugins that a ruleset brings. */
export function pluginsOfRuleset(ruleset: Pick<BundleRuleset, 'files'>): PluginFiles[] {
  const paths = ruleset.files.map(({ path }) => path);
  return groupPlugins(paths.filter((path) => path.startsWith('crs/plugins/')));
}

/** The file of a ruleset that holds a curated plugin's exclusions; '' when it has none. */
export function bundledFileOf(ruleset: Pick<BundleRuleset, 'files'>, slug: string): string {
  const ending = findCurated(slug)?.bundledFile ?? '';
  if (ending === '') return '';
  return ruleset.files.find(({ path }) => path.endsWith(ending))?.path ?? '';
}

/** Files of an imported plugin. */
export function filesOfPlugin(
  store: ReadStore,
  plugin: Pick<ExclusionPluginRecord, 'blob'>,
): RulesetFile[] {
  const blob = store.blob(plugin.blob);
  return blob === undefined ? [] : fromBinary(RuntimeRulesetSchema, blob).files;
}

/** Resolves the plugins of a policy over a ruleset. */
export function policyPlugins(
  store: ReadStore,
  policy: Pick<PolicyJson, 'plugins'>,
  bindings: readonly PluginBindingRecord[],
  ruleset: BundleRuleset | null,
): PolicyPlugins {
  if (ruleset === null) return { ruleset, settings: '', files: [], warnings: [] };
  const parts: Parts = { includes: [], settings: [], files: [], warnings: [], nextId: firstRuleId };
  addRulesetPlugins(parts, policy, ruleset);
  addExclusionPlugins(parts, store, bindings, ruleset);
  const names = (place: 'configs' | 'befores' | 'afters'): string[] =>
    parts.includes.flatMap((plugin) => plugin[place]);
  const includes: RulesetIncludes = {
    ...ruleset.includes,
    pluginConfigs: names('configs'),
    pluginsBefore: names('befores'),
    pluginsAfter: names('afters'),
  };
  const settings = parts.settings.filter((text) => text !== '').join('\n');
  return {
    ruleset: { ...ruleset, includes },
    settings,
    files: parts.files,
    warnings: parts.warnings,
  };
}

interface Parts {
  readonly includes: PluginFiles[];
  readonly settings: string[];
  readonly files: RulesetFile[];
  readonly warnings: string[];
  nextId: number;
}

function addRulesetPlugins(
  parts: Parts,
  policy: Pick<PolicyJson, 'plugins'>,
  ruleset: BundleRuleset,
): void {
  const there = pluginsOfRuleset(ruleset);
  for (const [at, { pluginId = '', enabled, config }] of (policy.plugins ?? []).entries()) {
    const found = there.find(({ name }) => name === pluginName(pluginId));
    if (found === undefined) parts.warnings.push(`plugins[${at}]: this ruleset has no such plugin`);
    if (found === undefined || enabled !== true) continue;
    parts.includes.push(found);
    parts.settings.push(renderPluginConfig(parts.nextId++, config ?? {}));
  }
}

function addExclusionPlugins(
  parts: Parts,
  store: ReadStore,
  bindings: readonly PluginBindingRecord[],
  ruleset: BundleRuleset,
): void {
  const slugs = [...new Set(bindings.map(({ pluginSlug }) => pluginSlug))];
  for (const slug of slugs) {
    const mine = bindings.filter((one) => one.pluginSlug === slug && one.enabled === true);
    if (mine.length === 0) continue;
    const paths = mine.map(({ pathPrefix = '' }) => pathPrefix);
    const bundled = bundledFileOf(ruleset, slug);
    const imported = store.find(exclusionPlugins, 'slug', slug)[0];
    if (bundled === '' && imported === undefined) {
      parts.warnings.push(
        `exclusion plugin ${slug}: this ruleset does not hold it and it was not imported`,
      );
      continue;
    }
    const bundledVariable = bundled === '' ? '' : (findCurated(slug)?.bundledVariable ?? '');
    const { txVariable: ownSwitch = '', ruleIds = [] } = imported ?? {};
    const use = { paths, bundledVariable, ownSwitch, ruleIds };
    if (bundled === '' && imported !== undefined) {
      const files = filesOfPlugin(store, imported);
      parts.files.push(...files);
      parts.includes.push(...groupPlugins(files.map(({ path }) => path)));
      if (crsMajor(ruleset.version) < 4) {
        parts.warnings.push(`exclusion plugin ${slug}: it was made for another CRS than this one`);
      }
    }
    parts.settings.push(renderPluginUse(use, parts.nextId));
    parts.nextId += 2;
  }
}

/** The bindings of a policy in their order. */
export function bindingsOf(store: ReadStore, policyId: string): PluginBindingRecord[] {
  return store
    .find(pluginBindings, 'policy', policyId)
    .sort(
      (left, right) =>
        (left.sortOrder ?? 0) - (right.sortOrder ?? 0) || (left.id < right.id ? -1 : 1),
    );
}
