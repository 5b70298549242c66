/**
 * Sets challenges and checks solutions for one site. A solution counts once, in a table that
 * all threads share and that survives a restart, and where nodes share what was used, at one of
 * them. While they cannot be asked, it counts at the node that set the challenge only. Who cannot
 * solve a few in a row gets a plain page, so that nothing loops.
 */

import { randomBytes, randomInt } from 'node:crypto';
import { botLimits } from '../../../base/guard-limits.ts';
import type { ChallengeSharing, VerifierConfig } from '../../contract/bot.ts';
import type { GuardName, GuardVerdict } from '../../contract/guard.ts';
import type { ResponseScenario, SiteConfig } from '../../contract/site.ts';
import type { RateTable } from '../rate-table.ts';
import type { RequestView } from '../request-view.ts';
import { ChallengeCounts } from './challenge-counts.ts';
import { challengePage, fieldsFor, momentPage, pageFields } from './challenge-page.ts';
import { scopesOf, type ChallengeScope } from './challenge-scope.ts';
import {
  openChallenge,
  sealChallenge,
  sealClearance,
  type ChallengeToken,
  type Clearance,
} from './challenge-token.ts';
import { ClearanceReader, type ShownClearance } from './clearances.ts';
import { boundNetwork } from './client-network.ts';
import { ownPath } from './own-paths.ts';
import { ownVerdict, redirect, returnTarget, takesPages } from './own-verdicts.ts';
import { textsFor } from './page-texts.ts';
import { provesWork } from './proof-of-work.ts';
import type { TextSealer } from './sealed-text.ts';
import { tonesMax, tonesMin } from './tones.ts';
import { readResponse, type Verifiers } from './verifiers.ts';

/** Who asks for a challenge, and under which words it is refused to programs. */
export interface ChallengeOccasion {
  readonly guard: GuardName;
  readonly reason: string;
  readonly ruleId: string;
  readonly detail: string;
  readonly scenario: ResponseScenario;
  readonly retryAfterS?: number;
}

/** What the gate of a site asks under. */
export const gateOccasion: ChallengeOccasion = {
  guard: 'bot',
  reason: 'bot_challenge',
  ruleId: '',
  detail: '',
  scenario: 'bot_block',
};

/** As many visitors are being checked as may be: their solutions stay good. */
const busy: ChallengeOccasion = {
  ...gateOccasion,
  scenario: 'service_unavailable',
  retryAfterS: 5,
};

/** What a client hands in. */
export interface Solution {
  readonly token: string;
  /** '' where no work was done. */
  readonly nonce: string;
  /** '' where nothing was asked. */
  readonly answer: string;
  /** What a verifier gave, as the query has it; '' where none was asked. */
  readonly response: string;
}

/** What challenges of all sites share in a thread. */
export interface DeskSurroundings {
  readonly sealer: TextSealer;
  readonly table: RateTable;
  readonly opened: Map<string, Clearance>;
  /** Null where a solution counts at this node only. */
  readonly sharing: ChallengeSharing | null;
  readonly verifiers: Verifiers;
}

/** The desk of one site; see the header. */
export class ChallengeDesk {
  private readonly siteId: string;
  private readonly hosts: readonly string[];
  private readonly scopes: ReadonlyMap<string, ChallengeScope>;
  private readonly sealer: TextSealer;
  private readonly counts: ChallengeCounts;
  private readonly reader: ClearanceReader;
  private readonly sharing: ChallengeSharing | null;
  private readonly verifiers: Verifiers;
  private readonly node: string;
  /** Names the nodes that record together what was used: they have the table's seed in common. */
  private readonly group: string;

  constructor(site: SiteConfig, surroundings: DeskSurroundings) {
    const { sealer, table, opened, sharing, verifiers } = surroundings;
    this.siteId = site.id;
    this.hosts = site.hosts;
    this.scopes = scopesOf(site);
    this.sealer = sealer;
    this.counts = new ChallengeCounts(table, site.id);
    this.reader = new ClearanceReader(sealer, site.id, opened);
    this.sharing = sharing;
    this.verifiers = verifiers;
    this.node = this.counts.name(sharing === null ? 'node' : `node ${sharing.node}`);
    this.group = sharing === null ? '' : this.counts.name('group');
  }

  scope(id: string): ChallengeScope | null {
    return this.scopes.get(id) ?? null;
  }

