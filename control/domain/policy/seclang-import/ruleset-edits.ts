/**
 * Tells which rules of a set-up's Core Rule Set somebody edited: their text differs from that of
 * the policy's rule set although both are of one release. Another release has other texts of its
 * own, so that an edit of it cannot be seen. Pure; linear in the text.
 */

import { parseSecLang } from '../../../../engine/rules/language/parse.ts';
import { describeRules } from '../crs-rules.ts';
import type { KnownRule } from './exclusions.ts';
import { idOf } from './own-rules.ts';
import { isRulesetFile, type SetUpFiles } from './read-order.ts';
import { actionValue, honored, ignored, refused, type Verdict } from './report.ts';

/** The rule set that a policy is to have. */
export interface KnownRuleset {
  /** Its name in a policy; '' leaves the choice to the deployment. */
  readonly ref: string;
  /** Its release, such as 4.28.0; '' where it is not known. */
  readonly version: string;
  readonly rules: readonly KnownRule[];
}

/** The fate of a rule of the set-up's rule set, by the number of the rule. */
export type RulesetFates = (id: number) => Verdict;

/** Compares the rule files of `setUp` with `ruleset`. */
export function rulesetFates({ files }: SetUpFiles, ruleset: KnownRuleset): RulesetFates {
  const known = new Map(ruleset.rules.map((rule) => [rule.id, rule.textSha256]));
  const ruleFiles = files.filter(({ path }) => isRulesetFile(path));
  const release = releaseOf(ruleFiles);
  const same = ruleset.version !== '' && release === ruleset.version;
  const texts = new Map(
    describeRules(ruleFiles, '').map(({ ruleId, rawSha256 }) => [ruleId, rawSha256]),
  );
  return (id) => {
    if (!known.has(id)) return unknownRule(id, same, ruleset.version);
    if (!same) return honored('the rule set of the policy');
    const wanted = known.get(id);
    if (wanted === undefined || texts.get(id) === wanted) {
      return honored('the rule set of the policy');
    }
    return refused(
      `it is not rule ${id} as release ${ruleset.version} has it, and the policy takes that one: ` +
        'put the difference into an override or a custom rule',
    );
  };
}

function unknownRule(id: number, same: boolean, version: string): Verdict {
  return same
    ? refused(`release ${version} has no rule ${id}: move it to a file of your own rules`)
    : ignored(`the rule set of the policy has no rule ${id}: it is another version`);
}

/** The release that most rules name in `ver`, such as OWASP_CRS/4.28.0; '' for none. */
function releaseOf(files: readonly { readonly path: string; readonly text: string }[]): string {
  const counts = new Map<string, number>();
  for (const { path, text } of files) {
    for (const directive of parseSecLang(text, path).directives) {
      if (directive.kind !== 'SecRule' && directive.kind !== 'SecAction') continue;
      if (idOf(directive) === 0) continue;
      const release = /^OWASP_CRS\/([\w.-]{1,40})$/.exec(
        actionValue(directive.actions, 'ver') ?? '',
      )?.[1];
      if (release !== undefined) counts.set(release, (counts.get(release) ?? 0) + 1);
    }
  }
  const [first] = [...counts].toSorted(([, left], [, right]) => right - left);
  return first?.[0] ?? '';
}
