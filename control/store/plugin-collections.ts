/** The collections of exclusion plugins: what was imported, and which policies use it. */

import type {
  ExclusionPluginRecord,
  PluginBindingRecord,
} from '../domain/policy/exclusion-plugins.ts';
import type { Collection } from './collection.ts';

/** Imported exclusion plugins, found by slug; their files lie in blobs. */
export const exclusionPlugins: Collection<ExclusionPluginRecord> = {
  name: 'exclusion-plugins',
  indexes: { slug: (plugin) => [plugin.slug] },
  blobs: (plugin) => [plugin.blob],
};
/** How policies use exclusion plugins, found by policy and by slug. */
export const pluginBindings: Collection<PluginBindingRecord> = {
  name: 'plugin-bindings',
  indexes: { policy: (binding) => [binding.policyId], slug: (binding) => [binding.pluginSlug] },
};
