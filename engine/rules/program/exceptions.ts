/**
 * SecRuleRemove* and SecRuleUpdate*. They act on rules before and after them, as in
 * ModSecurity v3: an exception that would silently not apply is the worse mistake. One that finds
 * no rule at all is reported.
 */

import type {
  Directive,
  SecRuleRemoveByIdDirective,
  SecRuleRemoveByTextDirective,
  SecRuleUpdateActionDirective,
  SecRuleUpdateOperatorDirective,
  SecRuleUpdateTargetDirective,
  Token,
  VariableExpression,
} from '../language/ast.ts';
import { quoteForMessage } from '../language/diagnostic.ts';
import { formatVariable } from '../language/print.ts';
import type { LinkContext } from './link-context.ts';
import type { RuleDraft } from './rule-drafts.ts';

/** Changes `drafts` by every exception among the directives, in order. Errors: reported. */
export function applyExceptions(
  directives: readonly Directive[],
  drafts: readonly RuleDraft[],
  context: LinkContext,
): void {
  for (const directive of directives) {
    switch (directive.kind) {
      case 'SecRuleRemoveById':
        removeById(directive, drafts, context);
        break;
      case 'SecRuleRemoveByTag':
      case 'SecRuleRemoveByMsg':
        removeByText(directive, drafts, context);
        break;
      case 'SecRuleUpdateTargetById':
      case 'SecRuleUpdateTargetByTag':
      case 'SecRuleUpdateTargetByMsg':
        updateTargets(directive, drafts, context);
        break;
      case 'SecRuleUpdateActionById':
        updateActions(directive, drafts, context);
        break;
      case 'SecRuleUpdateOperatorById':
        updateOperator(directive, drafts, context);
        break;
      default:
    }
  }
}

function removeById(
  directive: SecRuleRemoveByIdDirective,
  drafts: readonly RuleDraft[],
  context: LinkContext,
): void {
  for (const token of directive.ids) {
    for (const range of readRanges(token, context)) {
      const found = drafts.filter((draft) => contains(range, draft.id));
      for (const draft of found) draft.removed = true;
      // A range is written for whatever may lie in it; a single id is meant.
      if (found.length === 0 && range.from === range.to) reportUnused(token, context);
    }
  }
}

function removeByText(
  directive: SecRuleRemoveByTextDirective,
  drafts: readonly RuleDraft[],
  context: LinkContext,
): void {
  const by = directive.kind === 'SecRuleRemoveByTag' ? 'tag' : 'msg';
  const matches = textMatcher(directive.pattern, context);
  const found = drafts.filter((draft) => hasText(draft, by, matches));
  for (const draft of found) draft.removed = true;
  if (found.length === 0) reportUnused(directive.pattern, context);
}

function updateTargets(
  directive: SecRuleUpdateTargetDirective,
  drafts: readonly RuleDraft[],
  context: LinkContext,
): void {
  const { subject } = directive;
  const found =
    directive.kind === 'SecRuleUpdateTargetById'
      ? findById(subject, drafts, context)
      : findByText(directive.kind, subject, drafts, context);
  const rules = found.filter((draft) => draft.directive.kind === 'SecRule');
  if (rules.length === 0) reportUnused(subject, context);
  for (const draft of rules) changeTargets(draft, directive, context);
}

function changeTargets(
  draft: RuleDraft,
  { variables, replaced }: SecRuleUpdateTargetDirective,
  context: LinkContext,
): void {
  const added = variables.flatMap((variable) => withNames(variable, context));
  if (replaced === null) {
    draft.variables.push(...added);
    return;
  }
  const old = formatVariable(replaced).toLowerCase();
  const at = draft.variables.findIndex((entry) => formatVariable(entry).toLowerCase() === old);
  if (at >= 0) draft.variables.splice(at, 1, ...added);
  else {
    const message = `the rule ${draft.id} has no target ${quoteForMessage(old)} to replace`;
    context.report('warning', 'nothing-replaced', message, replaced.span);
  }
}

/**
 * An exclusion by regular expression also takes out the matching names (`ARGS:/x/` those of
 * ARGS_NAMES): ModSecurity v3 compares such an expression with the key alone.
 */
