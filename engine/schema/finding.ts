/** What a look at one part of a request found. Plain data; never holds a value of the request. */

/** Parts of a request that are counted by themselves; the last two are what body controls say. */
export const constraints = [
  ...(['path', 'query', 'header', 'cookie', 'body'] as const),
  ...(['body_control', 'body_candidate'] as const),
] as const;
/** One of them. */
export type Constraint = (typeof constraints)[number];

/** What is counted of a part. */
export const RESULT = { NONE: 0, VALID: 1, VIOLATION: 2, NOT_EVALUATED: 3 } as const;
/** One of them. */
export type Result = (typeof RESULT)[keyof typeof RESULT];

/** What is wrong, or why it is not known. */
export interface Finding {
  readonly result: typeof RESULT.VIOLATION | typeof RESULT.NOT_EVALUATED;
  readonly location: Constraint;
  /** A keyword of JSON Schema, or a code of ours: `required`, `duplicate`, `encoding`, … */
  readonly keyword: string;
  /** JSON pointer into the document. */
  readonly pointer: string;
  /** True where the document has no check that could be run: nothing is refused for it. */
  readonly unchecked?: boolean;
}

/** A part that breaks the document. */
export function violation(location: Constraint, keyword: string, pointer: string): Finding {
  return { result: RESULT.VIOLATION, location, keyword, pointer };
}

/** A part that could not be looked at: too large, or in a form that has several readings. */
export function notEvaluated(location: Constraint, keyword: string, pointer: string): Finding {
  return { result: RESULT.NOT_EVALUATED, location, keyword, pointer };
}

/** A part that nothing checks. */
export function unchecked(location: Constraint, pointer: string): Finding {
  return { ...notEvaluated(location, 'unchecked', pointer), unchecked: true };
}

/** The graver one: a violation, then what is not known, then what is unchecked. */
export function graver(one: Finding | null, other: Finding | null): Finding | null {
  if (one === null || other === null) return one ?? other;
  return weight(other) > weight(one) ? other : one;
}

function weight({ result, unchecked: open }: Finding): number {
  return result === RESULT.VIOLATION ? 2 : open === true ? 0 : 1;
}
