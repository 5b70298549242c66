/** Index values that are made of the fields of facts of every kind. Pure, but for `agentTerms`. */

import { textOfBytes } from './fact-reader.ts';

/** No value. */
export const noTerms: readonly string[] = [];

const questionMark = 0x3f;
let latestAgent = noTerms;

/** A value, or none for the empty one. */
export function termsOfText(value: string): readonly string[] {
  return value === '' ? noTerms : [value];
}

/** The node of a fact. Facts of one node come together: the last list is kept. */
export function agentTerms(agentId: string): readonly string[] {
  if (latestAgent[0] !== agentId) latestAgent = termsOfText(agentId);
  return latestAgent;
}

/** The path of the request target in bytes [from, to). */
export function pathOfTarget(bytes: Uint8Array, from: number, to: number): string {
  let end = from;
  while (end < to && bytes[end] !== questionMark) end++;
  return textOfBytes(bytes, from, end);
}

/** A host without its port. */
export function withoutPort(host: readonly string[]): readonly string[] {
  const [text = ''] = host;
  return text.includes(':') ? termsOfText(text.replace(/:\d{1,5}$/, '')) : host;
}
