/**
 * What each action of a rule means for the rule. Runtime actions are bound here and run later;
 * all others only change the rule's own properties. `id`, `phase` and `chain` were read before.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { ActionDefinition, BindContext } from '../transaction/types.ts';
import type { ActionExpression, Token } from '../language/ast.ts';
import { quoteForMessage } from '../language/diagnostic.ts';
import type { ActionState, DisruptiveChoice } from './action-state.ts';
import { checkMacros, findNamed, macroText, type LinkContext } from './link-context.ts';

/** Where an action list comes from: it decides what is allowed in it. */
export type ActionOrigin = 'rule' | 'link' | 'defaults' | 'update';

/** One action on its way into a state. */
interface Input {
  readonly state: ActionState;
  readonly expression: ActionExpression;
  readonly definition: ActionDefinition;
  /** The value, or the name where there is none: what a report points at. */
  readonly at: Token;
  readonly value: ByteString;
  readonly origin: ActionOrigin;
  readonly context: LinkContext;
}

/** Applies an action list to `state`, in order. Errors: reported. */
export function applyActions(
  state: ActionState,
  expressions: readonly ActionExpression[],
  origin: ActionOrigin,
  context: LinkContext,
  bind: BindContext,
): void {
  for (const expression of expressions) {
    const definition = findNamed(context.actions, expression.name, context.report);
    if (definition === null) continue;
    const at = expression.value ?? expression.name;
    const value = expression.value?.text ?? '';
    const input: Input = { state, expression, definition, at, value, origin, context };
    if (!isAllowed(input) || !hasFittingArgument(input)) continue;
    checkMacros(context, value, at.span);
    if (definition.kind === 'runtime') bindRuntime(input, bind);
    else applyProperty(input);
  }
}

/** What may not stand in the lists that are no rule's own. Source: ModSecurity v3, parser. */
const refusedInDefaults: ReadonlySet<string> = new Set([
  'id',
  'chain',
  'rev',
  'ver',
  'accuracy',
  'maturity',
  'skip',
  'skipafter',
  'xmlns',
]);
const refusedInLinks: ReadonlySet<string> = new Set([
  'allow',
  'block',
  'deny',
  'drop',
  'proxy',
  'redirect',
]);
const refusedInUpdates: ReadonlySet<string> = new Set(['id', 'phase', 'chain']);

function isAllowed(input: Input): boolean {
  const { definition, expression, origin, context } = input;
  const name = definition.name.toLowerCase();
  const isNone = definition.kind === 'transformation' && input.value.toLowerCase() === 'none';
  if (origin === 'defaults' && (refusedInDefaults.has(name) || isNone)) {
    const what = isNone ? 't:none' : definition.name;
    const message = `${what} is not suitable for SecDefaultAction`;
    context.report('error', 'action-in-defaults', message, expression.span);
    return false;
  }
  if (origin === 'update' && refusedInUpdates.has(name)) {
    const message = `${definition.name} cannot be changed by an update`;
    context.report('error', 'action-in-update', message, expression.span);
    return false;
  }
  if (origin === 'link' && refusedInLinks.has(name)) {
    const message = `${definition.name} can only stand in the first rule of a chain`;
    context.report('error', 'disruptive-in-chain', message, expression.span);
    return false;
  }
  return true;
}

function hasFittingArgument(input: Input): boolean {
  const { definition, expression, context } = input;
  if (definition.argument === 'none' && expression.value !== null) {
    const message = `${definition.name} takes no value`;
    context.report('error', 'unexpected-value', message, expression.span);
    return false;
  }
  if (definition.argument === 'required' && input.value === '' && !expression.quoted) {
    const message = `${definition.name} needs a value`;
    context.report('error', 'missing-value', message, expression.span);
    return false;
  }
  return true;
}

function bindRuntime(input: Input, bind: BindContext): void {
  const bound = input.definition.bind?.(input.value, bind) ?? { failure: 'it cannot be run' };
  if ('failure' in bound) return refuse(input, bound.failure);
  input.state.actions.push(bound);
  const { caution } = bound;
  const { told, report } = input.context;
  if (caution === undefined || told.has(caution)) return;
  told.add(caution);
  report('warning', 'mapped-action', caution, input.at.span);
}

function refuse(input: Input, reason: string): void {
  const message = `${input.definition.name}: ${reason}`;
  input.context.report('error', 'bad-action', message, input.at.span);
}

function applyProperty(input: Input): void {
  if (input.definition.kind === 'transformation') return addTransformation(input);
  const apply = properties.get(input.definition.name.toLowerCase());
  if (apply === undefined) refuse(input, 'is not supported');
  else apply(input);
}

