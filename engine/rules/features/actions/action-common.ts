/** What runtime actions share: names of collection variables, assignments, yes and no. */

import type { ByteString } from '../../../../base/byte-string.ts';
import type { BindContext, MacroText } from '../../transaction/types.ts';

/** `collection.name`; both sides may be written with any case. */
export interface VariableName {
  /** Lower case. */
  readonly collection: string;
  readonly name: MacroText;
}

/** Splits `collection.name` or `collection:name`; null when one of them is missing. */
export function parseVariableName(text: ByteString, context: BindContext): VariableName | null {
  const match = /^\s*([A-Za-z_]+)[.:](.+?)\s*$/s.exec(text);
  if (!match) return null;
  return {
    collection: (match[1] ?? '').toLowerCase(),
    name: context.parseMacros(match[2] ?? ''),
  };
}

/** Splits at the first `=` outside of macros; the value is null when there is none. */
export function splitAssignment(text: ByteString): { left: ByteString; right: ByteString | null } {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '{' && text[i - 1] === '%') depth++;
    else if (char === '}' && depth > 0) depth--;
    else if (char === '=' && depth === 0) {
      return { left: text.slice(0, i), right: unquote(text.slice(i + 1)) };
    }
  }
  return { left: text, right: null };
}

/** Takes one pair of single quotes off, where the text stands in one. */
export function unquote(text: ByteString): ByteString {
  return text.length > 1 && text.startsWith("'") && text.endsWith("'") ? text.slice(1, -1) : text;
}
