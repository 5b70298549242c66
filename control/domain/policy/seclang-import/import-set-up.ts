/**
 * A ModSecurity set-up as a policy: settings, overrides of rules, custom rules, and a report in
 * which every directive has exactly one fate. Pure; the files come from the caller.
 */

import { decodeUtf8 } from '../../../../base/byte-string.ts';
import type {
  Directive,
  SecActionDirective,
  SecRuleDirective,
  SecRuleUpdateTargetDirective,
} from '../../../../engine/rules/language/ast.ts';
import { parseSecLang } from '../../../../engine/rules/language/parse.ts';
import { formatVariable } from '../../../../engine/rules/language/print.ts';
import type { CustomRuleJson } from '../../../../proto/gen/waf/v1/custom_rule_pb.ts';
import type { RuleOverrideJson } from '../../../../proto/gen/waf/v1/rule_override_pb.ts';
import { evaluationInDirective } from '../evaluation-rules.ts';
import { resourceLimits } from '../../../limits/resource-limits.ts';
import { takeConfig } from './config-directives.ts';
import { Exclusions, type KnownRule } from './exclusions.ts';
import { readDefaultActions, type DefaultActions } from './default-actions.ts';
import { chainsOf, customRuleOf, idOf, RuleNumbers, type Chain } from './own-rules.ts';
import { findFile, readSetUp, type PlacedDirective, type SetUpFiles } from './read-order.ts';
import {
  actionValue,
  entryOf,
  honored,
  refused,
  refusedAt,
  type ReportEntry,
  type Verdict,
} from './report.ts';
import { rulesetFates, type KnownRuleset, type RulesetFates } from './ruleset-edits.ts';
import { mapSources, sourceOf, type SourceMap } from './source-map.ts';
import { takeVariable, type ImportedSettings } from './setup-variables.ts';

/** What a set-up becomes. */
export interface ImportedSetUp {
  readonly settings: ImportedSettings;
  readonly overrides: readonly RuleOverrideJson[];
  readonly customRules: readonly CustomRuleJson[];
  /** Rules that only show the compiler the targets of overrides; no policy has them. */
  readonly probes: readonly CustomRuleJson[];
  /** The digits of the release that crs-setup.conf is for, such as 334; '' when it says none. */
  readonly setupVersion: string;
  /** Where each custom rule comes from, by its number in the policy. */
  readonly origins: ReadonlyMap<string, RuleOrigin>;
  /** One entry a directive, by file and line. */
  readonly report: readonly ReportEntry[];
}

/** Where a custom rule comes from. */
export interface RuleOrigin {
  /** The directive that makes it, as `KnownFaults` name it. */
  readonly directive: string;
  readonly sources: SourceMap;
}

/** What else keeps directives from being taken, such as the compiler: verdicts by directive. */
export type KnownFaults = ReadonlyMap<string, Verdict>;

/** Imports a set-up for a rule set whose rules are known. Cost: linear in its text. */
export function importSetUp(
  setUp: SetUpFiles,
  ruleset: KnownRuleset,
  faults: KnownFaults = new Map(),
): ImportedSetUp {
  const { placed, entries } = readSetUp(setUp);
  const run = new ImportRun(setUp, placed, ruleset, faults);
  const fates = placed.map((one) => entryOf(one.directive, run.take(one)));
  const report = [...entries, ...fates].sort(
    (left, right) =>
      (left.file < right.file ? -1 : left.file > right.file ? 1 : 0) || left.line - right.line,
  );
  return { ...run.result(), report };
}

/** The fault of a directive from one of the custom rule that it became, at a place of its text. */
export function faultOf(
  { sources }: RuleOrigin,
  line: number,
  column: number,
  message: string,
): Verdict {
  const place = sourceOf(sources, line, column);
  return place === undefined ? refused(message) : refusedAt(place, message);
}

/** Rules of modsecurity.conf that every policy has, under the same numbers. */
const standardRules = new Set([200_000, 200_001, 200_002, 200_003, 200_004, 200_005, 200_006]);
const parseFailureRule = 200_002;
/** Actions of a SecAction that only set variables up. */
const setupActions = [
  'id',
  'phase',
  'pass',
  'nolog',
  'log',
  'auditlog',
  'noauditlog',
  't',
  'ver',
  'tag',
  'msg',
  'setvar',
];
/** Set by the rule set itself. */
const versionVariable = 'crs_setup_version';

