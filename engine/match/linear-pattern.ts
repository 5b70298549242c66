/** Patterns over text, not bytes, that run in linear time: those of API documents. */

import RE2 from 're2';

/**
 * Compiles a pattern of RE2 syntax that looks at characters.
 * Errors: SyntaxError for what RE2 does not take.
 */
export function linearPattern(
  source: string,
  flags: string,
): { readonly test: (text: string) => boolean } {
  const pattern = new RE2(source, flags.includes('u') ? flags : `${flags}u`);
  return { test: (text) => pattern.test(text) };
}
