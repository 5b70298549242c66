/**
 * The policies that the search runs against: both versions of CRS at every paranoia level, with the
 * largest bodies that a policy may have inspected, and the built-in templates as they are.
 */

import { buildEngine, type BuildOptions } from '../../engine/policies/policy-build.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import {
  availableRulesets,
  locateRulesets,
  policyFiles,
  policyText,
  templateRulesets,
  type Ruleset,
} from '../e2e/ruleset.ts';

/** The levels that CRS knows. */
export const paranoiaLevels = [1, 2, 3, 4] as const;

/** Larger than any body of the search, so that nothing is cut before it is inspected. */
const bodyLimitBytes = 4_194_304;

/** Every version of CRS at every level, then the templates: crs4-pl1, crs3-pl4, light, … */
export function searchedRulesets(crs4Folder: string | null): Ruleset[] {
  const folders = locateRulesets(crs4Folder);
  const found = availableRulesets(folders);
  const levels = ['crs4', 'crs3'].flatMap((version) => {
    const [one] = found.filter(({ name }) => name.startsWith(version));
    return one === undefined ? [] : paranoiaLevels.map((level) => atLevel(one, version, level));
  });
  return [...levels, ...templateRulesets(folders)];
}

function atLevel(ruleset: Ruleset, version: string, level: number): Ruleset {
  const title = ruleset.title.replace(/PL\d$/, `PL${level}`);
  return { ...ruleset, name: `${version}-pl${level}`, title, paranoiaLevel: level };
}

/** Builds the engine of a rule set; a template keeps its limits. Cost: a minute without a cache. */
export function buildSearched(ruleset: Ruleset, options: BuildOptions): PolicyEngine {
  const text = policyText(ruleset, '/tmp');
  const seclangEntry = ruleset.template === undefined ? withWideLimits(text) : text;
  const { name } = ruleset;
  const files = policyFiles(ruleset);
  return buildEngine({ id: name, name, revision: '1', seclangEntry, files }, options);
}

function withWideLimits(text: string): string {
  return `${text}
SecRequestBodyLimit ${bodyLimitBytes}
SecRequestBodyNoFilesLimit ${bodyLimitBytes}
SecResponseBodyAccess On
SecResponseBodyMimeType text/plain text/html text/xml application/json
SecResponseBodyLimit ${bodyLimitBytes}
`;
}
