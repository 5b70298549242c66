/** Reads a ruleset from an archive, as the CRS project publishes it. Bounded. */

import { readArchive } from './ruleset-archive-entries.ts';
import { describeRuleset, type ReadRuleset, type RulesetFile } from './ruleset-folder.ts';

/** Reads an archive. Errors: AppError ruleset_unreadable, ruleset_empty, ruleset_too_large. */
export function readRulesetArchive(archive: Uint8Array): ReadRuleset {
  const files: RulesetFile[] = [];
  for (const { path, content } of readArchive(archive)) {
    const found = /(?:^|\/)(rules|plugins)\/([^/]+\.(?:conf|data))$/.exec(path);
    if (found === null || /(?:^|\/)(?:tests|regex-assembly)\//.test(path)) continue;
    files.push({ path: `crs/${found[1]}/${found[2]}`, content });
  }
  return describeRuleset(files, 'the archive');
}

/** The rule and data files of an exclusion plugin, at `folder/name`; tests are left out. */
export function readPluginArchive(archive: Uint8Array, folder: string): RulesetFile[] {
  const files = new Map<string, RulesetFile>();
  for (const { path, content } of readArchive(archive)) {
    const name = /(?:^|\/)([\w.-]+\.(?:conf|data))$/.exec(path)?.[1];
    const inPlugins = /(?:^|\/)plugins\/[^/]+$/.test(path);
    const atTop = path.split('/').length <= 2 && !/(?:^|\/)(?:tests|regex-assembly)\//.test(path);
    if (name === undefined || !(inPlugins || atTop)) continue;
    files.set(name, { path: `${folder}/${name}`, content });
  }
  return [...files.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
}
