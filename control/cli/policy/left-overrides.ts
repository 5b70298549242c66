/** Overrides that lose their rule when a policy moves to another ruleset. */

import type { CommandContext, FlagValues } from '../command.ts';
import { requireLeaving } from '../left-behind.ts';

/** Asks before overrides lose the rules that they name. Errors: AppError not_confirmed. */
export async function requireOverridesLeft(
  context: CommandContext,
  flags: FlagValues,
  policyId: string,
  crsRulesetId: string,
): Promise<void> {
  const { policies } = await context.api();
  const { policy } = await policies.getPolicy({ id: policyId });
  if (crsRulesetId === '' || policy?.crsRulesetId === crsRulesetId) return;
  const { orphanedOverrides } = await policies.previewCrsImpact({ policyId, crsRulesetId });
  const lost = orphanedOverrides.map(({ crsRuleId }) => `rule ${crsRuleId}`);
  const what = `%s overrides and exclusions are of rules that ruleset ${crsRulesetId} does not have`;
  await requireLeaving(context, flags, lost, what);
}
