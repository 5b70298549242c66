/** The operand of an operator, written so that SecLang reads back just the value. */

import { invalidField } from '../errors.ts';

/** `@operator value` for a text between quotes. Errors: invalid_argument at `field`. */
export function writeOperand(operator: string, value: string, field: string): string {
  const written = withoutMacros(operator, value, field);
  return `@${written.operator} ${quotable(written.value)}`;
}

/** Between quotes two backslashes are one, and one before a quote keeps it; others stay. */
function quotable(value: string): string {
  return value.replace(/\\(?=[\\"]|$)/g, '\\\\').replaceAll('"', '\\"');
}

/** SecLang has no way to write `%{` as it is, except inside a regular expression. */
function withoutMacros(
  operator: string,
  value: string,
  field: string,
): { readonly operator: string; readonly value: string } {
  if (!value.includes('%{')) return { operator, value };
  if (operator === 'rx') return { operator, value: value.replaceAll('%{', '%\\x7b') };
  const literal = value.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replaceAll('%\\{', '%\\x7b');
  const patterns: Readonly<Record<string, string>> = {
    contains: literal,
    streq: `^${literal}$`,
    beginsWith: `^${literal}`,
    endsWith: `${literal}$`,
  };
  const pattern = patterns[operator];
  if (pattern === undefined) throw invalidField(field, `@${operator} cannot compare with %{`);
  return { operator: 'rx', value: pattern };
}