function withNames(variable: VariableExpression, context: LinkContext): VariableExpression[] {
  if (!variable.exclusion || variable.selector.kind !== 'regex') return [variable];
  const name = { ...variable.name, text: `${variable.name.text}_NAMES` };
  return context.variables.find(name.text) === undefined
    ? [variable]
    : [variable, { ...variable, name }];
}

function updateActions(
  directive: SecRuleUpdateActionDirective,
  drafts: readonly RuleDraft[],
  context: LinkContext,
): void {
  const found = findById(directive.subject, drafts, context);
  if (found.length === 0) reportUnused(directive.subject, context);
  for (const draft of found) draft.updates.push([...directive.actions]);
}

/** A SecAction has no operator to change. */
function updateOperator(
  directive: SecRuleUpdateOperatorDirective,
  drafts: readonly RuleDraft[],
  context: LinkContext,
): void {
  const found = findById(directive.subject, drafts, context);
  const rules = found.filter((draft) => draft.directive.kind === 'SecRule');
  if (rules.length === 0) reportUnused(directive.subject, context);
  for (const draft of rules) draft.operator = directive.operator;
}

interface IdRange {
  readonly from: number;
  readonly to: number;
  /** Link of the chain; 0 is its first rule. */
  readonly offset: number;
}

function contains(range: IdRange, id: number): boolean {
  return id > 0 && id >= range.from && id <= range.to;
}

/** Reads `1`, `1-5`, `1:2` and lists of them parted by commas or white space. */
function readRanges(token: Token, context: LinkContext): IdRange[] {
  const ranges: IdRange[] = [];
  for (const part of token.text.split(/[\s,]+/).filter((text) => text !== '')) {
    const match = /^(\d{1,15})(?:-(\d{1,15})|:(\d{1,3}))?$/.exec(part);
    const from = Number(match?.[1] ?? -1);
    const to = Number(match?.[2] ?? from);
    if (match === null || to < from) {
      const message = `expected an id or a range of ids, got ${quoteForMessage(part)}`;
      context.report('error', 'bad-id', message, token.span);
    } else ranges.push({ from, to, offset: Number(match[3] ?? 0) });
  }
  return ranges;
}

function findById(token: Token, drafts: readonly RuleDraft[], context: LinkContext): RuleDraft[] {
  const found: RuleDraft[] = [];
  for (const range of readRanges(token, context)) {
    for (const draft of drafts) {
      if (!contains(range, draft.id)) continue;
      const link = range.offset === 0 ? draft : draft.links[range.offset - 1];
      if (link !== undefined) found.push(link);
    }
  }
  return found;
}

function findByText(
  kind: 'SecRuleUpdateTargetByTag' | 'SecRuleUpdateTargetByMsg',
  token: Token,
  drafts: readonly RuleDraft[],
  context: LinkContext,
): RuleDraft[] {
  const matches = textMatcher(token, context);
  const by = kind === 'SecRuleUpdateTargetByTag' ? 'tag' : 'msg';
  return drafts
    .flatMap((draft) => [draft, ...draft.links])
    .filter((draft) => hasText(draft, by, matches));
}

function hasText(draft: RuleDraft, by: 'tag' | 'msg', matches: (text: string) => boolean): boolean {
  return draft.directive.actions.some(
    (action) => action.name.text.toLowerCase() === by && matches(action.value?.text ?? ''),
  );
}

/** Equal (ModSecurity v3), or found as a regular expression (ModSecurity v2 and its manual). */
function textMatcher(token: Token, context: LinkContext): (text: string) => boolean {
  const regex = context.compileRegex(token.text, false);
  if (!('failure' in regex)) return (text) => text === token.text || regex.test(text);
  const message = 'this is no regular expression: it is compared as it stands';
  context.report('warning', 'plain-text', message, token.span);
  return (text) => text === token.text;
}

function reportUnused(token: Token, context: LinkContext): void {
  const message = `no rule is meant by ${quoteForMessage(token.text)}`;
  context.report('warning', 'exception-without-rule', message, token.span);
}
