/**
 * The first guard: asks clients for a proof before they are served, and answers the paths under
 * which proofs are handed in. Clients that are known, exempt or cleared pass.
 */

import type { BotConfig } from '../../contract/bot.ts';
import type { GuardVerdict } from '../../contract/guard.ts';
import type { Guard, GuardKind } from '../guard.ts';
import { holdsAddress } from '../ip-lookup.ts';
import type { RequestView } from '../request-view.ts';
import { gateOccasion, type ChallengeDesk } from './challenge-desk.ts';
import { pageFields } from './challenge-page.ts';
import { gateScopeId, scopesOf, type ChallengeScope } from './challenge-scope.ts';
import { deskOf } from './challenges.ts';
import type { CrawlerCheck } from './crawlers.ts';
import { ownPrefix, readQuery } from './own-paths.ts';
import { ownVerdict } from './own-verdicts.ts';
import { checkScript, checkStyle, solveScript } from './page-assets.ts';
import { tonesFile } from './tones.ts';
import { isUnsolvable } from './unsolvable.ts';

/** The gate of a site; without one, what answers challenges of its rate limits. */
export const botGate: GuardKind = {
  name: 'bot',
  compile: (site, services) => {
    if (scopesOf(site).size === 0) return null;
    return new BotGate(deskOf(site, services), site.bot ?? null, services.crawlers ?? null);
  },
};

class BotGate implements Guard {
  readonly name = 'bot';
  private readonly desk: ChallengeDesk;
  private readonly bot: BotConfig | null;
  private readonly gate: ChallengeScope | null;
  private readonly crawlers: CrawlerCheck | null;

  constructor(desk: ChallengeDesk, bot: BotConfig | null, crawlers: CrawlerCheck | null) {
    this.desk = desk;
    this.bot = bot;
    this.gate = desk.scope(gateScopeId);
    this.crawlers = crawlers;
  }

  decide(view: RequestView): GuardVerdict | null {
    if (view.path.startsWith(ownPrefix)) return this.answer(view);
    const { gate, bot } = this;
    if (gate === null || bot === null || isExempt(bot, view)) return null;
    if (!isAsked(bot, view) || isUnsolvable(view)) return null;
    const shown = this.desk.shown(gate, view);
    if (shown.valid) return null;
    const crawler = bot.challengeCrawlers ? 'none' : (this.crawlers?.check(view) ?? 'none');
    if (crawler === 'verified') return null;
    if (crawler === 'pending') return pendingCrawler;
    return this.desk.challenge(gate, gateOccasion, shown, view);
  }

  describe(view: RequestView): string {
    if (view.path.startsWith(ownPrefix)) return 'a path of the challenges';
    const { gate, bot } = this;
    if (gate === null || bot === null) return 'no gate';
    if (isExempt(bot, view)) return 'exempt';
    if (!isAsked(bot, view)) return 'a path without a challenge';
    if (isUnsolvable(view)) return 'a request that cannot solve a challenge';
    return this.desk.shown(gate, view).valid ? 'cleared' : 'no valid clearance';
  }

  /** What is asked of the proxy itself. */
  private answer(view: RequestView): GuardVerdict {
    if (view.method !== 'GET' && view.method !== 'HEAD') {
      return { ...ownVerdict('deny', 'bot_method', 405), forProgram: true };
    }
    const parameters = readQuery(view.query);
    const token = parameters.get('token') ?? '';
    const nonce = parameters.get('nonce') ?? '';
    const answer = parameters.get('answer') ?? '';
    const response = parameters.get('response') ?? '';
    switch (view.path.slice(ownPrefix.length)) {
      case 'check.css':
        return asset('text/css; charset=utf-8', styleBytes);
      case 'check.js':
        return asset(script, checkBytes);
      case 'solve.js':
        return asset(script, solveBytes);
      case 'sound': {
        const tones = this.desk.tonesOf(token);
        if (tones > 0) return asset('audio/wav', tonesFile(tones));
        return this.desk.refusal('bot_invalid', view);
      }
      case 'pass':
      case 'answer':
        return this.desk.accept({ token, nonce, answer, response }, view);
      case 'wait':
        return this.desk.accept({ token, nonce: '', answer: '', response: '' }, view);
      case 'done':
        return this.desk.finish(token, view);
      default:
        return ownVerdict('deny', 'bot_path', 404);
    }
  }
}

const script = 'text/javascript; charset=utf-8';
const styleBytes = Buffer.from(checkStyle);
const checkBytes = Buffer.from(checkScript);
const solveBytes = Buffer.from(solveScript);

/** A crawler that names itself is looked up meanwhile; it is to come again. */
const pendingCrawler: GuardVerdict = {
  ...ownVerdict('deny', 'bot_crawler_unverified', 503),
  scenario: 'service_unavailable',
  retryAfterS: 30,
};

function asset(contentType: string, body: Buffer): GuardVerdict {
  return {
    ...ownVerdict('challenge', 'bot_asset', 200),
    headers: pageFields,
    page: { contentType, body },
  };
}

/** What asks goes by any reading of the path; under attack every path asks. */
function isAsked(bot: BotConfig, view: RequestView): boolean {
  const { mode, challengePaths = [], underAttackUntilMs = 0 } = bot;
  if (view.nowMs < underAttackUntilMs) return true;
  if (mode === 'off') return false;
  return challengePaths.length === 0 || challengePaths.some((path) => view.isUnder(path, true));
}

/** What allows needs all readings of the path to agree. */
function isExempt(bot: BotConfig, view: RequestView): boolean {
  const { exemptMethods, exemptPaths, trusted } = bot;
  if (exemptMethods.length > 0 && exemptMethods.includes(view.method)) return true;
  for (const path of exemptPaths) if (view.isUnder(path, false)) return true;
  for (const set of trusted) if (holdsAddress(set, view.clientAddress, view.nowMs)) return true;
  return false;
}
