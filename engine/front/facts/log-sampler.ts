/**
 * Decides which finished requests of one thread are kept in detail: all, none, or by a reservoir
 * for each kind and window. A request whose score is among the highest so far is handed on at once,
 * so that nothing waits for the end of a window and only scores are held. Of what several threads
 * hand on, the highest scores of a window are a fair sample of all their requests.
 */

import { loggingLimits } from '../../base/observation-limits.ts';
import {
  exportBit,
  standardLogging,
  type EventSelection,
  type LoggingConfig,
  type LogSettings,
} from '../../contract/logging.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { isIncomplete } from '../../contract/verdict.ts';

const REASON = { ALL: 1, STATUS: 2, API: 4, SECURITY: 8 } as const;
const scoreMax = 2 ** 52;

/** Scores of one window of a site, by kind. */
interface Window {
  readonly startMs: number;
  readonly kinds: Map<string | number, number[]>;
}

/** The sampler of one thread. */
export class LogSampler {
  private readonly random: () => number;
  private config: LoggingConfig = standardLogging;
  private windows = new Map<string, Window>();
  private kinds = 0;
  private clearedAtMs = 0;

  /** `random` gives numbers from 0 to 1. */
  constructor(random: () => number = Math.random) {
    this.random = random;
  }

  /** Uses these policies from now on. */
  use(config: LoggingConfig): void {
    this.config = config;
    this.windows.clear();
    this.kinds = 0;
  }

  /** What is kept of a request; null where there is nothing to keep. */
  select(event: RequestEvent): EventSelection | null {
    const { siteId, receivedAtMs } = event;
    const settings = this.config.sites.get(siteId) ?? this.config.standard;
    const { accessMode, securityMode, windowMs } = settings;
    const secure = isSecurity(event);
    const exported = this.config.exportAccess ? exportBit : 0;
    if (accessMode === 'none' && !secure && exported === 0) return null;
    const startMs = receivedAtMs - (receivedAtMs % windowMs);
    const score = this.random() * scoreMax;
    const sampled = accessMode === 'exemplars' || (secure && securityMode === 'exemplars');
    const window = sampled ? this.windowOf(siteId, startMs) : null;
    const securityDetail =
      securityMode === 'all' ||
      (securityMode === 'exemplars' &&
        this.enters(window!, securityKind(event), settings.securityK, score));
    let access = exported | (accessMode === 'all' ? REASON.ALL : 0);
    if (accessMode === 'exemplars') access |= this.sample(event, settings, window!, score);
    if (secure && settings.pairing && accessMode !== 'none') access |= REASON.SECURITY;
    if (access === 0 && !secure) return null;
    const { revision } = this.config;
    return { access, securityDetail, windowMs: sampled ? startMs : 0, score, revision };
  }

  private sample(
    event: RequestEvent,
    settings: LogSettings,
    window: Window,
    score: number,
  ): number {
    const status = this.enters(window, event.status, settings.statusK, score);
    const api = settings.apiK > 0 && this.enters(window, apiKind(event), settings.apiK, score);
    return (status ? REASON.STATUS : 0) | (api ? REASON.API : 0);
  }

  /** True when the score is among the `most` highest of its kind; it is then one of them. */
  private enters(window: Window, kind: string | number, most: number, score: number): boolean {
    if (most === 0) return false;
    const scores = window.kinds.get(kind);
    if (scores === undefined) {
      // A flood of new paths costs examples of paths, never memory.
      if (this.kinds >= loggingLimits.sampledKindsMax && typeof kind === 'string') return false;
      this.kinds++;
      window.kinds.set(kind, [score]);
      return true;
    }
    if (scores.length < most) return scores.push(score) > 0;
    let least = 0;
    for (let at = 1; at < scores.length; at++) if (scores[at]! < scores[least]!) least = at;
    if (score <= scores[least]!) return false;
    scores[least] = score;
    return true;
  }

  private windowOf(siteId: string, startMs: number): Window {
    const known = this.windows.get(siteId);
    if (known?.startMs === startMs) return known;
    if (known !== undefined) this.kinds -= known.kinds.size;
    // Sites that have no traffic any more leave with the window.
    if (startMs - this.clearedAtMs > loggingLimits.windowsKeptMs) {
      this.windows.clear();
      this.kinds = 0;
      this.clearedAtMs = startMs;
    }
    const window: Window = { startMs, kinds: new Map() };
    this.windows.set(siteId, window);
    return window;
  }
}

/** As the link decides which requests become security facts. */
export function isSecurity({ transaction, outcome, blocked, guards }: RequestEvent): boolean {
  if (blocked || guards !== undefined || outcome === 'refused' || outcome === 'inspection_failed')
    return true;
  if (transaction === null) return false;
  return transaction.matchedRules.some(({ log }) => log) || isIncomplete(transaction);
}

function securityKind({ transaction, refusal }: RequestEvent): string {
  const rules = transaction?.matchedRules ?? [];
  const first = rules.find(({ disruptive }) => disruptive) ?? rules[0];
  return `s${first?.ruleId ?? refusal ?? ''}`;
}

/** Method and path, with what looks like a number or an identifier taken out. */
function apiKind({ method, target }: RequestEvent): string {
  const end = target.indexOf('?');
  const path = target.slice(0, Math.min(end < 0 ? target.length : end, loggingLimits.kindCharsMax));
  return `${method} ${/\d/.test(path) ? path.replace(/[^/]*\d[^/]*/g, '#') : path}`;
}
