/**
 * The policies that the search runs against: both versions of CRS at every paranoia level, with the
 * largest bodies that a policy may have inspected. Never holds rules itself.
 */

import { buildEngine, type BuildOptions } from '../../engine/policies/policy-build.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import {
  availableRulesets,
  locateRulesets,
  policyFiles,
  policyText,
  type Ruleset,
} from '../e2e/ruleset.ts';

/** The levels that CRS knows. */
export const paranoiaLevels = [1, 2, 3, 4] as const;

/** Larger than any body of the search, so that nothing is cut before it is inspected. */
const bodyLimitBytes = 4_194_304;

/** Every version of CRS that is there, at every level. Names: crs4-pl1, crs3-pl4, … */
export function searchedRulesets(crs4Folder: string | null): Ruleset[] {
  const found = availableRulesets(locateRulesets(crs4Folder));
  return ['crs4', 'crs3'].flatMap((version) => {
    const [one] = found.filter(({ name }) => name.startsWith(version));
    return one === undefined ? [] : paranoiaLevels.map((level) => atLevel(one, version, level));
  });
}

function atLevel(ruleset: Ruleset, version: string, level: number): Ruleset {
  const title = ruleset.title.replace(/PL\d$/, `PL${level}`);
  return { ...ruleset, name: `${version}-pl${level}`, title, paranoiaLevel: level };
}

/** Builds the engine of a rule set. Cost: a minute when nothing is cached. */
export function buildSearched(ruleset: Ruleset, options: BuildOptions): PolicyEngine {
  const seclangEntry = `${policyText(ruleset, '/tmp')}
SecRequestBodyLimit ${bodyLimitBytes}
SecRequestBodyNoFilesLimit ${bodyLimitBytes}
SecResponseBodyAccess On
SecResponseBodyMimeType text/plain text/html text/xml application/json
SecResponseBodyLimit ${bodyLimitBytes}
`;
  const { name } = ruleset;
  const files = policyFiles(ruleset);
  return buildEngine({ id: name, name, revision: '1', seclangEntry, files }, options);
}
