/**
 * The way back from the syntax tree to text. What it prints parses to the same tree (spans
 * aside); layout and comments of the original are not kept.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { ActionExpression, Directive, OperatorExpression, VariableExpression } from './ast.ts';

/** The directive as SecLang, without a line end; rules take one line an action, as CRS does. */
export function formatDirective(directive: Directive): ByteString {
  const text = formatParts(directive);
  // A last backslash is kept from joining the next line by a continuation of its own.
  return text.endsWith('\\') ? `${text}\\\n` : text;
}

function formatParts(directive: Directive): ByteString {
  const name = directive.name.text;
  switch (directive.kind) {
    case 'SecRule': {
      const targets = formatArgument(formatVariables(directive.variables));
      const head = `${name} ${targets} ${formatArgument(formatOperator(directive.operator))}`;
      return directive.actions.length === 0 ? head : head + formatActions(directive.actions);
    }
    case 'SecAction':
    case 'SecDefaultAction':
      return name + formatActions(directive.actions);
    case 'SecMarker':
      return `${name} ${formatArgument(directive.label.text)}`;
    case 'SecRuleRemoveById':
      return [name, ...directive.ids.map((id) => formatArgument(id.text))].join(' ');
    case 'SecRuleRemoveByTag':
    case 'SecRuleRemoveByMsg':
      return `${name} ${formatArgument(directive.pattern.text)}`;
    case 'SecRuleUpdateTargetById':
    case 'SecRuleUpdateTargetByTag':
    case 'SecRuleUpdateTargetByMsg': {
      const replaced = directive.replaced === null ? [] : [formatVariable(directive.replaced)];
      const parts = [directive.subject.text, formatVariables(directive.variables), ...replaced];
      return [name, ...parts.map(formatArgument)].join(' ');
    }
    case 'SecRuleUpdateActionById':
      return `${name} ${formatArgument(directive.subject.text)}${formatActions(directive.actions)}`;
    case 'SecRuleUpdateOperatorById': {
      const parts = [directive.subject.text, formatOperator(directive.operator)];
      return [name, ...parts.map(formatArgument)].join(' ');
    }
    case 'Include':
      return `${name} ${formatArgument(directive.pattern.text)}`;
    case 'Config':
      return [name, ...directive.arguments.map((token) => formatArgument(token.text))].join(' ');
    case 'Invalid':
      return `# unreadable: ${name}`;
  }
}

/** A target list as SecLang, unquoted. */
export function formatVariables(variables: readonly VariableExpression[]): ByteString {
  return variables.map(formatVariable).join('|');
}

/** One target as SecLang. */
export function formatVariable(variable: VariableExpression): ByteString {
  const { selector } = variable;
  const head = (variable.count ? '&' : variable.exclusion ? '!' : '') + variable.name.text;
  if (selector.kind === 'none') return head;
  const text = selector.kind === 'regex' ? `/${selector.text}/` : selector.text;
  const isPlain = text !== '' && !/[\s|,'"]/.test(text);
  return `${head}:${isPlain || !canBeQuoted(text) ? text : quoteSingle(text)}`;
}

/** A lone backslash before a quote or the end cannot stand in quotes: it was written without. */
function canBeQuoted(text: ByteString): boolean {
  return !/(?<!\\)(?:\\\\)*\\(?:'|$)/.test(text);
}

/** The operator as SecLang, unquoted: what log lines show. */
export function formatOperator(operator: OperatorExpression): ByteString {
  const mark = operator.negated ? '!' : '';
  const { text } = operator.argument;
  if (operator.implicit) return mark + text;
  return `${mark}@${operator.name.text}${text === '' ? '' : ` ${text}`}`;
}

function formatActions(actions: readonly ActionExpression[]): ByteString {
  const texts = actions.map(formatAction);
  return ` \\\n    "${texts.map(escapeDouble).join(',\\\n    ')}"`;
}

/** One action as SecLang. */
export function formatAction(action: ActionExpression): ByteString {
  if (action.value === null) return action.name.text;
  const { text } = action.value;
  return `${action.name.text}:${action.quoted ? quoteSingle(text) : text}`;
}

/** An argument of a directive. */
function formatArgument(text: ByteString): ByteString {
  return `"${escapeDouble(text)}"`;
}

/** Doubles the backslashes that would be read as an escape; a lone one before a letter stays. */
function escapeDouble(text: ByteString): ByteString {
  return text.replace(/\\{2,}|\\(?="|$)/g, (run) => run + run).replaceAll('"', '\\"');
}

function quoteSingle(text: ByteString): ByteString {
  return `'${text.replaceAll("'", "\\'")}'`;
}
