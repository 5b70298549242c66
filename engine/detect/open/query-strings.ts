/**
 * Opens the strings of a query of GraphQL: what clients write into them is a value of its own.
 * Source: GraphQL specification, October 2021, sections 2.2 and 2.9.4.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { decodeEscapes } from './escapes.ts';
import type { Leaves } from './leaves.ts';

const head = /^\s{0,64}(?:(?:query|mutation|subscription)\b[^{"]{0,400})?\{[^"]{0,2048}\(/;
const string = /"((?:[^"\\\n]|\\[^\n]){1,8192})"/g;

/** Adds them; nothing where a text is no such query. Cost: linear. */
export function openStrings(text: ByteString, leaves: Leaves): void {
  if (!head.test(text)) return;
  for (const [, inside = ''] of text.matchAll(string)) {
    if (leaves.wants(inside)) leaves.add('string', decodeEscapes(inside));
  }
}
