/** Which policies run a major version of CRS for which a newer one exists. */

import type { Logger } from '../../../base/log.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { policies, rulesets } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';

/** Says at a start which policies run CRS 3, with the two commands that move them. */
export function noteOlderRulesets(store: ReadStore, logger: Logger): void {
  const versions = new Map(store.list(rulesets).map(({ id, version }) => [id, version]));
  const names = store
    .list(policies)
    .filter(({ isTemplate }) => isTemplate !== true)
    .filter(({ crsRulesetId }) => isCrs3(versions.get(crsRulesetId) ?? ''))
    .map(({ name }) => name);
  if (names.length === 0) return;
  logger.info('policies run CRS 3; CRS 4 finds more and mistakes less', {
    policies: someOf(names),
    commands: 'waf crs import ARCHIVE, then waf policy ruleset POLICY RULESET',
  });
}

/** The first of the names of policies, and how many more there are. */
export function someOf(names: readonly string[]): string {
  const { notedPoliciesMax } = resourceLimits;
  const more = names.length - notedPoliciesMax;
  return names.slice(0, notedPoliciesMax).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Whether a ruleset's version is of CRS 3. */
export function isCrs3(version: string): boolean {
  return /^(?:OWASP_CRS\/)?3\./.test(version);
}
