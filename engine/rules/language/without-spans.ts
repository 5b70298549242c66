/** The comparison of syntax trees without their places; for tests only. */

/** A copy of a tree without any `span`. */
export function withoutSpans(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutSpans);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).filter(([key]) => key !== 'span');
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutSpans(value)]));
}
