/** The way from target expressions to targets: names, selectors, exclusions. */

import { internText } from '../../../base/byte-string.ts';
import { lowerBytes } from '../transaction/macro.ts';
import type { Target, TargetSelector, VariableDefinition } from '../transaction/types.ts';
import type { Selector, VariableExpression } from '../language/ast.ts';
import { quoteForMessage } from '../language/diagnostic.ts';
import { findNamed, type LinkContext } from './link-context.ts';

/** A rule's targets and exclusions, in order. */
export interface LinkedTargets {
  readonly targets: readonly Target[];
  readonly exclusions: readonly Target[];
}

/** Links a target list. Errors: reported, null. */
export function linkTargets(
  variables: readonly VariableExpression[],
  context: LinkContext,
): LinkedTargets | null {
  const targets: Target[] = [];
  const exclusions: Target[] = [];
  let failed = false;
  for (const expression of variables) {
    const target = linkTarget(expression, context);
    if (target === null) failed = true;
    else if (expression.exclusion) exclusions.push(target);
    else targets.push(target);
  }
  return failed ? null : { targets, exclusions };
}

function linkTarget(expression: VariableExpression, context: LinkContext): Target | null {
  const variable = findNamed(context.variables, expression.name, context.report);
  if (variable === null) return null;
  const { selector, count } = expression;
  if (selector.kind === 'none') return { variable, selector: null, count };
  if (variable.shape === 'scalar' || variable.selector === 'none') {
    const message = `${variable.name} has one value and takes no selector`;
    context.report('error', 'unexpected-selector', message, selector.span);
    return null;
  }
  const linked = linkSelector(variable, selector, context);
  if (linked === null) return null;
  if (linked.kind !== 'xpath' || !variable.forXPath) return { variable, selector: linked, count };
  const served = variable.forXPath(linked.text);
  if (served !== null) return { variable: served, selector: linked, count };
  const message = `the XPath expression ${quoteForMessage(linked.text)} is not supported`;
  context.report('error', 'bad-selector', message, selector.span);
  return null;
}

function linkSelector(
  variable: VariableDefinition,
  selector: Exclude<Selector, { kind: 'none' }>,
  context: LinkContext,
): TargetSelector | null {
  const { text } = selector;
  if (variable.selector === 'xpath' || selector.kind === 'xpath') return { kind: 'xpath', text };
  if (selector.kind === 'literal') return { kind: 'key', key: internText(lowerBytes(text)) };
  const regex = context.compileRegex(text, true);
  if ('failure' in regex) {
    const message = `the selector ${quoteForMessage(text)} is no regular expression`;
    context.report('error', 'bad-selector', message, selector.span);
    return null;
  }
  return { kind: 'regex', text, regex };
}
