/** The shape of a directive's entry in the catalog. No behavior. */

import type { FeatureDefinition } from '../../transaction/types.ts';

/**
 * What is done with a directive: it works as documented; its meaning is taken over by another part
 * of the product; it is accepted and has no effect; it is an error.
 */
export type DirectiveStatus = 'supported' | 'mapped' | 'ignored' | 'refused';

/** What one argument of a directive may be. */
export type DirectiveArgument =
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  /** Any text: a path, a name, a list of its own. */
  | { readonly kind: 'text'; readonly what: string };

/** One directive of the ModSecurity v3 reference manual or of a rule set in use. */
export interface DirectiveDefinition extends FeatureDefinition {
  readonly status: DirectiveStatus;
  /** Null: the directive has a grammar of its own in the parser. */
  readonly arguments: readonly DirectiveArgument[] | null;
  /** Arguments at the end that may be left out. */
  readonly optionalArguments?: number;
  /** True when the last argument may be repeated. */
  readonly repeated?: boolean;
  /** What happens instead; required unless the status is `supported`. */
  readonly note?: string;
}

/** Largest whole number taken as an argument; all of them are counts, bytes or seconds. */
export const integerArgumentMax = 2 ** 31 - 1;

/** `On` or `Off`. */
export const onOff: DirectiveArgument = { kind: 'choice', values: ['On', 'Off'] };

/** Free text, described for messages and docs. */
export function text(what: string): DirectiveArgument {
  return { kind: 'text', what };
}

/** A whole number between `min` and `max`. */
export function integer(min = 0, max = integerArgumentMax): DirectiveArgument {
  return { kind: 'integer', min, max };
}

/** One of `values`, compared without case. */
export function choice(...values: readonly string[]): DirectiveArgument {
  return { kind: 'choice', values };
}

/** Where the directives are described. */
export const manual = 'ModSecurity v3 Reference Manual, Configuration Directives';
/** Where those are described that only version 2 has. */
export const manualV2 = 'ModSecurity v2 Reference Manual, Configuration Directives';
