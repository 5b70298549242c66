/** Answers of challenges that are not the operator's wording, and where they lead. Pure. */

import { botLimits } from '../../../base/guard-limits.ts';
import type { GuardVerdict } from '../../contract/guard.ts';
import type { RequestView } from '../request-view.ts';

/** True for requests that a page can answer: navigations of browsers. */
export function takesPages(view: RequestView): boolean {
  if (view.method !== 'GET' && view.method !== 'HEAD') return false;
  return view.header('accept')?.toLowerCase().includes('text/html') === true;
}

/** An answer of the bot gate that is not the operator's wording. */
export function ownVerdict(
  action: 'challenge' | 'deny',
  reason: string,
  status: number,
): GuardVerdict {
  return { guard: 'bot', action, reason, ruleId: '', detail: '', status, scenario: null };
}

/** Sends a browser on. */
export function redirect(
  reason: string,
  location: string,
  headers: NonNullable<GuardVerdict['headers']>,
): GuardVerdict {
  return { ...ownVerdict('challenge', reason, 303), location, headers };
}

/**
 * Where the visitor goes back to: path and query as sent. A path that a browser could take for
 * another host, and what is too long, become `/`.
 */
export function returnTarget({ path, query }: RequestView): string {
  const target = query === '' ? path : `${path}?${query}`;
  if (target.length > botLimits.returnPathCharsMax) return '/';
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(target) ? target : '/';
}