class ImportRun {
  private readonly setUp: SetUpFiles;
  private readonly chains: ReadonlyMap<Directive, Chain>;
  private readonly heads: ReadonlyMap<Directive, Directive>;
  private readonly numbers: RuleNumbers;
  private readonly exclusions: Exclusions;
  private readonly rulesetFate: RulesetFates;
  private readonly fates = new Map<Directive, Verdict>();
  private readonly defaults: DefaultActions;
  private setupVersion = '';
  private readonly customRules: CustomRuleJson[] = [];
  private readonly origins = new Map<string, RuleOrigin>();
  private readonly faults: KnownFaults;
  private readonly settings: ImportedSettings = {
    engineState: 'off',
    blockingMode: 'anomaly',
    crsCore: {},
    httpPolicy: {},
    argLimits: {},
  };

  constructor(
    setUp: SetUpFiles,
    placed: readonly PlacedDirective[],
    ruleset: KnownRuleset,
    faults: KnownFaults,
  ) {
    this.setUp = setUp;
    this.faults = faults;
    ({ chains: this.chains, heads: this.heads } = chainsOf(placed));
    this.defaults = readDefaultActions(placed, versionIn(placed));
    this.settings.blockingMode = this.defaults.blockingMode;
    const own = placed
      .filter(({ directive, ofRuleset }) => !ofRuleset && idOf(directive) !== 0)
      .map(({ directive }) => knownRule(directive as SecRuleDirective));
    const numbered = own.filter(({ id }) => !standardRules.has(id));
    this.numbers = new RuleNumbers(numbered.map(({ id }) => id));
    this.rulesetFate = rulesetFates(setUp, ruleset);
    const numberOf = (id: number): number => this.numbers.of(id);
    this.exclusions = new Exclusions(ruleset.rules, own, numberOf);
  }

  /** The policy, when every directive was taken. */
  result(): Omit<ImportedSetUp, 'report'> {
    const { settings, exclusions } = this;
    const { blockingParanoiaLevel = 1, detectionParanoiaLevel } = settings.crsCore;
    if ((detectionParanoiaLevel ?? blockingParanoiaLevel) < blockingParanoiaLevel) {
      // CRS runs no level that does not count either.
      delete settings.crsCore.detectionParanoiaLevel;
    }
    // Before all other rules, so that they are without what is excluded, too.
    const excluding = exclusions.controls.map(
      ({ directive, label, actions }, at): CustomRuleJson => {
        const id = this.numbers.free();
        const { file, line, column } = directive.span;
        const sources = [{ line: 1, column: 1, place: { file, line, column } }];
        this.origins.set(String(id), { directive: keyOf(directive), sources });
        const controls = actions.map((text) => `ctl:'${text.replaceAll("'", "\\'")}'`);
        const list = [`id:${id}`, 'phase:1', 'pass', 't:none', 'nolog', ...controls].join(',');
        return {
          ruleId: String(id),
          name: label.replace(/[\u0000-\u001f\u007f]/g, ' ').slice(0, 100),
          description: 'Imported exclusion',
          phase: 1,
          placement: 'before_crs',
          sortOrder: at + 1,
          enabled: true,
          seclang: `SecAction "${list.replaceAll('"', '\\"')}"`,
        };
      },
    );
    const customRules = [...excluding, ...this.customRules];
    const probes = exclusions.updated.map((one) => this.probeOf(one));
    const { setupVersion, origins } = this;
    const overrides = exclusions.overrides();
    return { settings, overrides, customRules, probes, origins, setupVersion };
  }

