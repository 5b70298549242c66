/** Finds the regular expressions that rules are written with, and where they stand. */

import type { ByteString } from '../../../base/byte-string.ts';
import type {
  ActionExpression,
  Directive,
  OperatorExpression,
  Token,
  VariableExpression,
} from './ast.ts';

/** One regular expression as a rule has it. */
export interface WrittenPattern {
  readonly pattern: ByteString;
  /** Of the rule, or of the first link of its chain; '' for none. */
  readonly ruleId: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Operators whose argument is a regular expression, in lower case. */
const patternOperators = new Set(['rx', 'rxglobal', 'verifycc', 'verifyssn', 'verifycpf']);

/** The regular expressions of directives, in order: of operators, of targets and of removals. */
export function writtenPatterns(directives: readonly Directive[]): WrittenPattern[] {
  let ruleId = '';
  return directives.flatMap((directive) => {
    const actions = 'actions' in directive ? directive.actions : [];
    const id = actions.find(({ name }) => name.text.toLowerCase() === 'id');
    if (id !== undefined) ruleId = /^\d{1,19}$/.exec(id.value?.text ?? '')?.[0] ?? '';
    const isRule = directive.kind === 'SecRule' || directive.kind === 'SecAction';
    return tokensOf(directive).map(({ text, span: { file, line, column } }) => ({
      pattern: text,
      ruleId: isRule ? ruleId : '',
      file,
      line,
      column,
    }));
  });
}

function tokensOf(directive: Directive): Token[] {
  switch (directive.kind) {
    case 'SecRule': {
      const own = patternOf(directive.operator);
      return [...selectorsOf(directive.variables), ...own, ...controlsOf(directive.actions)];
    }
    case 'SecAction':
      return controlsOf(directive.actions);
    case 'SecRuleRemoveByTag':
    case 'SecRuleRemoveByMsg':
      return [directive.pattern];
    case 'SecRuleUpdateOperatorById':
      return patternOf(directive.operator);
    case 'SecRuleUpdateTargetById':
      return selectorsOf(directive.variables);
    case 'SecRuleUpdateTargetByTag':
    case 'SecRuleUpdateTargetByMsg':
      return [directive.subject, ...selectorsOf(directive.variables)];
    default:
      return [];
  }
}

function patternOf({ name, argument }: OperatorExpression): Token[] {
  return patternOperators.has(name.text.toLowerCase()) ? [argument] : [];
}

/** Keys of collections that are named by a pattern, as in `ARGS:/^x/`. */
function selectorsOf(variables: readonly VariableExpression[]): Token[] {
  return variables.flatMap(({ selector }) =>
    selector.kind === 'regex' ? [{ text: selector.text, span: selector.span }] : [],
  );
}

/** The same in `ctl:ruleRemoveTargetById=1;ARGS:/^x/`. */
function controlsOf(actions: readonly ActionExpression[]): Token[] {
  return actions.flatMap(({ name, value }) => {
    if (value === null || name.text.toLowerCase() !== 'ctl') return [];
    const text = /;[^;:]*:\/(.*)\/\s*$/s.exec(value.text)?.[1];
    return text === undefined ? [] : [{ text, span: value.span }];
  });
}