  /** What the request shows for a scope. */
  shown(scope: ChallengeScope, view: RequestView): ShownClearance {
    return this.reader.read(scope, view);
  }

  /** Sets a challenge. `shown`: what was not enough. */
  challenge(
    scope: ChallengeScope,
    occasion: ChallengeOccasion,
    shown: ShownClearance,
    view: RequestView,
  ): GuardVerdict {
    return this.set(scope, occasion, shown.recentAttempt + 1, returnTarget(view), view);
  }

  /** Looks at what a client hands in; `waited`: it did no work. */
  accept(solution: Solution, view: RequestView): GuardVerdict {
    const token = openChallenge(this.sealer, this.siteId, solution.token);
    const scope = token === null ? undefined : this.scopes.get(token.scope);
    if (token === null || scope === undefined) return this.refusal('bot_invalid', view);
    const verified = isVerified(token, scope);
    if (verified && solution.response === '') return this.without(token, scope, view);
    const fault = this.faultOf(token, scope, solution, view);
    if (fault === 'bot_early') return this.moment(token, scope, solution, view);
    if (fault !== '') {
      return this.setAgain(token, scope, { reason: fault, detail: '' }, view);
    }
    if (verified && !this.verifiers.isFree) return this.refusal('bot_verifier_busy', view, busy);
    return this.use(token, scope, solution, view);
  }

  /** A solved challenge gave a cookie: was it kept? */
  finish(text: string, view: RequestView): GuardVerdict {
    const token = openChallenge(this.sealer, this.siteId, text);
    const scope = token === null ? undefined : this.scopes.get(token.scope);
    if (token === null || scope === undefined) return this.refusal('bot_invalid', view);
    if (this.shown(scope, view).valid) return redirect('bot_cleared', token.target, []);
    return this.refusal('bot_no_cookie', view);
  }

  /** What is to be counted, for the sound of a challenge; 0 for none. */
  tonesOf(text: string): number {
    const token = openChallenge(this.sealer, this.siteId, text);
    return Number(token?.answers[1] ?? 0);
  }

  /** A plain answer: JSON for programs, the site's page for browsers. */
  refusal(reason: string, view: RequestView, occasion = gateOccasion): GuardVerdict {
    const { guard, ruleId, detail, scenario, retryAfterS } = occasion;
    const forProgram = !takesPages(view);
    const named = { guard, action: 'deny', reason, ruleId, detail, status: 403, scenario } as const;
    return { ...named, forProgram, ...(retryAfterS === undefined ? {} : { retryAfterS }) };
  }

  private set(
    scope: ChallengeScope,
    occasion: ChallengeOccasion,
    attempt: number,
    target: string,
    view: RequestView,
    builtIn = false,
  ): GuardVerdict {
    if (attempt > botLimits.challengesInARow) {
      return this.refusal('bot_challenge_limit', view, occasion);
    }
    if (!takesPages(view)) return this.refusal(`${occasion.reason}_required`, view, occasion);
    const verifier = builtIn ? null : this.verifierFor(scope, view);
    const asks = scope.mode === 'human_verification' && verifier === null;
    const question = asks ? drawQuestion() : null;
    const { settings } = scope;
    const token: ChallengeToken = {
      id: randomBytes(16).toString('hex'),
      scope: scope.id,
      revision: scope.revision,
      issuedAtMs: view.nowMs,
      attempt,
      node: this.node,
      group: this.group,
      network: settings.bindNetwork ? boundNetwork(view.clientAddress) : '',
      target,
      answers: question === null ? [] : [String(question[0] + question[1]), drawTones()],
    };
    const page = challengePage({
      texts: textsFor(view.header('accept-language')),
      token: sealChallenge(this.sealer, this.siteId, token),
      id: token.id,
      bits: settings.proofDifficulty,
      takesWaits: scope.takesWaits && this.counts.mayWait(view, true),
      question,
      verifier,
    });
    const { guard, reason, ruleId, detail, retryAfterS } = occasion;
    const wait = retryAfterS === undefined ? {} : { retryAfterS };
    const named = { guard, action: 'challenge', reason, ruleId, detail, status: 403 } as const;
    return { ...named, scenario: null, headers: fieldsFor(verifier), page, ...wait };
  }

