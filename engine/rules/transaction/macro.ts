/**
 * `%{NAME.key}` references in texts: finding them when rules are linked and putting their
 * values in while rules run. Never fails: what is no known variable stays as it is written.
 */

import { type ByteString, internText } from '../../../base/byte-string.ts';
import { compileExact } from '../../match/regex.ts';
import type { Transaction } from './transaction.ts';
import type { MacroReference, MacroText, VariableDefinition } from './types.ts';

/** Finds a variable by its name in upper case; undefined when there is none. */
export type FindVariable = (upperName: string) => VariableDefinition | undefined;

/** A `%` after the last brace of a text belongs to the reference, as libmodsecurity reads it. */
const referencePattern = /%\{([A-Za-z_]+)(?:[.:]([^}]{0,1024}))?\}(?:%$)?/g;

/** Texts up to here may be names. */
const nameBytesMax = 128;

/**
 * Splits `text` into literal parts and references.
 * Shape: bytes; keys come out in lower case. A key between slashes is a regex over keys, any case.
 * Source: ModSecurity Reference Manual, "Macro Expansion"; unknown names: docs of `parseMacros`.
 */
export function parseMacros(text: ByteString, findVariable: FindVariable): MacroText {
  if (!text.includes('%{')) {
    const literal = text.length <= nameBytesMax ? internText(text) : text;
    return { source: text, literal, parts: [literal] };
  }
  const parts: (ByteString | MacroReference)[] = [];
  let literalFrom = 0;
  for (const match of text.matchAll(referencePattern)) {
    const variable = findVariable((match[1] ?? '').toUpperCase());
    if (!variable) continue;
    if (match.index > literalFrom) parts.push(text.slice(literalFrom, match.index));
    parts.push(makeReference(variable, match[2] ?? '', match[0].replace(/^%\{|\}%?$/g, '')));
    literalFrom = match.index + match[0].length;
  }
  if (parts.length === 0) return { source: text, literal: text, parts: [text] };
  if (literalFrom < text.length) parts.push(text.slice(literalFrom));
  return { source: text, literal: null, parts };
}

/**
 * The text with every reference replaced by its variable's first value; nothing where it has none.
 * Shape: a fresh byte string, or the literal itself.
 */
export function expandMacro(text: MacroText, tx: Transaction): ByteString {
  if (text.literal !== null) return text.literal;
  const [only] = text.parts;
  if (text.parts.length === 1 && typeof only === 'object') return resolveReference(only, tx);
  let expanded = '';
  for (const part of text.parts) {
    expanded += typeof part === 'string' ? part : resolveReference(part, tx);
  }
  return expanded;
}

/**
 * The beginning of what `expandMacro` gives, at most `bytesMax` of it. References that begin later
 * are not read. Cost: that of the bytes returned, however long the values are.
 */
export function expandMacroStart(text: MacroText, tx: Transaction, bytesMax: number): ByteString {
  if (text.literal !== null) return cut(text.literal, bytesMax);
  let expanded = '';
  for (const part of text.parts) {
    if (expanded.length >= bytesMax) break;
    const value = typeof part === 'string' ? part : resolveReference(part, tx);
    expanded += cut(value, bytesMax - expanded.length);
  }
  return expanded;
}

function cut(text: ByteString, bytesMax: number): ByteString {
  return text.length > bytesMax ? text.slice(0, bytesMax) : text;
}

/** The first value that a reference stands for; empty when the variable is unset. */
export function resolveReference(reference: MacroReference, tx: Transaction): ByteString {
  const { variable, key, regex } = reference;
  if (!regex && key !== '' && variable.name === 'TX') return tx.tx.get(key) ?? '';
  if (regex) return variable.entries(tx).find((entry) => regex.test(entry.key))?.value ?? '';
  if (key === '') return variable.entries(tx)[0]?.value ?? '';
  if (variable.lookup) return variable.lookup(tx, key)[0]?.value ?? '';
  const found = variable.entries(tx).find((entry) => lowerBytes(entry.key) === key);
  return found?.value ?? '';
}

function makeReference(
  variable: VariableDefinition,
  key: ByteString,
  text: ByteString,
): MacroReference {
  const reference = { variable, key: internText(lowerBytes(key)), text };
  if (key.length < 3 || !key.startsWith('/') || !key.endsWith('/')) return reference;
  try {
    return { ...reference, regex: compileExact(key.slice(1, -1), { caseless: true }) };
  } catch {
    return reference;
  }
}

const highByte = /[^\0-\x7f]/;

/** ASCII lower case: bytes from 0x80 on stay, unlike with `toLowerCase`. Cost: 40 ns a name. */
export function lowerBytes(text: ByteString): ByteString {
  if (!highByte.test(text)) return text.toLowerCase();
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
