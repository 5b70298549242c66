/**
 * The guard that limits rates: counts requests by client, session or header, and turns away what is
 * past a limit. Bans are asked for first. Counts live in a table that all threads share.
 */

import { encodeUtf8 } from '../../base/byte-string.ts';
import { HalfSipHash } from '../base/half-sip-hash.ts';
import { clientNetwork } from '../../base/ip-address.ts';
import { readStatedPath, statedForAny } from '../../base/stated-path.ts';
import { rateLimits } from '../../base/guard-limits.ts';
import type { GuardVerdict } from '../contract/guard.ts';
import type { RateBudget, RateKey, RateLimitConfig } from '../contract/rate-limit.ts';
import type { SiteConfig } from '../contract/site.ts';
import type { Guard, GuardKind } from './guard.ts';
import type { ChallengeDesk } from './bot/challenge-desk.ts';
import type { ChallengeScope } from './bot/challenge-scope.ts';
import { deskOf } from './bot/challenges.ts';
import { isUnsolvable } from './bot/unsolvable.ts';
import type { RateStanding } from './rate-fields.ts';
import type { RateAnswer, RateTable } from './rate-table.ts';
import type { RequestView } from './request-view.ts';

/** Rate limits and the bans that they made. */
export const rateLimitGuard: GuardKind = {
  name: 'rate_limit',
  compile: (site, services) => {
    const { rates } = services;
    if (site.rates === undefined || rates === null) return null;
    const challenges = site.rates.limits.some(({ challenge }) => challenge !== undefined);
    return new RateLimitGuard(site, rates, challenges ? deskOf(site, services) : null);
  },
};

/** One limit of a site. */
interface CompiledLimit {
  readonly config: RateLimitConfig;
  readonly path: RegExp;
  /** Hashes values under this limit: equal values of two limits are counted apart. */
  readonly hash: HalfSipHash;
  /** Hashes values that this limit bans; null when it bans nobody. */
  readonly banHash: HalfSipHash | null;
  /** What it challenges for; null when it does not. */
  readonly challenge: ChallengeScope | null;
  /** Hashes values of clients that solved its challenge. */
  readonly verifiedHash: HalfSipHash | null;
}

/** Values of one kind that may be banned here. */
interface BanPlace {
  readonly key: RateKey;
  readonly hash: HalfSipHash;
}

class RateLimitGuard implements Guard {
  readonly name = 'rate_limit';
  private readonly table: RateTable;
  private readonly limits: readonly CompiledLimit[];
  private readonly bans: readonly BanPlace[];
  private readonly desk: ChallengeDesk | null;
  /** Answers tell clients how they stand with each limit. */
  private readonly tells: boolean;

  constructor(site: SiteConfig, table: RateTable, desk: ChallengeDesk | null) {
    const { limits, globalBans } = site.rates!;
    this.table = table;
    this.desk = desk;
    this.tells = site.rateLimitFields === true;
    const placed = (key: RateKey, where: string): BanPlace => ({
      key,
      hash: derivedHash(table, `ban\n${where}\n${nameOf(key)}`),
    });
    this.bans = [
      ...globalBans.map((key) => placed(key, '')),
      ...distinct(limits.filter(bansHere).map(({ key }) => key)).map((key) => placed(key, site.id)),
    ];
    const counted = (what: string, { id }: RateLimitConfig, windowSeconds: number): HalfSipHash =>
      derivedHash(table, `${what}\n${site.id}\n${id}\n${windowSeconds}`);
    this.limits = limits.map((config) => {
      const { action, key, banGlobally, budget, verifiedBudget } = config;
      const challenge = desk?.scope(config.id) ?? null;
      return {
        config,
        path: pathPatternOf(config.pathPattern),
        hash: counted('limit', config, budget.windowSeconds),
        banHash: action === 'ban' ? placed(key, banGlobally ? '' : site.id).hash : null,
        challenge,
        verifiedHash:
          challenge === null ? null : counted('verified', config, verifiedBudget.windowSeconds),
      };
    });
  }