  take(one: PlacedDirective): Verdict {
    const { directive, section, fault } = one;
    if (one.ofRuleset && isRulesetKind(directive)) return this.takeRulesetDirective(directive);
    if (section !== '') {
      return refused(
        `holds inside ${decodeUtf8(section).slice(0, 60)} only: use waf rule override --scope or --site`,
      );
    }
    const evaluation = evaluationInDirective(directive);
    if (evaluation !== null) return refused(evaluation);
    if (fault !== null && !this.heads.has(directive)) return fault;
    switch (directive.kind) {
      case 'Invalid':
        return refused('unreadable');
      case 'Config':
        return takeConfig(directive, this.settings);
      case 'SecDefaultAction':
        return this.defaults.fates.get(directive) ?? refused('it stands where no default can');
      case 'SecRule':
      case 'SecAction':
        return this.takeRule(directive, one);
      case 'SecMarker':
        return this.takeMarker(directive.label.text, one.afterRules);
      case 'SecRuleUpdateActionById':
        return refused('set what a rule does with waf rule override: log-only, a score, disable');
      case 'SecRuleUpdateOperatorById':
        return refused('write a custom rule with the operator and disable the one of the rule set');
      case 'Include':
        return refused('an Include inside a section of the web server');
      default:
        return this.faults.get(keyOf(directive)) ?? this.exclusions.take(directive);
    }
  }

  private takeRulesetDirective(directive: Directive): Verdict {
    const id = idOf(this.heads.get(directive) ?? directive);
    return id === 0 ? honored('the rule set of the policy') : this.rulesetFate(id);
  }

  /** A chain has one fate, which its links share. */
  private takeRule(
    directive: SecRuleDirective | SecActionDirective,
    one: PlacedDirective,
  ): Verdict {
    const head = this.heads.get(directive) ?? directive;
    const known = this.fates.get(head);
    if (known !== undefined) return known;
    const fault = this.chains.get(head)?.fault ?? this.faults.get(keyOf(head));
    const verdict = fault ?? this.takeHead(head as SecRuleDirective | SecActionDirective, one);
    this.fates.set(head, verdict);
    return verdict;
  }

  private takeHead(head: SecRuleDirective | SecActionDirective, one: PlacedDirective): Verdict {
    const id = idOf(head);
    if (standardRules.has(id)) return this.takeStandardRule(id, head);
    const setup = head.kind === 'SecAction' && !one.afterRules ? this.takeSetup(head) : null;
    if (setup === null) return this.keepRule(this.chains.get(head)!, '');
    const { fields, rest } = setup;
    if (rest.actions.length === 0) return honored(fields.join(', '));
    const taken = fields.length === 0 ? '' : `${fields.join(', ')}; `;
    return this.keepRule({ links: [rest], afterRules: false, fault: null }, taken);
  }

  private takeStandardRule(
    id: number,
    { actions }: SecRuleDirective | SecActionDirective,
  ): Verdict {
    const passes = actions.some(({ name }) => name.text.toLowerCase() === 'pass');
    if (id === parseFailureRule) {
      this.settings.httpPolicy.requestBodyParseFailureAction = passes
        ? 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE'
        : 'HTTP_POLICY_VIOLATION_ACTION_BLOCK';
      return honored('httpPolicy.requestBodyParseFailureAction');
    }
    return honored('every policy has this rule');
  }

  private probeOf(directive: SecRuleUpdateTargetDirective): CustomRuleJson {
    const ruleId = String(this.numbers.free());
    const { replaced } = directive;
    const variables = [...directive.variables, ...(replaced === null ? [] : [replaced])];
    const shown = variables.map((one) => formatVariable({ ...one, exclusion: false })).join('|');
    const targets = shown.replaceAll('"', '\\"');
    const text = `SecRule "${targets}" "@unconditionalMatch" "id:${ruleId},phase:2,pass,nolog"`;
    const made = parseSecLang(text, 'rule').directives;
    const sources = mapSources(made, [{ variables, span: directive.span }]);
    this.origins.set(ruleId, { directive: keyOf(directive), sources });
    const rule = { name: 'Probe', phase: 2, placement: 'before_crs', sortOrder: 1, enabled: true };
    return { ruleId, ...rule, seclang: decodeUtf8(text) };
  }

