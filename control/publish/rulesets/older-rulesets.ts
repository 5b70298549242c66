/** Which policies run a major version of CRS for which a newer one exists. */

import type { Logger } from '../../../base/log.ts';
import { policies, rulesets } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';

/** Policies that are named; more are counted. */
const namesMax = 5;

/** Says at a start which policies run CRS 3, with the two commands that move them. */
export function noteOlderRulesets(store: ReadStore, logger: Logger): void {
  const versions = new Map(store.list(rulesets).map(({ id, version }) => [id, version]));
  const names = store
    .list(policies)
    .filter(({ isTemplate }) => isTemplate !== true)
    .filter(({ crsRulesetId }) => isCrs3(versions.get(crsRulesetId) ?? ''))
    .map(({ name }) => name);
  if (names.length === 0) return;
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  logger.info('policies run CRS 3; CRS 4 finds more and mistakes less', {
    policies: names.slice(0, namesMax).join(', ') + more,
    commands: 'waf crs import ARCHIVE, then waf policy ruleset POLICY RULESET',
  });
}

/** Whether a ruleset's version is of CRS 3. */
export function isCrs3(version: string): boolean {
  return /^(?:OWASP_CRS\/)?3\./.test(version);
}
