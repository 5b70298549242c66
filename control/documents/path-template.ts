/** Path templates of documents and their segments. Pure. */

import type { ApiSegment, ApiSegmentPart } from '../../engine/contract/api-path.ts';
import { apiDocumentLimits } from '../limits/api-document-limits.ts';

/** The segments of a path, or why it cannot be matched. */
export type ParsedPath =
  { readonly segments: readonly ApiSegment[] } | { readonly problem: string };

/** Reads a path such as `/users/{id}/photo.{kind}`. Literals are decoded once. */
export function parsePath(path: string): ParsedPath {
  if (path === '' || path === '/') return { segments: [] };
  const texts = path.slice(1).split('/');
  if (texts.length > apiDocumentLimits.pathSegmentsMax) {
    return { problem: `has more than ${apiDocumentLimits.pathSegmentsMax} segments` };
  }
  const segments: ApiSegment[] = [];
  const names = new Set<string>();
  for (const [at, text] of texts.entries()) {
    if (text === '' && at < texts.length - 1) return { problem: 'has an empty segment' };
    const parts = parseSegment(text, names);
    if (typeof parts === 'string') return { problem: parts };
    segments.push(parts);
  }
  return { segments };
}

function parseSegment(text: string, names: Set<string>): ApiSegment | string {
  if (/[?#]/.test(text)) return 'has a query or a fragment';
  const parts: ApiSegmentPart[] = [];
  let rest = text;
  while (rest !== '') {
    const name = /^\{([^{}/]+)\}/.exec(rest);
    if (name?.[1] !== undefined) {
      const last = parts.at(-1);
      if (last !== undefined && 'parameter' in last) {
        return 'has two parameters side by side: where one ends cannot be told';
      }
      if (names.has(name[1])) return 'names a parameter twice';
      names.add(name[1]);
      parts.push({ parameter: name[1] });
      rest = rest.slice(name[0].length);
      continue;
    }
    const literal = /^[^{}]+/.exec(rest)?.[0];
    if (literal === undefined) return 'has a brace without its other half';
    const decoded = decode(literal);
    if (decoded === null) return 'has an escape that is none';
    if (decoded === '.' || decoded === '..' || decoded.includes('/')) {
      return 'has a segment that routing takes away';
    }
    parts.push({ literal: decoded });
    rest = rest.slice(literal.length);
  }
  return parts;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not UTF-8 or not an escape: the caller names it.
    return null;
  }
}

/** The same text for paths that match the same requests: names of parameters do not count. */
export function pathShape(segments: readonly ApiSegment[]): string {
  return segments
    .map((parts) =>
      parts.map((part) => ('literal' in part ? encodeURIComponent(part.literal) : '{}')).join(''),
    )
    .join('/');
}

/** Whether one request could match both: wherever both have literals only, these are equal. */
export function pathsOverlap(one: readonly ApiSegment[], other: readonly ApiSegment[]): boolean {
  if (one.length !== other.length) return false;
  return one.every((parts, at) => {
    const others = other[at] ?? [];
    const fixed = [parts, others].every((list) => list.every((part) => 'literal' in part));
    return !fixed || pathShape([parts]) === pathShape([others]);
  });
}
