/** Patterns over text, not bytes, that run in linear time: those of API documents. */

import { Re2 } from '../../native-bindings/re2/re2.ts';

/** Compiles a pattern of RE2 syntax that looks at characters. Errors: code `re2_compile`. */
export function linearPattern(source: string): { readonly test: (text: string) => boolean } {
  return new Re2(source, 'text');
}