  /** The variables of a SecAction; null when it does more than set them. */
  private takeSetup(
    action: SecActionDirective,
  ): { readonly fields: readonly string[]; readonly rest: SecActionDirective } | null {
    const other = action.actions.some(
      ({ name }) => !setupActions.includes(name.text.toLowerCase()),
    );
    if (other || actionValue(action.actions, 'phase') !== '1') return null;
    const fields: string[] = [];
    const left = action.actions.filter(({ name, value }) => {
      if (name.text.toLowerCase() !== 'setvar') return true;
      const found = /^tx[.:]([\w-]+)=(?![+-])([^%]*)$/i.exec(decodeUtf8(value?.text ?? ''));
      if (found === null) return true;
      const [, variable = '', text = ''] = found;
      const ofRuleset = variable.toLowerCase() === versionVariable;
      if (ofRuleset) this.setupVersion = text.trim();
      const path = ofRuleset
        ? 'the rule set of the policy'
        : takeVariable(this.settings, variable, text);
      if (path !== null) fields.push(path);
      return path === null;
    });
    const sets = left.some(({ name }) => name.text.toLowerCase() === 'setvar');
    if (!sets && fields.length === 0) return null;
    return { fields, rest: { ...action, actions: sets ? left : [] } };
  }

  private keepRule(chain: Chain, also: string): Verdict {
    const readData = (name: string, from: string): string | null =>
      findFile(this.setUp, name, from)?.text ?? null;
    const order = 1000 + this.customRules.length;
    const made = customRuleOf(chain, this.numbers, readData, order);
    if ('fate' in made) return made;
    const most = resourceLimits.customRulesMax;
    if (this.customRules.length + this.exclusions.controls.length >= most) {
      return refused(`a policy has at most ${most} custom rules, exclusions by range included`);
    }
    const { rule, sources } = made;
    const head = chain.links[0]!;
    const namesake = this.origins.get(rule.ruleId ?? '')?.sources[0]?.place;
    if (namesake !== undefined) {
      const { file, line } = namesake;
      const id = head.actions.findLast(({ name }) => name.text.toLowerCase() === 'id') ?? head;
      return refusedAt(id.span, `the rule at ${file}:${line} has this id: give it another`);
    }
    this.customRules.push(rule);
    this.origins.set(rule.ruleId ?? '', { directive: keyOf(head), sources });
    const before = idOf(head);
    const was = String(before) === rule.ruleId ? '' : `, before ${before}`;
    return honored(`${also}custom rule ${rule.ruleId}${was}`);
  }

  /** A place to skip to; it stands with the rule before it. */
  private takeMarker(label: string, afterRules: boolean): Verdict {
    const placement = afterRules ? 'after_crs' : 'before_crs';
    const marker = `SecMarker "${decodeUtf8(label).replaceAll('"', '\\"')}"`;
    const last = this.customRules.at(-1);
    if (last?.placement === placement) {
      this.customRules.splice(-1, 1, { ...last, seclang: `${last.seclang}\n${marker}` });
      return honored(`custom rule ${last.ruleId}`);
    }
    const id = String(this.numbers.free());
    this.customRules.push({
      ruleId: id,
      name: `Marker ${decodeUtf8(label).slice(0, 80)}`,
      phase: 1,
      placement,
      sortOrder: 1000 + this.customRules.length,
      enabled: true,
      seclang: `SecAction "id:${id},phase:1,pass,t:none,nolog"\n${marker}`,
    });
    return honored(`custom rule ${id}`);
  }
}

function keyOf({ span }: Directive): string {
  return `${span.file}:${span.line}:${span.column}`;
}

/** True for what rule files of a release hold; anything else in them was added. */
function isRulesetKind({ kind, name }: Directive): boolean {
  const signature = name.text.toLowerCase() === 'seccomponentsignature';
  return kind === 'SecRule' || kind === 'SecAction' || kind === 'SecMarker' || signature;
}

/** The release that the set-up is for, wherever in it that is said. */
function versionIn(placed: readonly PlacedDirective[]): string {
  for (const { directive } of placed) {
    if (directive.kind !== 'SecAction') continue;
    for (const { name, value } of directive.actions) {
      const set = name.text.toLowerCase() === 'setvar' ? (value?.text ?? '') : '';
      const found = /^tx[.:](\w+)=(\d+)/i.exec(set);
      if (found?.[1]?.toLowerCase() === versionVariable) return found[2] ?? '';
    }
  }
  return '';
}

function knownRule(directive: SecRuleDirective | SecActionDirective): KnownRule {
  const { actions } = directive;
  return {
    id: idOf(directive),
    targets: [],
    tags: actions.flatMap(({ name, value }) =>
      name.text.toLowerCase() === 'tag' && value !== null ? [decodeUtf8(value.text)] : [],
    ),
    msg: decodeUtf8(actionValue(actions, 'msg') ?? ''),
  };
}
