/** Finds exclusion plugins, curated and imported, and how they are shown. */

import {
  CrsExclusionPluginSchema,
  type CrsExclusionPlugin,
  type CrsExclusionPluginJson,
} from '../../../proto/gen/waf/v1/crs_pb.ts';
import {
  curatedPlugins,
  findCurated,
  type CuratedPlugin,
  type ExclusionPluginRecord,
} from '../../domain/policy/exclusion-plugins.ts';
import { exclusionPlugins, rulesets } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { toMessage } from '../convert.ts';

/** A plugin as far as it is known. */
export interface FoundPlugin {
  readonly curated: CuratedPlugin | undefined;
  readonly imported: ExclusionPluginRecord | undefined;
}

/** Id of the plugin with a slug, imported or not. */
export function pluginIdOf(slug: string): string {
  return `plugin-${slug}`;
}

/** Looks a plugin up by id or slug. */
export function findPlugin(store: ReadStore, idOrSlug: string): FoundPlugin {
  const slug = idOrSlug.replace(/^plugin-/, '');
  const curated = findCurated(slug);
  const imported = store.find(exclusionPlugins, 'slug', curated?.slug ?? slug)[0];
  return { curated, imported };
}

/** The slug of a found plugin; '' for an unknown one. */
export function slugOf({ curated, imported }: FoundPlugin): string {
  return imported?.slug ?? curated?.slug ?? '';
}

/** Every plugin: the curated ones in their order, then what else was imported, by slug. */
export function allPlugins(store: ReadStore): FoundPlugin[] {
  const known = curatedPlugins.map(({ slug }) => findPlugin(store, slug));
  const others = store
    .list(exclusionPlugins)
    .filter(({ slug }) => findCurated(slug) === undefined)
    .sort((left, right) => (left.slug < right.slug ? -1 : 1))
    .map((imported) => ({ curated: undefined, imported }));
  return [...known, ...others];
}

/** Whether a ruleset of the store holds the plugin's exclusions itself. */
export function isBundled(store: ReadStore, { curated }: FoundPlugin): boolean {
  if (curated === undefined || curated.bundledFile === '') return false;
  const { bundledFile } = curated;
  return store
    .list(rulesets)
    .some((ruleset) => ruleset.includes.rules.some((path) => path.endsWith(bundledFile)));
}

/** A plugin as clients see it. */
export function showPlugin(store: ReadStore, found: FoundPlugin): CrsExclusionPlugin {
  const { curated, imported } = found;
  const slug = slugOf(found);
  const repoUrl =
    curated === undefined ? '' : `https://github.com/coreruleset/${curated.slug}-plugin`;
  const shown: CrsExclusionPluginJson = {
    id: pluginIdOf(slug),
    slug,
    displayName: curated?.displayName ?? slug,
    description: curated?.description ?? '',
    homepageUrl: repoUrl,
    repoUrl,
    ...imported,
    txVariable: imported?.txVariable || (curated?.bundledVariable ?? ''),
    installed: imported !== undefined || isBundled(store, found),
    curated: curated !== undefined,
  };
  return toMessage(CrsExclusionPluginSchema, shown);
}
