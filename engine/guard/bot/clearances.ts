/**
 * Reads the clearances that a request shows. A cookie that opened once is remembered by its text,
 * so that nearly every check is two look-ups; what it says is compared each time.
 */

import { botLimits } from '../../../base/guard-limits.ts';
import type { RequestView } from '../request-view.ts';
import type { ChallengeScope } from './challenge-scope.ts';
import { openClearance, type Clearance } from './challenge-token.ts';
import { boundNetwork } from './client-network.ts';
import type { TextSealer } from './sealed-text.ts';

/** What a request shows of a scope. */
export interface ShownClearance {
  readonly valid: boolean;
  /** Of the last challenge solved, when that was a moment ago; 0 otherwise. */
  readonly recentAttempt: number;
}

const nothingShown: ShownClearance = { valid: false, recentAttempt: 0 };
const validShown: ShownClearance = { valid: true, recentAttempt: 0 };

/** Cookies of one site that opened, by text. */
export class ClearanceReader {
  private readonly sealer: TextSealer;
  private readonly siteId: string;
  private readonly opened: Map<string, Clearance>;

  /** `opened` may serve many sites: texts of one do not open on another. */
  constructor(sealer: TextSealer, siteId: string, opened: Map<string, Clearance>) {
    this.sealer = sealer;
    this.siteId = siteId;
    this.opened = opened;
  }

  /** Cost: 0.5 us for a clearance seen before in the thread, 10 us for a new one. */
  read(scope: ChallengeScope, view: RequestView): ShownClearance {
    const cookies = view.header('cookie');
    if (cookies === null) return nothingShown;
    let recentAttempt = 0;
    let from = 0;
    for (let tried = 0; tried < botLimits.cookiesPerNameMax; tried++) {
      const start = valueStart(cookies, scope.cookie, from);
      if (start < 0) break;
      const end = cookies.indexOf(';', start);
      const text = cookies.slice(start, end < 0 ? undefined : end).trim();
      from = start;
      const clearance = this.open(text);
      if (clearance === null || clearance.scope !== scope.id) continue;
      if (isValid(clearance, scope, view)) return validShown;
      if (view.nowMs - clearance.issuedAtMs < botLimits.rowSpanMs) {
        recentAttempt = Math.max(recentAttempt, clearance.attempt);
      }
    }
    return recentAttempt === 0 ? nothingShown : { valid: false, recentAttempt };
  }

  private open(text: string): Clearance | null {
    const key = `${this.siteId} ${text}`;
    const known = this.opened.get(key);
    if (known !== undefined) return known;
    const clearance = openClearance(this.sealer, this.siteId, text);
    if (clearance === null) return null;
    // The oldest goes: whoever it belongs to is read anew.
    if (this.opened.size >= botLimits.rememberedClearancesMax) {
      this.opened.delete(this.opened.keys().next().value!);
    }
    this.opened.set(key, clearance);
    return clearance;
  }
}

function isValid(clearance: Clearance, scope: ChallengeScope, view: RequestView): boolean {
  const { revision, expiresAtMs, network } = clearance;
  if (revision !== scope.revision || view.nowMs >= expiresAtMs) return false;
  return network === '' || network === boundNetwork(view.clientAddress);
}

/** Where the value of a cookie begins, from `from` on; -1 when there is none. */
function valueStart(cookies: string, name: string, from: number): number {
  for (let at = cookies.indexOf(name, from); at >= 0; at = cookies.indexOf(name, at + 1)) {
    if (cookies.charCodeAt(at + name.length) !== 0x3d) continue;
    let before = at - 1;
    while (before >= 0 && isSpace(cookies.charCodeAt(before))) before--;
    if (before < 0 || cookies.charCodeAt(before) === 0x3b) return at + name.length + 1;
  }
  return -1;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
