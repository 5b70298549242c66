/** What challenges and clearances say, and how they travel in pages and cookies. */

import { botLimits } from '../../../base/guard-limits.ts';
import type { TextSealer } from './sealed-text.ts';

/** A challenge that was set. */
export interface ChallengeToken {
  /** Random; solutions are found for it, and it counts once. */
  readonly id: string;
  readonly scope: string;
  readonly revision: string;
  readonly issuedAtMs: number;
  /** Which challenge in a row it is, from 1. */
  readonly attempt: number;
  /** The node that set it, which knows whether it was used. */
  readonly node: string;
  /** Nodes at which it counts too, because they record together what was used; '' for none. */
  readonly group: string;
  /** The client's network; '' where it does not matter. */
  readonly network: string;
  /** Where the visitor wanted to go: path and query. */
  readonly target: string;
  /** What a person answers; none for a check of the browser. */
  readonly answers: readonly string[];
}

/** What a client that solved a challenge shows. */
export interface Clearance {
  readonly scope: string;
  readonly revision: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  /** Of the challenge that was solved. */
  readonly attempt: number;
  /** The network that it counts for; '' for any. */
  readonly network: string;
}

/** The challenge as it travels in pages. */
export function sealChallenge(sealer: TextSealer, siteId: string, token: ChallengeToken): string {
  return sealer.seal(JSON.stringify(token), `challenge/1\n${siteId}`, 'base64url');
}

/** The challenge; null for what is none of this site. */
export function openChallenge(
  sealer: TextSealer,
  siteId: string,
  text: string,
): ChallengeToken | null {
  if (text.length > botLimits.tokenCharsMax) return null;
  const opened = sealer.open(text, `challenge/1\n${siteId}`, 'base64url');
  // What opens is what we sealed.
  return opened === null ? null : (JSON.parse(opened) as ChallengeToken);
}

/** The clearance as it travels in a cookie. */
export function sealClearance(sealer: TextSealer, siteId: string, clearance: Clearance): string {
  return sealer.seal(JSON.stringify(clearance), `clearance/1\n${siteId}`, 'hex');
}

/** The clearance; null for what is none of this site. */
export function openClearance(sealer: TextSealer, siteId: string, text: string): Clearance | null {
  if (text.length > botLimits.tokenCharsMax) return null;
  const opened = sealer.open(text, `clearance/1\n${siteId}`, 'hex');
  return opened === null ? null : (JSON.parse(opened) as Clearance);
}