  /** Why a solution does not count; '' when it does. */
  private faultOf(
    token: ChallengeToken,
    scope: ChallengeScope,
    { nonce, answer, response }: Solution,
    view: RequestView,
  ): string {
    const ageMs = view.nowMs - token.issuedAtMs;
    if (ageMs >= scope.settings.challengeTtlSeconds * 1000) return 'bot_late';
    if (token.revision !== scope.revision) return 'bot_changed';
    if (token.node !== this.node && !this.isShared(token)) return 'bot_other_node';
    const network = boundNetwork(view.clientAddress);
    if (token.network !== '' && token.network !== network) return 'bot_moved';
    if (token.answers.length > 0 && !this.counts.isAnswer(token.id, token.answers, answer, view)) {
      if (!view.trial) this.spoil(token, scope);
      return 'bot_wrong_answer';
    }
    if (isVerified(token, scope)) {
      const readable = readResponse(response) !== null;
      if (!readable || !this.counts.guessesOf(view)(true)) return 'bot_verifier_refused';
    }
    if (nonce !== '') {
      return provesWork(token.id, nonce, scope.settings.proofDifficulty) ? '' : 'bot_wrong_proof';
    }
    if (!takesWait(token, scope) || !this.counts.mayWait(view, true)) return 'bot_proof_needed';
    return ageMs < botLimits.waitMs ? 'bot_early' : '';
  }

  private isShared({ group }: ChallengeToken): boolean {
    return group !== '' && group === this.group;
  }

  /** Nor is a question that was answered wrongly here to be asked at other nodes. */
  private spoil({ id }: ChallengeToken, { settings }: ChallengeScope): void {
    void this.sharing?.uses.use(id, settings.challengeTtlSeconds);
  }

  /** Uses a challenge up; only the first to do so is cleared. */
  private use(
    token: ChallengeToken,
    scope: ChallengeScope,
    { token: text, nonce, response }: Solution,
    view: RequestView,
  ): GuardVerdict {
    const { challengeTtlSeconds, clearanceTtlSeconds, bindNetwork } = scope.settings;
    if (!this.counts.use(token.id, challengeTtlSeconds, view)) {
      return this.usedBefore(token, scope, view);
    }
    const verified = isVerified(token, scope);
    if (verified && view.trial) return this.refusal('bot_verifier_not_asked', view);
    if (verified && !this.counts.takeResponse(response, challengeTtlSeconds, view.nowMs)) {
      const detail = 'the answer was handed in before';
      return this.setAgain(token, scope, { reason: 'bot_verifier_refused', detail }, view);
    }
    const waited = nonce === '';
    if (waited) this.counts.mayWait(view, view.trial);
    const { waitClearanceSeconds } = botLimits;
    const lastsS = waited
      ? Math.min(clearanceTtlSeconds, waitClearanceSeconds)
      : clearanceTtlSeconds;
    const clearance: Clearance = {
      scope: scope.id,
      revision: scope.revision,
      issuedAtMs: view.nowMs,
      expiresAtMs: view.nowMs + lastsS * 1000,
      attempt: token.attempt,
      network: bindNetwork || waited ? boundNetwork(view.clientAddress) : '',
    };
    const value = sealClearance(this.sealer, this.siteId, clearance);
    const secure = view.facts.scheme === 'https' ? '; Secure' : '';
    const cookie = `${scope.cookie}=${value}; Path=/; Max-Age=${lastsS}; HttpOnly; SameSite=Lax`;
    const cleared = redirect('bot_solved', `${ownPath('done')}?token=${text}`, [
      ['Set-Cookie', `${cookie}${secure}`],
      ...pageFields,
    ]);
    const solved = view.trial ? cleared : this.useEverywhere(token, scope, cleared, view);
    return verified ? this.verify(token, scope, solved, response, view) : solved;
  }

  /** Who verifies people of a scope now; null for the question of the proxy. */
  private verifierFor({ verifier }: ChallengeScope, { nowMs }: RequestView): VerifierConfig | null {
    if (verifier === null || !verifier.fallback) return verifier;
    return this.verifiers.isUp(verifier, nowMs) ? verifier : null;
  }