function addTransformation(input: Input): void {
  const { context, state, at } = input;
  const transformation = findNamed(context.transformations, at, context.report);
  if (transformation === null) return;
  if (transformation.id < 0) state.transformations = [];
  else state.transformations.push(transformation);
}

const ignore = (): void => undefined;

/** What each property action does, by its name in lower case. */
const properties: ReadonlyMap<string, (input: Input) => void> = new Map([
  ['id', ignore],
  ['phase', ignore],
  ['chain', ignore],
  ['msg', ({ state, value, context }) => void (state.message = macroText(context, value))],
  ['logdata', ({ state, value, context }) => void (state.logData = macroText(context, value))],
  ['tag', ({ state, value, context }) => void state.tags.push(macroText(context, value))],
  ['rev', ({ state, value }) => void (state.rev = value)],
  ['ver', ({ state, value }) => void (state.ver = value)],
  ['severity', applySeverity],
  ['maturity', (input) => withNumber(input, 0, 9, (value) => (input.state.maturity = value))],
  ['accuracy', (input) => withNumber(input, 0, 9, (value) => (input.state.accuracy = value))],
  ['status', (input) => withNumber(input, 100, 599, (value) => (input.state.status = value))],
  ['skip', (input) => withNumber(input, 0, 1e6, (value) => (input.state.skip = value))],
  ['skipafter', ({ state, value }) => void (state.skipAfter = value)],
  ['capture', ({ state }) => void (state.capture = true)],
  ['multimatch', ({ state }) => void (state.multiMatch = true)],
  ['log', ({ state }) => setLogging(state, true, true)],
  ['nolog', ({ state }) => setLogging(state, false, false)],
  ['auditlog', ({ state }) => setLogging(state, state.log, true)],
  ['noauditlog', ({ state }) => setLogging(state, state.log, false)],
  ['xmlns', applyNamespace],
  ['pass', (input) => disrupt(input, { kind: 'pass', location: null })],
  ['block', (input) => disrupt(input, { kind: 'block', location: null })],
  ['deny', (input) => disrupt(input, { kind: 'deny', location: null })],
  ['drop', (input) => disrupt(input, { kind: 'drop', location: null })],
  ['allow', applyAllow],
  ['redirect', applyRedirect],
]);

/** Two switches; `nolog` turns both off, so that `nolog,auditlog` records without logging. */
function setLogging(state: ActionState, log: boolean, auditLog: boolean): void {
  state.log = log;
  state.auditLog = auditLog;
}

function disrupt(input: Input, choice: DisruptiveChoice): void {
  if (input.origin !== 'defaults') input.state.disruptive = choice;
  // `block` among the defaults asks for the defaults: it says nothing (ModSecurity v3).
  else if (choice.kind !== 'block') input.state.defaultDisruptive = choice;
}

function applyAllow(input: Input): void {
  const kinds = { '': 'allow', phase: 'allowPhase', request: 'allowRequest' } as const;
  const scope = input.value.toLowerCase();
  if (scope !== '' && scope !== 'phase' && scope !== 'request') {
    return refuse(input, 'is for everything, "phase" or "request"');
  }
  disrupt(input, { kind: kinds[scope], location: null });
}

function applyRedirect(input: Input): void {
  disrupt(input, { kind: 'redirect', location: macroText(input.context, input.value) });
}

const severities = [
  'EMERGENCY',
  'ALERT',
  'CRITICAL',
  'ERROR',
  'WARNING',
  'NOTICE',
  'INFO',
  'DEBUG',
];

function applySeverity(input: Input): void {
  const named = severities.indexOf(input.value.toUpperCase());
  if (named >= 0) input.state.severity = named;
  else withNumber(input, 0, 7, (value) => (input.state.severity = value));
}

/** A namespace name is a URI (Namespaces in XML 1.0, section 2.1): a scheme, then anything. */
const uri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"]*$/;

/** `xmlns:prefix=uri`, the URI in quotes or not. */
function applyNamespace(input: Input): void {
  const equals = input.value.indexOf('=');
  if (equals < 0) return refuse(input, 'expected prefix=URI');
  const prefix = input.value.slice(0, equals).trim();
  const name = input.value.slice(equals + 1).trim();
  const address = name.replace(/^(['"])([^]*)\1$/, '$2');
  if (prefix === '') return refuse(input, 'the prefix is missing');
  if (!uri.test(address)) {
    return refuse(input, 'expected a URI, such as urn:example:orders or http://example.org/orders');
  }
  input.state.namespaces.set(prefix, address);
}

function withNumber(input: Input, min: number, max: number, use: (value: number) => unknown): void {
  const value = /^\d{1,9}$/.test(input.value) ? Number(input.value) : -1;
  if (value >= min && value <= max) use(value);
  else {
    const shown = quoteForMessage(input.value);
    refuse(input, `expected a whole number from ${min} to ${max}, got ${shown}`);
  }
}
