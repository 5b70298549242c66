/** The way from a draft to a rule: targets, operator and actions bound, chain linked. */

import type {
  BindContext,
  BoundOperator,
  DataFile,
  Disruption,
  Rule,
  RuleTemplate,
} from '../transaction/types.ts';
import type { OperatorExpression } from '../language/ast.ts';
import { formatOperator } from '../language/print.ts';
import { createActionState, type ActionState } from './action-state.ts';
import { applyActions } from './link-actions.ts';
import { bindContext, checkMacros, findNamed, type LinkContext } from './link-context.ts';
import type { RuleDraft } from './rule-drafts.ts';
import { placeRule } from './place-rule.ts';
import { linkTargets, type LinkedTargets } from './targets.ts';

/**
 * Links a rule with its chain; `firstIndex` is the starter's, links take the following ones.
 * Shape: the starter first, then its links. Errors: reported, null.
 */
export function linkRule(
  draft: RuleDraft,
  firstIndex: number,
  pcreMatchLimit: number,
  context: LinkContext,
): Rule[] | null {
  const members = [draft, ...draft.links];
  const parts = members.map((member) =>
    linkParts(member, member !== draft, pcreMatchLimit, context),
  );
  // A status in a link counts for the chain; the last one stated does, as in libmodsecurity.
  const stated = parts.findLast((part) => (part?.state.status ?? 0) > 0);
  if (stated && parts[0]) parts[0].state.status = stated.state.status;
  const rules: Rule[] = [];
  let next: Rule | null = null;
  // From the end, because each rule holds the one that follows it.
  for (let at = members.length - 1; at >= 0; at -= 1) {
    const member = members[at];
    const part = parts[at];
    if (member === undefined || part === undefined || part === null) continue;
    next = placeRule(templateOf(member, part), firstIndex + at, next);
    rules.unshift(next);
  }
  if (!parts.includes(null)) return rules;
  for (const part of parts) part?.operator?.close?.();
  return null;
}

interface RuleParts {
  readonly targets: LinkedTargets;
  readonly operator: BoundOperator | null;
  readonly dataFiles: readonly DataFile[];
  readonly state: ActionState;
}

function linkParts(
  draft: RuleDraft,
  isLink: boolean,
  pcreMatchLimit: number,
  context: LinkContext,
): RuleParts | null {
  const { directive } = draft;
  const dataFiles: DataFile[] = [];
  const bind = noteDataFiles(bindContext(context, directive.span.file, pcreMatchLimit), dataFiles);
  const targets = linkTargets(draft.variables, context);
  const state = linkActions(draft, isLink, context, bind);
  if (directive.kind === 'SecAction') {
    return targets && { targets, operator: null, dataFiles, state };
  }
  const operator = linkOperator(draft.operator ?? directive.operator, context, bind);
  if (targets !== null && targets.targets.length === 0) {
    const message = 'the rule has no target: it can never match';
    context.report('warning', 'no-target', message, directive.span);
  }
  return targets && operator && { targets, operator, dataFiles, state };
}

/** The same context; what is read through it is added to `dataFiles`. */
function noteDataFiles(bind: BindContext, dataFiles: DataFile[]): BindContext {
  return {
    ...bind,
    readDataFile: (name, fromFile) => {
      const text = bind.readDataFile(name, fromFile);
      if (text !== null) dataFiles.push({ name, text });
      return text;
    },
  };
}

function linkActions(
  draft: RuleDraft,
  isLink: boolean,
  context: LinkContext,
  bind: BindContext,
): ActionState {
  const state = createActionState();
  // Defaults were checked where they stand; a link takes their transformations alone.
  const silent: LinkContext = { ...context, report: () => undefined, told: new Set() };
  const defaults = isLink
    ? draft.defaults.filter((action) => action.name.text.toLowerCase() === 't')
    : draft.defaults;
  applyActions(state, defaults, 'defaults', silent, bind);
  applyActions(state, draft.directive.actions, isLink ? 'link' : 'rule', context, bind);
  for (const update of draft.updates) applyActions(state, update, 'update', context, bind);
  return state;
}

function linkOperator(
  expression: OperatorExpression,
  context: LinkContext,
  bind: BindContext,
): BoundOperator | null {
  const definition = findNamed(context.operators, expression.name, context.report);
  if (definition === null) return null;
  const { text, span } = expression.argument;
  const at = text === '' ? expression.span : span;
  if (definition.argument === 'none' && text !== '') {
    const message = `@${definition.name} takes no argument`;
    context.report('error', 'unexpected-argument', message, at);
    return null;
  }
  if (definition.argument === 'required' && text === '') {
    const message = `@${definition.name} needs an argument`;
    context.report('error', 'missing-argument', message, at);
    return null;
  }
  const bound = definition.bind(text, bind);
  if ('failure' in bound) {
    context.report('error', 'bad-argument', `@${definition.name}: ${bound.failure}`, at);
    return null;
  }
  if (definition.caution !== undefined) {
    const message = `@${definition.name} ${definition.caution}`;
    context.report('warning', 'mapped-operator', message, at);
  }
  checkMacros(context, text, at);
  return bound;
}

function templateOf(draft: RuleDraft, parts: RuleParts): RuleTemplate {
  const { directive } = draft;
  const { state, operator } = parts;
  const isRule = directive.kind === 'SecRule';
  return {
    kind: 'rule',
    id: draft.id,
    phase: draft.phase,
    targets: parts.targets.targets,
    exclusions: parts.targets.exclusions,
    operator,
    negated: isRule && (draft.operator ?? directive.operator).negated,
    transformations: state.transformations,
    multiMatch: state.multiMatch,
    capture: state.capture,
    actions: state.actions,
    disruption: decideDisruption(state),
    skip: state.skip,
    skipAfter: state.skipAfter,
    message: state.message,
    logData: state.logData,
    severity: state.severity,
    tags: state.tags,
    rev: state.rev,
    ver: state.ver,
    maturity: state.maturity,
    accuracy: state.accuracy,
    log: state.log,
    auditLog: state.auditLog,
    namespaces: state.namespaces,
    location: { file: directive.span.file, line: directive.span.line },
    operatorText: isRule ? formatOperator(draft.operator ?? directive.operator) : '',
    dataFiles: parts.dataFiles,
  };
}

/** The default disruptive action counts for `block` alone. Source: ModSecurity v3. */
function decideDisruption(state: ActionState): Disruption {
  const pass = { kind: 'pass', location: null } as const;
  const own = state.disruptive ?? pass;
  const choice = own.kind === 'block' ? (state.defaultDisruptive ?? pass) : own;
  const kind = choice.kind === 'block' ? 'pass' : choice.kind;
  const isRedirect = kind === 'redirect';
  const fits = isRedirect ? state.status >= 300 && state.status <= 308 : state.status > 0;
  const status = fits ? state.status : isRedirect ? 302 : 403;
  return { kind, status, location: choice.location };
}
