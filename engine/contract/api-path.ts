/** Paths of operations as they are matched: a list of segments. */

/**
 * One segment: texts and parameters in turn. A parameter takes one character or more; two never
 * stand side by side. The path's last segment may be empty (a path that ends with `/`).
 */
export type ApiSegment = readonly ApiSegmentPart[];

/** A piece of a segment. */
export type ApiSegmentPart = { readonly literal: string } | { readonly parameter: string };
