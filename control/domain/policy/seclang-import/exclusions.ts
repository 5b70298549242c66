/**
 * Directives that take rules or targets away. One rule of the rule set becomes an override, which
 * people see beside the rule; ranges, tags and messages become an exclusion that is a custom rule.
 */

import { counted } from '../../../../base/counted.ts';
import { decodeUtf8 } from '../../../../base/byte-string.ts';
import type {
  SecRuleRemoveByIdDirective,
  SecRuleRemoveByTextDirective,
  SecRuleUpdateTargetDirective,
  VariableExpression,
} from '../../../../engine/rules/language/ast.ts';
import { formatVariable } from '../../../../engine/rules/language/print.ts';
import type { RuleOverrideJson } from '../../../../proto/gen/waf/v1/rule_override_pb.ts';
import { insteadOfEvaluation, isEvaluationRule } from '../evaluation-rules.ts';
import { ruleTarget } from '../rule-overrides.ts';
import { honored, ignored, refused, type Verdict } from './report.ts';

/** What an import has to know of a rule. */
export interface KnownRule {
  readonly id: number;
  /** Target lists as SecLang, for example `ARGS` and `!REQUEST_COOKIES:/__utm/`. */
  readonly targets: readonly string[];
  readonly tags: readonly string[];
  readonly msg: string;
  /** SHA-256 of its text, in hex; left out where that is not known. */
  readonly textSha256?: string;
}

/** Directives that this file reads. */
export type ExclusionDirective =
  SecRuleRemoveByIdDirective | SecRuleRemoveByTextDirective | SecRuleUpdateTargetDirective;

/** Of the actions of one custom rule, whose text has at most 64 KB. */
const controlsCharactersMax = 48 * 1024;

/** The rules that exclusions may mean, and what they become. */
export class Exclusions {
  /** `ctl` actions of each directive that is no override. */
  readonly controls: {
    readonly directive: ExclusionDirective;
    readonly label: string;
    readonly actions: readonly string[];
  }[] = [];
  /** Directives whose targets were taken. */
  readonly updated: SecRuleUpdateTargetDirective[] = [];
  private readonly ruleset: ReadonlyMap<number, KnownRule>;
  private readonly own: readonly KnownRule[];
  private readonly numberOf: (id: number) => number;
  private readonly disabled = new Set<number>();
  private readonly removed = new Map<number, Set<string>>();
  private readonly added = new Map<number, Set<string>>();

  /** `own` are rules of the set-up itself, under their old numbers; `numberOf` gives the new. */
  constructor(
    ruleset: readonly KnownRule[],
    own: readonly KnownRule[],
    numberOf: (id: number) => number,
  ) {
    this.ruleset = new Map(ruleset.map((rule) => [rule.id, rule]));
    this.own = own;
    this.numberOf = numberOf;
  }

  /** Takes a directive in. */
  take(directive: ExclusionDirective): Verdict {
    switch (directive.kind) {
      case 'SecRuleRemoveById':
        return this.removeIds(directive, directive.ids.map(({ text }) => text).join(' '));
      case 'SecRuleRemoveByTag':
      case 'SecRuleRemoveByMsg': {
        const found = this.byText(directive.kind.endsWith('Tag'), directive.pattern.text);
        const label = `${directive.name.text} ${directive.pattern.text}`;
        return this.control(directive, label, found, (range) => `ruleRemoveById=${range}`);
      }
      default:
        return this.updateTargets(directive);
    }
  }

  /** The overrides of all directives, one a rule. */
  overrides(): RuleOverrideJson[] {
    const ids = new Set([...this.disabled, ...this.removed.keys(), ...this.added.keys()]);
    return [...ids].sort((left, right) => left - right).map((id) => this.overrideOf(id));
  }

