/** The grammar of the operator argument: `[!]@name argument`, or a bare pattern for `rx`. */

import type { OperatorExpression } from './ast.ts';
import type { Report } from './diagnostic.ts';
import { wordSpan, wordToken, type Word } from './words.ts';

/** Reads an operator. Errors: reported, null, when no name follows `@`. */
export function parseOperator(word: Word, report: Report): OperatorExpression | null {
  const { text } = word;
  const head = /^\s*(!\s*)?(@)?/.exec(text);
  const isNamed = head?.[2] === '@';
  const negated = head?.[1] !== undefined;
  const span = wordSpan(word, 0, text.length);
  if (!isNamed) return bareOperator(word, negated, span);
  const nameStart = head?.[0].length ?? 0;
  let nameEnd = nameStart;
  while (nameEnd < text.length && !/\s/.test(text[nameEnd] ?? '')) nameEnd += 1;
  if (nameEnd === nameStart) {
    report('error', 'expected-operator', 'expected an operator name after "@"', span);
    return null;
  }
  let argumentStart = nameEnd;
  while (argumentStart < text.length && /\s/.test(text[argumentStart] ?? '')) argumentStart += 1;
  const name = wordToken(word, nameStart, nameEnd);
  const argument = wordToken(word, argumentStart, text.length);
  return { name, implicit: false, negated, argument, span };
}

function bareOperator(
  word: Word,
  negated: boolean,
  span: OperatorExpression['span'],
): OperatorExpression {
  const start = /^\s*(?:!\s*)?/.exec(word.text)?.[0].length ?? 0;
  const argument = wordToken(word, start, word.text.length);
  return { name: { text: 'rx', span: argument.span }, implicit: true, negated, argument, span };
}