  decide(view: RequestView): GuardVerdict | null {
    const { table } = this;
    if (table.hasBans) {
      for (const { key, hash } of this.bans) {
        if (!table.isBanned(hash.hash(valueOf(key, view)), view.nowMs)) continue;
        return denial('rate_limit_banned', '', `${nameOf(key)} is banned`, table.retryAfterMs);
      }
    }
    let watched: GuardVerdict | null = null;
    for (const limit of this.limits) {
      if (!appliesTo(limit, view)) continue;
      const verdict = this.ask(limit, view);
      if (verdict === null) continue;
      if (verdict.action !== 'monitor') return verdict;
      watched ??= verdict;
    }
    return watched;
  }

  describe(view: RequestView): string {
    const applying = this.limits.filter((limit) => appliesTo(limit, view));
    const { table } = this;
    const texts = applying.map((limit) => {
      const { config, hash } = limit;
      table.ask(hash.hash(valueOf(config.key, view)), config.budget, 0, view.nowMs, true);
      return `${config.pathPattern} by ${nameOf(config.key)}: ${table.used} of ${budgetText(config.budget)}`;
    });
    return texts.length === 0 ? 'no limit applies' : texts.join('; ');
  }

  private ask(limit: CompiledLimit, view: RequestView): GuardVerdict | null {
    const { table } = this;
    const { config, hash, banHash, challenge } = limit;
    if (challenge !== null && !config.observe) return this.askVerified(limit, challenge, view);
    const { observe, key, budget, mitigationSeconds } = config;
    const value = valueOf(key, view);
    const holdMs = observe || banHash !== null ? 0 : mitigationSeconds * 1000;
    const answer = table.ask(hash.hash(value), budget, holdMs, view.nowMs, view.trial);
    if (!observe) this.note(config, budget, answer, view);
    if (answer === 'pass') return null;
    const detail = `more than ${budgetText(config.budget)} by ${nameOf(key)}`;
    if (observe) return watching(config.id, detail);
    if (banHash === null) return denial('rate_limit', config.id, detail, table.retryAfterMs);
    const banMs = mitigationSeconds * 1000;
    if (!view.trial) table.ban(banHash.hash(value), banMs, view.nowMs);
    return denial('rate_limit_ban', config.id, detail, banMs);
  }

  /** How the client stands with a limit that acts, for the fields of the answer. */
  private note(
    { id: name }: RateLimitConfig,
    budget: RateBudget,
    answer: RateAnswer,
    view: RequestView,
  ): void {
    if (!this.tells) return;
    const { used, retryAfterMs } = this.table;
    const { requests: quota, windowSeconds } = budget;
    const passed = answer === 'pass';
    const standing: RateStanding = {
      ...{ name, quota, windowSeconds },
      remaining: passed ? Math.max(0, quota - used - 1) : 0,
      resetSeconds: passed ? windowSeconds : Math.max(1, Math.ceil(retryAfterMs / 1000)),
    };
    view.rateStandings.push(standing);
  }

  /** Clients that solved the challenge have a budget of their own; past it they wait. */
  private askVerified(
    { config, hash, verifiedHash }: CompiledLimit,
    scope: ChallengeScope,
    view: RequestView,
  ): GuardVerdict | null {
    const { table } = this;
    const desk = this.desk!;
    const { key, budget, verifiedBudget, mitigationSeconds } = config;
    const value = valueOf(key, view);
    const holdMs = mitigationSeconds * 1000;
    const shown = desk.shown(scope, view);
    if (shown.valid) {
      const answer = table.ask(
        verifiedHash!.hash(value),
        verifiedBudget,
        0,
        view.nowMs,
        view.trial,
      );
      this.note(config, verifiedBudget, answer, view);
      if (answer === 'pass') return null;
      const detail = `verified, more than ${budgetText(verifiedBudget)} by ${nameOf(key)}`;
      return denial('rate_limit', config.id, detail, table.retryAfterMs);
    }
    const answer = table.ask(hash.hash(value), budget, holdMs, view.nowMs, view.trial);
    this.note(config, budget, answer, view);
    if (answer === 'pass') return null;
    const detail = `more than ${budgetText(budget)} by ${nameOf(key)}`;
    if (isUnsolvable(view)) return denial('rate_limit', config.id, detail, table.retryAfterMs);
    const retryAfterS = Math.max(1, Math.ceil(table.retryAfterMs / 1000));
    const named = { guard: 'rate_limit', reason: 'rate_limit_challenge' } as const;
    const occasion = {
      ...named,
      ruleId: config.id,
      detail,
      scenario: 'rate_limit',
      retryAfterS,
    } as const;
    return desk.challenge(scope, occasion, shown, view);
  }
}

