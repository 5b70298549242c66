/**
 * The syntax tree of SecLang. It says what was written and where; whether a name exists or a
 * value makes sense is decided when a program is linked.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { SourceSpan } from './diagnostic.ts';

/** A piece of text with its quoting and escapes taken off; the span covers the text inside. */
export interface Token {
  readonly text: ByteString;
  readonly span: SourceSpan;
}

/** The selected part of a collection: everything, one key, keys by regular expression, an XPath. */
export type Selector =
  | { readonly kind: 'none' }
  | { readonly kind: 'literal'; readonly text: ByteString; readonly span: SourceSpan }
  | { readonly kind: 'regex'; readonly text: ByteString; readonly span: SourceSpan }
  | { readonly kind: 'xpath'; readonly text: ByteString; readonly span: SourceSpan };

/** One target, for example `&ARGS`, `!ARGS:foo`, `TX:/^x/`. */
export interface VariableExpression {
  readonly name: Token;
  readonly selector: Selector;
  /** `&`: the number of values instead of the values. */
  readonly count: boolean;
  /** `!`: taken out of what the other targets select. */
  readonly exclusion: boolean;
  readonly span: SourceSpan;
}

/** `@name argument`, or a bare pattern, which means `rx`. */
export interface OperatorExpression {
  /** Without `@`; `rx` when implicit. */
  readonly name: Token;
  readonly implicit: boolean;
  readonly negated: boolean;
  /** Everything after the name and the white space after it; macros are not expanded. */
  readonly argument: Token;
  readonly span: SourceSpan;
}

/** `name`, `name:value` or `name:'value'`. */
export interface ActionExpression {
  readonly name: Token;
  /** Null when there is no colon. */
  readonly value: Token | null;
  /** The whole value stood in single quotes. */
  readonly quoted: boolean;
  readonly span: SourceSpan;
}

interface DirectiveBase {
  /** From the directive's name to the end of its last argument. */
  readonly span: SourceSpan;
  /** The directive's name as written. */
  readonly name: Token;
}

/** `SecRule VARIABLES OPERATOR [ACTIONS]`. */
export interface SecRuleDirective extends DirectiveBase {
  readonly kind: 'SecRule';
  readonly variables: readonly VariableExpression[];
  readonly operator: OperatorExpression;
  readonly actions: readonly ActionExpression[];
}

/** `SecAction ACTIONS`. */
export interface SecActionDirective extends DirectiveBase {
  readonly kind: 'SecAction';
  readonly actions: readonly ActionExpression[];
}

/** `SecDefaultAction ACTIONS`. */
export interface SecDefaultActionDirective extends DirectiveBase {
  readonly kind: 'SecDefaultAction';
  readonly actions: readonly ActionExpression[];
}

/** `SecMarker LABEL`. */
export interface SecMarkerDirective extends DirectiveBase {
  readonly kind: 'SecMarker';
  readonly label: Token;
}

/** `SecRuleRemoveById ID|FROM-TO ...`. */
export interface SecRuleRemoveByIdDirective extends DirectiveBase {
  readonly kind: 'SecRuleRemoveById';
  readonly ids: readonly Token[];
}

/** `SecRuleRemoveByTag PATTERN` or `SecRuleRemoveByMsg PATTERN`. */
export interface SecRuleRemoveByTextDirective extends DirectiveBase {
  readonly kind: 'SecRuleRemoveByTag' | 'SecRuleRemoveByMsg';
  readonly pattern: Token;
}

/** `SecRuleUpdateTargetById ID VARIABLES [REPLACED]`, and by tag and message. */
export interface SecRuleUpdateTargetDirective extends DirectiveBase {
  readonly kind:
    'SecRuleUpdateTargetById' | 'SecRuleUpdateTargetByTag' | 'SecRuleUpdateTargetByMsg';
  /** An id, a range or a list of them; or the pattern. */
  readonly subject: Token;
  readonly variables: readonly VariableExpression[];
  /** The target that `variables` take the place of; null: they are added. */
  readonly replaced: VariableExpression | null;
}

/** `SecRuleUpdateActionById ID[:OFFSET] ACTIONS`. */
export interface SecRuleUpdateActionDirective extends DirectiveBase {
  readonly kind: 'SecRuleUpdateActionById';
  readonly subject: Token;
  readonly actions: readonly ActionExpression[];
}

/** `SecRuleUpdateOperatorById ID[:OFFSET] OPERATOR`; ours. */
export interface SecRuleUpdateOperatorDirective extends DirectiveBase {
  readonly kind: 'SecRuleUpdateOperatorById';
  readonly subject: Token;
  readonly operator: OperatorExpression;
}

/** `Include PATTERN` or `IncludeOptional PATTERN`. */
export interface IncludeDirective extends DirectiveBase {
  readonly kind: 'Include';
  readonly pattern: Token;
  readonly optional: boolean;
}

/** Any other directive, known or not: a name and its arguments. */
export interface ConfigDirective extends DirectiveBase {
  readonly kind: 'Config';
  readonly arguments: readonly Token[];
}

/** A directive that could not be read; its diagnostics say why. Keeps its place in the order. */
export interface InvalidDirective extends DirectiveBase {
  readonly kind: 'Invalid';
}

/** One directive of a rule file. */
export type Directive =
  | SecRuleDirective
  | SecActionDirective
  | SecDefaultActionDirective
  | SecMarkerDirective
  | SecRuleRemoveByIdDirective
  | SecRuleRemoveByTextDirective
  | SecRuleUpdateTargetDirective
  | SecRuleUpdateActionDirective
  | SecRuleUpdateOperatorDirective
  | IncludeDirective
  | ConfigDirective
  | InvalidDirective;