  /** Has the verifier asked. Each outcome is made now: later the view is of another request. */
  private verify(
    token: ChallengeToken,
    scope: ChallengeScope,
    solved: GuardVerdict,
    response: string,
    view: RequestView,
  ): GuardVerdict {
    const { clientIp } = view.facts;
    const guesses = this.counts.guessesOf(view);
    const why = { reason: 'bot_verifier_refused', detail: '' };
    const refused = this.setAgain(token, scope, why, view);
    const failed = this.without(token, scope, view, 'bot_verifier_failed');
    const question = { response: readResponse(response) ?? '', clientIp };
    // A site of any host counts for the one that it was asked by.
    const hosts = this.hosts.includes('*') ? [view.host] : this.hosts;
    const about = { ...question, hosts, nowMs: view.nowMs };
    const asked = this.verifiers.ask(scope.verifier!, about);
    const later = asked.then(({ outcome, why }) => {
      if (outcome === 'passed') return solved.later ?? solved;
      if (outcome === 'refused') guesses(false);
      return { ...(outcome === 'refused' ? refused : failed), detail: why };
    });
    return { ...solved, later };
  }

  /** The verifier failed, or the visitor's browser reports that it cannot use it. */
  private without(
    token: ChallengeToken,
    scope: ChallengeScope,
    view: RequestView,
    reason = 'bot_verifier_absent',
  ): GuardVerdict {
    const occasion = { ...gateOccasion, reason };
    if (scope.verifier?.fallback !== true) return this.refusal(reason, view, occasion);
    return this.set(scope, occasion, token.attempt, token.target, view, true);
  }

  private setAgain(
    { attempt, target }: ChallengeToken,
    scope: ChallengeScope,
    why: Pick<ChallengeOccasion, 'reason' | 'detail'>,
    view: RequestView,
  ): GuardVerdict {
    return this.set(scope, { ...gateOccasion, ...why }, attempt + 1, target, view);
  }

  /** The one who solved it reloads the page, or someone else copied the solution. */
  private usedBefore(
    token: ChallengeToken,
    scope: ChallengeScope,
    view: RequestView,
  ): GuardVerdict {
    if (this.shown(scope, view).valid) return redirect('bot_cleared', token.target, []);
    return this.refusal('bot_replayed', view);
  }

  /** Has other nodes asked. Each outcome is made now: later the view is of another request. */
  private useEverywhere(
    token: ChallengeToken,
    scope: ChallengeScope,
    first: GuardVerdict,
    view: RequestView,
  ): GuardVerdict {
    if (this.sharing === null) return first;
    const { id, node } = token;
    const again = this.usedBefore(token, scope, view);
    const alone =
      node === this.node
        ? { ...first, reason: 'bot_solved_alone' }
        : this.setAgain(token, scope, { reason: 'bot_other_node', detail: '' }, view);
    const outcomes = { first, again, alone };
    const asked = this.sharing.uses.use(id, scope.settings.challengeTtlSeconds);
    return { ...first, later: asked.then((answer) => outcomes[answer]) };
  }

  /** The answer is right and nobody worked for it: the wait comes first. */
  private moment(
    token: ChallengeToken,
    { mode }: ChallengeScope,
    { token: text, answer }: Solution,
    view: RequestView,
  ): GuardVerdict {
    const leftMs = token.issuedAtMs + botLimits.waitMs - view.nowMs;
    if (!takesPages(view)) return this.refusal('bot_early', view);
    const answered = `&nonce=&answer=${encodeURIComponent(answer)}`;
    const path =
      mode === 'human_verification'
        ? `${ownPath('answer')}?token=${text}${answered}`
        : `${ownPath('wait')}?token=${text}`;
    const texts = textsFor(view.header('accept-language'));
    const page = momentPage(texts, path, Math.ceil(leftMs / 1000) + 1);
    return { ...ownVerdict('challenge', 'bot_early', 403), headers: pageFields, page };
  }
}

/** Whether a verifier decides, and not an answer or a wait. */
function isVerified({ answers }: ChallengeToken, { verifier }: ChallengeScope): boolean {
  return verifier !== null && answers.length === 0;
}

function takesWait(token: ChallengeToken, scope: ChallengeScope): boolean {
  return scope.takesWaits && !isVerified(token, scope);
}

function drawQuestion(): readonly [number, number] {
  return [randomInt(2, 10), randomInt(2, 10)];
}

function drawTones(): string {
  return String(randomInt(tonesMin!, tonesMax! + 1));
}