function appliesTo({ config, path }: CompiledLimit, view: RequestView): boolean {
  const { methods } = config;
  if (methods.length > 0 && !methods.includes(view.method)) return false;
  return view.matchesPath(path);
}

/**
 * The value by which a request is counted. What has no session or header is counted by its
 * address, so that leaving it out changes nothing.
 */
function valueOf(key: RateKey, view: RequestView): string {
  if (key.kind === 'session') {
    const session = sessionOf(view);
    if (session !== '') return `s${session.slice(0, rateLimits.keyBytesMax)}`;
  } else if (key.kind === 'header') {
    const value = view.header(key.name) ?? '';
    if (value !== '') return `h${value.slice(0, rateLimits.keyBytesMax)}`;
  }
  return `i${clientNetwork(view.facts.clientIp)}`;
}

/** Cookies in which common servers keep their sessions. */
const sessionNames = [
  ...['phpsessid', 'jsessionid', 'asp\\.net_sessionid', 'connect\\.sid', 'laravel_session'],
  ...['_?session(?:_?id)?', 'sid'],
].join('|');
const sessionCookies = new RegExp(
  `(?:^|;)\\s*(?:__host-|__secure-)?(?:${sessionNames})\\s*=\\s*([^;]+)`,
  'i',
);

/** The session cookie, else the credentials; '' for neither. */
function sessionOf(view: RequestView): string {
  const cookies = view.header('cookie');
  const session = cookies === null ? undefined : sessionCookies.exec(cookies)?.[1]?.trim();
  return session || (view.header('authorization') ?? '');
}

/**
 * A pattern over folded readings: `*` as the last segment stands for all that follows, within a
 * segment for any part of it. Case and slashes at the end make no difference.
 */
export function pathPatternOf(pattern: string): RegExp {
  const text = pattern.replace(/\/+$/, '');
  const parts = text.split('/').map((part, at, all) => {
    if (part === '*' && at === all.length - 1) return '.*';
    return part
      .split('*')
      .map((literal) => escaped(statedForAny(readStatedPath(literal))))
      .join('[^/]*');
  });
  const open = parts.length > 1 && parts.at(-1) === '.*';
  const head = open ? `${parts.slice(0, -1).join('/')}(?:/.*)?` : parts.join('/');
  return new RegExp(`^${head}/*$`, 's');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

function derivedHash({ seed }: RateTable, purpose: string): HalfSipHash {
  const { low, high } = new HalfSipHash(seed).hash(encodeUtf8(purpose));
  return new HalfSipHash([low, high]);
}

function bansHere({ action, banGlobally }: RateLimitConfig): boolean {
  return action === 'ban' && !banGlobally;
}

function distinct(keys: readonly RateKey[]): RateKey[] {
  return [...new Map(keys.map((key) => [nameOf(key), key])).values()];
}

/** As the API spells it. */
export function nameOf(key: RateKey): string {
  return key.kind === 'header' ? `header:${key.name}` : key.kind;
}

function budgetText({ requests, windowSeconds }: RateBudget): string {
  return `${requests} in ${windowSeconds} s`;
}

function denial(reason: string, ruleId: string, detail: string, waitMs: number): GuardVerdict {
  return {
    guard: 'rate_limit',
    action: 'deny',
    reason,
    ruleId,
    detail,
    // The operator's wording says what it becomes; 429 unless changed.
    status: 403,
    scenario: 'rate_limit',
    retryAfterS: Math.max(1, Math.ceil(waitMs / 1000)),
  };
}

function watching(ruleId: string, detail: string): GuardVerdict {
  const scenario = null;
  const reason = 'rate_limit_observed';
  return { guard: 'rate_limit', action: 'monitor', reason, ruleId, detail, status: 0, scenario };
}
