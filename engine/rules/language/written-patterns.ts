/** Owns finding the regular expressions that rules are written with, and where they stand. */

import type { ByteString } from '../../base/byte-string.ts';
import type { Directive } from './ast.ts';

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

/** The regular expressions of SecRule directives, in order. */
export function writtenPatterns(directives: readonly Directive[]): WrittenPattern[] {
  let ruleId = '';
  return directives.flatMap((directive) => {
    if (directive.kind !== 'SecRule') return [];
    const id = directive.actions.find(({ name }) => name.text.toLowerCase() === 'id');
    if (id !== undefined) ruleId = /^\d{1,19}$/.exec(id.value?.text ?? '')?.[0] ?? '';
    const { name, argument } = directive.operator;
    if (!patternOperators.has(name.text.toLowerCase())) return [];
    const { file, line, column } = argument.span;
    return [{ pattern: argument.text, ruleId, file, line, column }];
  });
}
