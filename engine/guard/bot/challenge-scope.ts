/**
 * What clearances are given for: the gate of a site, and each of its rate limits that challenges. A
 * clearance names its scope and the revision of the scope's settings, so that a changed setting
 * voids it.
 */

import { createHash } from 'node:crypto';
import type { BotConfig, BotMode, ChallengeSettings, VerifierConfig } from '../../contract/bot.ts';
import type { SiteConfig } from '../../contract/site.ts';

/** One scope of a site. */
export interface ChallengeScope {
  /** `gate`, or the id of a rate limit. */
  readonly id: string;
  readonly mode: Exclude<BotMode, 'off'>;
  readonly settings: ChallengeSettings;
  /** Hash of all that a clearance must have satisfied. */
  readonly revision: string;
  /** Name of the cookie that holds the clearance. */
  readonly cookie: string;
  /** A check without script is enough for clients that are only doubtful. */
  readonly takesWaits: boolean;
  /** Who verifies people in place of the built-in question; null for nobody. */
  readonly verifier: VerifierConfig | null;
}

/** Id of the scope of a site's gate. */
export const gateScopeId = 'gate';

/** The scopes of a site, by id. */
export function scopesOf(site: SiteConfig): ReadonlyMap<string, ChallengeScope> {
  const scopes: ChallengeScope[] = [];
  const { bot, rates } = site;
  if (bot !== undefined && (bot.mode !== 'off' || bot.underAttackUntilMs !== undefined)) {
    const mode = bot.mode === 'off' ? 'browser_check' : bot.mode;
    scopes.push(scopeOf(gateScopeId, mode, bot, true, verifierOf(bot)));
  }
  for (const { id, action, challenge } of rates?.limits ?? []) {
    if (action !== 'challenge' || challenge === undefined) continue;
    // Who asks too often is past being doubtful.
    scopes.push(scopeOf(id, 'browser_check', challenge, false));
  }
  return new Map(scopes.map((scope) => [scope.id, scope]));
}

function scopeOf(
  id: string,
  mode: ChallengeScope['mode'],
  settings: ChallengeSettings,
  takesWaits: boolean,
  verifier: VerifierConfig | null = null,
): ChallengeScope {
  const { clearanceTtlSeconds, proofDifficulty, bindNetwork, challengeTtlSeconds } = settings;
  const asked: unknown[] = [
    ...[mode, challengeTtlSeconds, clearanceTtlSeconds, proofDifficulty, bindNetwork],
    ...(verifier === null ? [] : [demandOf(verifier)]),
  ];
  const cookie = id === gateScopeId ? 'waf_clearance' : `waf_clearance_${hashOf(id, 12)}`;
  const revision = hashOf(JSON.stringify(asked), 16);
  return { id, mode, settings, revision, cookie, takesWaits, verifier };
}

/** The demands of a verifier on a clearance; not its secret, which may be replaced. */
function demandOf({ kind, siteKey, verifyUrl, minScore, fallback }: VerifierConfig): unknown[] {
  return [kind, siteKey, verifyUrl, minScore, fallback];
}

/** Only people are verified. */
function verifierOf({ mode, verifier }: BotConfig): VerifierConfig | null {
  return mode === 'human_verification' ? (verifier ?? null) : null;
}

function hashOf(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
