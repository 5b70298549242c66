/** The check for policies that run a major version of CRS for which a newer one exists. */

import type { Policy } from '../../../../proto/gen/waf/v1/policy_pb.ts';
import { allPages } from '../../all-pages.ts';
import { isCrs3, someOf } from '../../../publish/rulesets/older-rulesets.ts';
import { printable } from '../../show.ts';
import { note, ok, type Check, type Finding } from './finding.ts';

const name = 'rulesets';

/** Which policies in use still run CRS 3. */
export const rulesetsCheck: Check = {
  name,
  look: async ({ running, context }) => {
    if (!running) return [];
    const { policies, crs } = await context.api();
    const rulesets = await allPages((page) => crs.listCrsRulesets({ page }));
    const versions = new Map(rulesets.map(({ id, version }) => [id, version]));
    return [judgeRulesets(await allPages((page) => policies.listPolicies({ page })), versions)];
  },
};

/**
 * The finding for these policies, with the versions of rulesets by id; templates count as soon as a
 * policy is made of them.
 */
export function judgeRulesets(
  policies: readonly Pick<Policy, 'name' | 'crsRulesetId' | 'isTemplate'>[],
  versions: ReadonlyMap<string, string>,
): Finding {
  const behindCrs4 = policies.filter(
    ({ crsRulesetId, isTemplate }) => !isTemplate && isCrs3(versions.get(crsRulesetId) ?? ''),
  );
  if (behindCrs4.length === 0) return ok(name, 'no policy runs CRS 3');
  const list = someOf(behindCrs4.map((one) => printable(one.name)));
  return note(
    name,
    `CRS 3 in ${list}; CRS 4 finds more and mistakes less`,
    'waf crs import ARCHIVE, then waf policy ruleset POLICY RULESET',
  );
}
