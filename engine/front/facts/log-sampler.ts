/**
 * Decides which finished requests of one thread are kept in detail: all, none, or the first of each
 * kind in a window. A request is handed on at once, so that nothing waits for the end of a window;
 * threads of a node count together, so that no more than the policy allows are kept.
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
import { AREA, ExemplarQuota } from './exemplar-quota.ts';

const REASON = { ALL: 1, STATUS: 2, API: 4, SECURITY: 8 } as const;
const scoreMax = 2 ** 52;

/** What a thread knows of one window of a site. */
interface Window {
  readonly startMs: number;
  /** Kinds of which nothing more is kept. Paths are bounded; statuses and rules are few. */
  readonly full: Set<string | number>;
  paths: number;
}

/** The sampler of one thread. */
export class LogSampler {
  private readonly random: () => number;
  private readonly quota: ExemplarQuota;
  private config: LoggingConfig = standardLogging;
  private windows = new Map<string, Window>();
  private paths = 0;
  private clearedAtMs = 0;

  /** `quota` is shared by the threads of a node; `random` gives numbers from 0 to 1. */
  constructor(quota: ExemplarQuota = new ExemplarQuota(), random: () => number = Math.random) {
    this.quota = quota;
    this.random = random;
  }

  /** Uses these policies from now on. What was kept before counts on. */
  use(config: LoggingConfig): void {
    this.config = config;
    this.windows.clear();
    this.paths = 0;
  }

  /**
   * What is kept of a request; null where there is nothing to keep. `access` is false for what is
   * no request of its own: it takes no places of access events.
   */
  select(event: RequestEvent, access = true): EventSelection | null {
    const settings = this.config.sites.get(event.siteId) ?? this.config.standard;
    const { accessMode, securityMode } = settings;
    const secure = isSecurity(event);
    const exported = access && this.config.exportAccess ? exportBit : 0;
    const kept = access ? accessMode : 'none';
    if (kept === 'none' && !secure && exported === 0) return null;
    const samplesSecurity = secure && securityMode === 'exemplars';
    const sampled = kept === 'exemplars' || samplesSecurity;
    const startMs = sampled ? windowStart(event, settings.windowMs) : 0;
    const securityDetail =
      securityMode === 'all' ||
      (samplesSecurity && this.takes(event, settings, startMs, securityKind(event)));
    let reasons = exported | (kept === 'all' ? REASON.ALL : 0);
    if (kept === 'exemplars') reasons |= this.sample(event, settings, startMs);
    if (secure && settings.pairing && kept !== 'none') reasons |= REASON.SECURITY;
    if (reasons === 0 && !secure) return null;
    const score = this.random() * scoreMax;
    const { revision } = this.config;
    return { access: reasons, securityDetail, windowMs: startMs, score, revision };
  }

  private sample(event: RequestEvent, settings: LogSettings, startMs: number): number {
    const status = this.takes(event, settings, startMs, event.status);
    const api = settings.apiK > 0 && this.takes(event, settings, startMs, apiKind(event));
    return (status ? REASON.STATUS : 0) | (api ? REASON.API : 0);
  }

  /** True when a request is among the first of its kind in its window. */
  private takes(
    event: RequestEvent,
    settings: LogSettings,
    startMs: number,
    kind: string | number,
  ): boolean {
    const isPath = typeof kind === 'string' && !kind.startsWith(rulePrefix);
    const rules = isPath ? settings.apiK : settings.securityK;
    const most = typeof kind === 'number' ? settings.statusK : rules;
    if (most === 0) return false;
    const window = this.windowOf(event.siteId, startMs);
    if (window?.full.has(kind) === true) return false;
    const endsAtMs = startMs + settings.windowMs + loggingLimits.lateMs;
    const area = isPath ? AREA.MANY : AREA.FEW;
    const key = `${event.siteId} ${startMs} ${kind}`;
    if (this.quota.take(area, key, most, endsAtMs, endOf(event))) return true;
    if (window !== null) this.noteFull(window, kind, isPath);
    return false;
  }

  private noteFull(window: Window, kind: string | number, isPath: boolean): void {
    if (isPath && this.paths >= loggingLimits.sampledKindsMax) return;
    window.full.add(kind);
    if (!isPath) return;
    window.paths++;
    this.paths++;
  }

  /** Null for a window that is over: its late requests ask the count that threads share. */
  private windowOf(siteId: string, startMs: number): Window | null {
    const known = this.windows.get(siteId);
    if (known?.startMs === startMs) return known;
    if (known !== undefined && startMs < known.startMs) return null;
    if (known !== undefined) this.paths -= known.paths;
    // Sites that have no traffic any more leave with the window.
    if (startMs - this.clearedAtMs > loggingLimits.windowsKeptMs) {
      this.windows.clear();
      this.paths = 0;
      this.clearedAtMs = startMs;
    }
    const window: Window = { startMs, full: new Set(), paths: 0 };
    this.windows.set(siteId, window);
    return window;
  }
}

function endOf({ receivedAtMs, durationUs }: RequestEvent): number {
  return receivedAtMs + Math.max(0, durationUs) / 1000;
}

/** Of the window that a request came in; of a later one where it took very long. */
function windowStart(event: RequestEvent, windowMs: number): number {
  const atMs = Math.max(event.receivedAtMs, Math.floor(endOf(event) - loggingLimits.lateMs));
  return atMs - (atMs % windowMs);
}

/** As the link decides which requests become security facts. */
export function isSecurity({ transaction, outcome, blocked, guards }: RequestEvent): boolean {
  if (blocked || guards !== undefined || outcome === 'refused' || outcome === 'inspection_failed')
    return true;
  if (transaction === null) return false;
  return transaction.matchedRules.some(({ log }) => log) || isIncomplete(transaction);
}

/** Before the kind of a security event; no method contains it. */
const rulePrefix = '\n';

function securityKind({ transaction, refusal }: RequestEvent): string {
  const rules = transaction?.matchedRules ?? [];
  const first = rules.find(({ disruptive }) => disruptive) ?? rules[0];
  return `${rulePrefix}${first?.ruleId ?? refusal ?? ''}`;
}

/** Method and path, with what looks like a number or an identifier taken out. */
function apiKind({ method, target }: RequestEvent): string {
  const end = target.indexOf('?');
  const path = target.slice(0, Math.min(end < 0 ? target.length : end, loggingLimits.kindCharsMax));
  return `${method} ${/\d/.test(path) ? path.replace(/[^/]*\d[^/]*/g, '#') : path}`;
}
