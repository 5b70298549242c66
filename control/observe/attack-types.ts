/** Names of security events: attack families, severities, paths without identifiers. Pure. */

import { eventSeverities } from '../domain/alert/alert-condition.ts';

/** The fields of a matched rule that decide. */
export interface TaggedMatch {
  /** 0 for emergency to 7 for debug; -1 when the rule states none. */
  readonly severity: number;
  readonly tags: readonly string[];
}

/** Severities from worst to least; the names that filters use. */
export const severityNames = eventSeverities;

/** The name of a numeric severity (0 emergency .. 7 debug); '' for none. */
export function severityName(severity: number): string {
  if (severity < 0) return '';
  return severityNames[Math.max(0, severity - 2)] ?? '';
}

/** The name of the worst severity that a rule states; '' where none does. */
export function worstSeverity(matches: readonly TaggedMatch[]): string {
  let worst = -1;
  for (const { severity } of matches) {
    if (severity >= 0 && (worst < 0 || severity < worst)) worst = severity;
  }
  return severityName(worst);
}

/** What a match of each severity, from emergency on, adds to an anomaly score in CRS. */
const severityScores = [5, 5, 5, 4, 3, 2] as const;
/** CRS 3 tags with it the rules that add up scores. */
const anyAttack = 'generic';

interface FamilyScore {
  best: number;
  total: number;
}

/**
 * Attack families by the tags that CRS gives: first that of the rule with the highest score; among
 * equals the one whose rules have the most together, then the one met first.
 */
export function attackTypesOf(matches: readonly TaggedMatch[]): string[] {
  const scores = new Map<string, FamilyScore>();
  for (const { tags, severity } of matches) {
    const score = severityScores[severity] ?? 0;
    for (const tag of unique(tags)) {
      if (!tag.startsWith('attack-')) continue;
      const type = tag.slice('attack-'.length);
      const known = scores.get(type) ?? { best: 0, total: 0 };
      scores.set(type, { best: Math.max(known.best, score), total: known.total + score });
    }
  }
  return [...scores].sort(byScore).map(([type]) => type);
}

function byScore(
  [left, one]: readonly [string, FamilyScore],
  [right, other]: readonly [string, FamilyScore],
): number {
  const vague = Number(left === anyAttack) - Number(right === anyAttack);
  return vague || other.best - one.best || other.total - one.total;
}

const identifier = /^(?:\d+|[0-9a-f]{8,}|[0-9a-f-]{32,})$/i;

/** A path with what looks like an identifier taken out. */
export function pathShape(path: string): string {
  let shape = '';
  // What is not an identifier is taken over in pieces as long as they come.
  let from = 0;
  for (let start = 0; start <= path.length;) {
    const slash = path.indexOf('/', start);
    const end = slash < 0 ? path.length : slash;
    if (mayBeIdentifier(path, start, end) && identifier.test(path.slice(start, end))) {
      shape += `${path.slice(from, start)}{id}`;
      from = end;
    }
    start = end + 1;
  }
  return from === 0 ? path : shape + path.slice(from);
}

/** False where the first character of a part already says that it is no identifier. */
function mayBeIdentifier(path: string, start: number, end: number): boolean {
  if (end === start) return false;
  const code = path.charCodeAt(start);
  if (code >= 0x30 && code <= 0x39) return true;
  const lower = code | 0x20;
  return end - start >= 8 && ((lower >= 0x61 && lower <= 0x66) || code === 0x2d);
}

/** Each value once, in the order of its first place. */
export function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}
