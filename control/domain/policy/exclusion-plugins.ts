/**
 * Exclusion plugins: the ones that the CRS project keeps, what a policy may say about one, and the
 * SecLang that switches them on, everywhere or under paths. Pure.
 */

import type {
  CrsExclusionPluginJson,
  PolicyCrsExclusionPluginJson,
} from '../../../proto/gen/waf/v1/crs_pb.ts';
import { invalidField } from '../errors.ts';

/** An exclusion plugin that was imported. */
export type ExclusionPluginRecord = CrsExclusionPluginJson & {
  readonly id: string;
  readonly slug: string;
  /** Name of the blob that holds its files. */
  readonly blob: string;
  /** Numbers of its rules, ascending. */
  readonly ruleIds: readonly number[];
};

/** How a policy uses a plugin. */
export type PluginBindingRecord = PolicyCrsExclusionPluginJson & {
  readonly id: string;
  readonly policyId: string;
  readonly pluginSlug: string;
};

/** A plugin that the CRS project keeps. */
export interface CuratedPlugin {
  readonly slug: string;
  readonly displayName: string;
  readonly description: string;
  /** File of CRS 3 that holds the same exclusions, and the variable that turns them on. */
  readonly bundledFile: string;
  readonly bundledVariable: string;
}

const curated = (slug: string, displayName: string, bundledAs = ''): CuratedPlugin => ({
  slug: `${slug}-rule-exclusions`,
  displayName,
  description:
    `Keeps the rules quiet where ${displayName} works as it should` +
    (bundledAs === '' ? '; in no ruleset: import its release' : ''),
  bundledFile: bundledAs === '' ? '' : `-${bundledAs.toUpperCase()}-EXCLUSION-RULES.conf`,
  bundledVariable: bundledAs === '' ? '' : `crs_exclusions_${bundledAs}`,
});

/** In the order in which lists show them. */
export const curatedPlugins: readonly CuratedPlugin[] = [
  curated('cpanel', 'cPanel', 'cpanel'),
  curated('dokuwiki', 'DokuWiki', 'dokuwiki'),
  curated('drupal', 'Drupal', 'drupal'),
  curated('nextcloud', 'Nextcloud', 'nextcloud'),
  curated('phpbb', 'phpBB'),
  curated('phpmyadmin', 'phpMyAdmin'),
  curated('wordpress', 'WordPress', 'wordpress'),
  curated('xenforo', 'XenForo', 'xenforo'),
];

/** The curated plugin of an id or slug; `wordpress` stands for `wordpress-rule-exclusions`. */
export function findCurated(idOrSlug: string): CuratedPlugin | undefined {
  const wanted = idOrSlug.toLowerCase();
  const slugs = [wanted, `${wanted}-rule-exclusions`, wanted.replace(/-plugin$/, '')];
  return curatedPlugins.find(({ slug }) => slugs.includes(slug));
}

/** A slug as it is kept. Errors: invalid_argument at `field`. */
export function readSlug(text: string, field: string): string {
  if (/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(text)) return text;
  throw invalidField(field, 'must be a slug of lower-case letters, digits and dashes');
}

/** Path prefixes end at a path segment. Errors: invalid_argument at `field`. */
export function checkPathPrefix(path: string, field: string): void {
  if (path === '' || /^\/[^\s"'%\\?#\0-\x1f]{0,512}$/.test(path)) return;
  throw invalidField(field, 'must be a path prefix that begins with a slash');
}

/**
 * The condition for a path and what lies under it: `/api` does not match `/apix`. It holds where
 * all usual readings of the path agree, as an exclusion lets something pass; `negated` elsewhere.
 */
export function underPaths(paths: readonly string[], negated = false): string {
  const patterns = paths.map((path) =>
    path.replace(/\/+$/, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
  );
  const any = patterns.length === 1 ? (patterns[0] ?? '') : `(?:${patterns.join('|')})`;
  const all = `\\A(?:${any}(?:/[^\\n]*)?\\n)+\\z`;
  return `SecRule REQUEST_PATHS_JOINED "${negated ? '!' : ''}@rx ${all}"`;
}

/** The readings of the path are decoded and without dots. */
export const pathTransformations = 't:none';

/** How the bindings of one plugin reach a ruleset. */
export interface PluginUse {
  /** Prefixes of the enabled bindings; '' stands for every path. */
  readonly paths: readonly string[];
  /** The ruleset has the exclusions itself: this variable turns them on. */
  readonly bundledVariable: string;
  /** The imported plugin's own switch; '' when it has none. */
  readonly ownSwitch: string;
  readonly ruleIds: readonly number[];
}

/** SecLang between a plugin's settings and its rules. Numbers `firstId` and the next are free. */
export function renderPluginUse(use: PluginUse, firstId: number): string {
  const { paths, bundledVariable, ownSwitch, ruleIds } = use;
  const everywhere = paths.includes('') || paths.includes('/');
  const start = `"id:${firstId},phase:1,pass,nolog,`;
  if (bundledVariable !== '') {
    const set = `setvar:'tx.${bundledVariable}=1'`;
    if (everywhere) return `SecAction ${start}t:none,${set}"`;
    return `${underPaths(paths)} \\\n  ${start}${pathTransformations},${set}"`;
  }
  const on = ownSwitch === '' ? '' : `setvar:'tx.${ownSwitch}=1'`;
  if (everywhere) return on === '' ? '' : `SecAction ${start}t:none,${on}"`;
  const off =
    ownSwitch === ''
      ? rangesOf(ruleIds)
          .map((range) => `ctl:ruleRemoveById=${range}`)
          .join(',')
      : '';
  if (off !== '') return `${underPaths(paths, true)} \\\n  ${start}${pathTransformations},${off}"`;
  return (
    `SecAction ${start}t:none,setvar:'tx.${ownSwitch}=0'"\n` +
    `${underPaths(paths)} \\\n` +
    `  "id:${firstId + 1},phase:1,pass,nolog,${pathTransformations},${on}"`
  );
}

/** Ascending numbers as ranges such as 10-12. */
export function rangesOf(ids: readonly number[]): string[] {
  const ranges: [number, number][] = [];
  for (const id of ids) {
    const last = ranges.at(-1);
    if (last !== undefined && id === last[1] + 1) last[1] = id;
    else ranges.push([id, id]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
}
