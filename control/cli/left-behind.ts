/**
 * What a change would leave without effect or take away: exclusions, overrides and rules. A command
 * names it and asks first; where nobody can be asked, it wants a flag.
 */

import { AppError } from '../../base/errors.ts';
import type { ApiClient } from './api-client.ts';
import { allPages } from './all-pages.ts';
import { askLine } from './auth-prompt.ts';
import type { CommandContext, FlagValues } from './command.ts';
import { switchFlag } from './command.ts';
import { printable } from './show.ts';

/** The flag that answers in place of the operator. */
export const leaveFlag = {
  flags: '--leave-exclusions',
  summary: 'continue although exclusions, overrides or rules lose their effect',
};

/** More names than this are counted. */
const namesMax = 10;

/** Exclusions, overrides and rules at a policy, in words; those whose site is meant. */
export async function tuningAt(
  { ruleOverrides, customRules }: ApiClient,
  policyId: string,
  isMeant: (siteId: string) => boolean = () => true,
): Promise<string[]> {
  const overrides = await allPages((page) => ruleOverrides.listRuleOverrides({ policyId, page }));
  const rules = await allPages((page) => customRules.listCustomRules({ policyId, page }));
  return [
    ...overrides.filter((one) => isMeant(one.siteId)).map(({ crsRuleId }) => `rule ${crsRuleId}`),
    ...rules
      .filter((one) => isMeant(one.siteId))
      .map(({ name }) => `custom rule ${printable(name)}`),
  ];
}

/**
 * Returns where nothing is lost, or the operator accepts that. `what` is a sentence with `%s` for
 * the number. Errors: AppError not_confirmed.
 */
export async function requireLeaving(
  context: CommandContext,
  flags: FlagValues,
  lost: readonly string[],
  what: string,
): Promise<void> {
  if (lost.length === 0) return;
  const names = [...new Set(lost)];
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  const shown = names.slice(0, namesMax).join(', ') + more;
  const said = `${what.replace('%s', String(lost.length))}: ${shown}.`;
  if (switchFlag(flags, 'leaveExclusions')) {
    context.output.note(said);
    return;
  }
  const asks = context.output.format === 'table' && process.stdin.isTTY;
  if (asks) {
    context.output.note(said);
    if (/^y(?:es)?$/i.test(await askLine('Continue? [y/N] ', '--leave-exclusions'))) return;
  }
  const message = 'Nothing was changed. Add --leave-exclusions to continue.';
  throw new AppError('not_confirmed', asks ? message : `${said} ${message}`, { source: 'client' });
}