  private overrideOf(id: number): RuleOverrideJson {
    const base = { crsRuleId: String(id), rationale: 'Imported from a ModSecurity set-up' };
    if (this.disabled.has(id)) return { ...base, actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE' };
    const removedTargets = [...(this.removed.get(id) ?? [])];
    const addedTargets = [...(this.added.get(id) ?? [])];
    return {
      ...base,
      actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT',
      ...(removedTargets.length === 0 ? {} : { removedTargets }),
      ...(addedTargets.length === 0 ? {} : { addedTargets }),
    };
  }

  private removeIds(directive: ExclusionDirective, text: string): Verdict {
    const ranges = readRanges(text);
    if (ranges === null) return refused(`no numbers or ranges of rules: ${text}`);
    const single = ranges.flatMap(([from, to]) => (from === to ? [from] : []));
    if (single.length === ranges.length && single.every((id) => this.ruleset.has(id))) {
      for (const id of single) this.disabled.add(id);
      return honored(`override of rule ${single.join(', ')}: disabled`);
    }
    const found = this.within(ranges);
    return this.control(
      directive,
      `${directive.name.text} ${text}`,
      found,
      (range) => `ruleRemoveById=${range}`,
    );
  }

  private updateTargets(directive: SecRuleUpdateTargetDirective): Verdict {
    const { kind, subject, variables, replaced } = directive;
    const ranges = kind.endsWith('Id') ? readRanges(subject.text) : null;
    const meant =
      ranges !== null
        ? this.within(ranges)
        : kind.endsWith('Id')
          ? null
          : this.byText(kind.endsWith('Tag'), subject.text);
    if (meant === null) return refused(`cannot be read as numbers or a pattern: ${subject.text}`);
    const gone = [
      ...variables.filter(({ exclusion }) => exclusion),
      ...(replaced === null ? [] : [replaced]),
    ].map(plain);
    const more = variables.filter(({ exclusion }) => !exclusion).map(plain);
    // Messages of rules that sum scores up name attacks, too: without targets of theirs they stay.
    const found = meant.filter(
      (one) => !this.evaluates(one) || gone.some((target) => reads(one, target)),
    );
    const [rule] = found;
    if (rule === undefined) return ignored('neither the rule set nor the set-up has such a rule');
    const single = found.length === 1 && this.ruleset.has(rule.id);
    if (single && [...gone, ...more].every((target) => ruleTarget.test(target))) {
      this.updated.push(directive);
      return this.overrideTargets(rule, gone, more);
    }
    if (more.length > 0) {
      return refused('targets are added to one rule of the rule set at a time: one line for each');
    }
    if (gone.some((target) => target.startsWith('&'))) {
      return refused('a number of values (&) cannot be excluded from several rules');
    }
    this.updated.push(directive);
    const label = `${directive.name.text} ${subject.text}`;
    return this.control(directive, label, found, (range) =>
      gone.map((target) => `ruleRemoveTargetById=${range};${target}`),
    );
  }

  private overrideTargets(
    rule: KnownRule,
    gone: readonly string[],
    more: readonly string[],
  ): Verdict {
    const read = gone.filter((target) => reads(rule, target));
    if (read.length === 0 && more.length === 0) {
      return ignored(`rule ${rule.id} does not read ${gone.join(', ')}`);
    }
    addAll(this.removed, rule.id, read);
    addAll(this.added, rule.id, more);
    const parts = [
      ...(read.length === 0 ? [] : [`without ${read.join(', ')}`]),
      ...(more.length === 0 ? [] : [`with ${more.join(', ')}`]),
    ];
    return honored(`override of rule ${rule.id}: ${parts.join(', ')}`);
  }

  private control(
    directive: ExclusionDirective,
    label: string,
    found: readonly KnownRule[],
    actionOf: (range: string) => string | readonly string[],
  ): Verdict {
    if (found.length === 0) return ignored('neither the rule set nor the set-up has such a rule');
    const evaluation = found.find((one) => this.evaluates(one));
    if (evaluation !== undefined) return refused(`rule ${evaluation.id} ${insteadOfEvaluation}`);
    const actions = this.rangesOf(found).flatMap(actionOf);
    if (actions.join().length > controlsCharactersMax) {
      return refused('it is too long as one custom rule: write several with a part of it each');
    }
    this.controls.push({ directive, label: decodeUtf8(label), actions });
    const rules = counted(found.length, 'rule');
    return honored(`custom rule "${decodeUtf8(label).slice(0, 80)}" for ${rules}`);
  }

  private evaluates({ id }: KnownRule): boolean {
    return this.ruleset.has(id) && isEvaluationRule(id);
  }

  /** Ranges that hold these rules and no other rule of the rule set or the set-up. */
  private rangesOf(found: readonly KnownRule[]): string[] {
    const wanted = new Set(found.map(({ id }) => this.numberOf(id)));
    const all = [...this.ruleset.keys(), ...this.own.map(({ id }) => this.numberOf(id))];
    const ranges: [number, number][] = [];
    let open = false;
    for (const id of [...new Set(all)].sort((left, right) => left - right)) {
      const last = ranges.at(-1);
      if (!wanted.has(id)) open = false;
      else if (open && last !== undefined) last[1] = id;
      else {
        ranges.push([id, id]);
        open = true;
      }
    }
    return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  }

  private within(ranges: readonly (readonly [number, number])[]): KnownRule[] {
    const all = [...this.ruleset.values(), ...this.own];
    return all.filter(({ id }) => ranges.some(([from, to]) => id >= from && id <= to));
  }

  /**
   * Equal (ModSecurity v3), or found as a regular expression (ModSecurity v2 and its manual); what
   * is no regular expression is compared as it stands.
   */
  private byText(inTags: boolean, pattern: string): KnownRule[] {
    const wanted = decodeUtf8(pattern);
    const regex = regexOf(wanted);
    const fits = (text: string): boolean => text === wanted || (regex?.test(text) ?? false);
    const all = [...this.ruleset.values(), ...this.own];
    return all.filter(({ tags, msg }) => (inTags ? tags.some(fits) : fits(msg)));
  }
}

function regexOf(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern);
  } catch {
    return null;
  }
}

function plain(variable: VariableExpression): string {
  const name = { ...variable.name, text: variable.name.text.toUpperCase() };
  return decodeUtf8(formatVariable({ ...variable, name, exclusion: false }));
}

/** Whether excluding the target changes what the rule looks at. */
function reads({ targets }: KnownRule, target: string): boolean {
  const base = (text: string): string => text.split(':')[0]!.toUpperCase();
  return targets.some((one) => !one.startsWith('!') && base(one) === base(target));
}

function addAll(map: Map<number, Set<string>>, id: number, targets: readonly string[]): void {
  if (targets.length === 0) return;
  map.set(id, new Set([...(map.get(id) ?? []), ...targets]));
}

/** `942100`, `942100-942199`, several of them with blanks or commas between. */
function readRanges(text: string): [number, number][] | null {
  const ranges: [number, number][] = [];
  for (const item of text.trim().split(/[\s,]+/)) {
    const found = /^(\d{1,12})(?:-(\d{1,12}))?$/.exec(item);
    if (found === null) return null;
    const from = Number(found[1]);
    const to = Number(found[2] ?? found[1]);
    if (from > to) return null;
    ranges.push([from, to]);
  }
  return ranges;
}
