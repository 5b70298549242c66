/** The name of a kind of violation of an API document; nodes and control make the same one. */

import { createHash } from 'node:crypto';

/** What tells kinds of violations apart; holds no value of a request. */
export interface ViolationKind {
  readonly operationKey: string;
  readonly location: string;
  readonly keyword: string;
  readonly pointer: string;
}

/** The text of a kind, a JSON list. */
export function textOfKind({ operationKey, location, keyword, pointer }: ViolationKind): string {
  return JSON.stringify([operationKey, location, keyword, pointer]);
}

/** The fingerprint of the text of a kind. */
export function fingerprintOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** What events say of a finding, for people. */
export function findingText(found: Omit<ViolationKind, 'operationKey'>): string {
  return `${found.location}: ${found.keyword} at ${found.pointer}`;
}
