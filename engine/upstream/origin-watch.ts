/**
 * What requests found out about origin addresses, over all threads: which fail without an answer
 * between, and the log of it. Probes nothing; sees only addresses that were asked.
 */

import { upstreamLimits } from '../../base/delivery-limits.ts';
import type { Logger } from '../../base/log.ts';
import type { AddressHealth, OriginNote } from '../contract/health.ts';
import { failureText } from './connect-failure.ts';
import type { OriginFailure } from './origin-sink.ts';

/** How the watch reports. */
export interface OriginWatchOptions {
  readonly logger: Logger;
  /** Called when an address begins to fail, and when one answers again. */
  readonly onChange: () => void;
  readonly now?: () => number;
}

interface Failing {
  readonly note: OriginNote;
  readonly sinceMs: number;
  lastMs: number;
  error: string;
  /** Failures since the last line in the log, and since it began to fail. */
  unlogged: number;
  total: number;
}

/** Addresses whose requests fail. */
export class OriginWatch {
  private readonly options: OriginWatchOptions;
  private readonly now: () => number;
  private readonly failing = new Map<string, Failing>();
  private readonly timer: NodeJS.Timeout;

  constructor(options: OriginWatchOptions) {
    this.options = options;
    this.now = options.now ?? Date.now;
    this.timer = setInterval(() => this.log(), upstreamLimits.originLogEveryMs).unref();
  }

  close(): void {
    clearInterval(this.timer);
  }

  /** Takes what one thread noticed. */
  receive(notes: readonly OriginNote[]): void {
    let changed = false;
    for (const note of notes) changed = this.receiveOne(note) || changed;
    if (changed) this.options.onChange();
  }

  /** Forgets addresses that are configured no more, and those that nobody asked for long. */
  keepOnly(isConfigured: (upstreamId: string, name: string) => boolean): void {
    const oldest = this.now() - upstreamLimits.originForgottenMs;
    for (const [key, { note, lastMs }] of this.failing) {
      if (lastMs < oldest || !isConfigured(note.upstreamId, note.name)) this.failing.delete(key);
    }
  }

  /** The addresses that fail, as health reports have them. */
  health(): AddressHealth[] {
    const oldest = this.now() - upstreamLimits.originForgottenMs;
    return [...this.failing.values()]
      .filter(({ lastMs }) => lastMs >= oldest)
      .map(({ note, sinceMs, error, total }) => ({
        upstreamId: note.upstreamId,
        url: new URL(`${note.scheme}://${note.name}`).origin,
        name: note.name,
        status: 'unhealthy',
        probedAtMs: 0,
        changedAtMs: sinceMs,
        error: `${error} (${total} failures)`,
      }));
  }

  /** Writes what failed since the last time; every minute, and at once for what begins to. */
  log(): void {
    const waiting = [...this.failing.values()].filter(({ unlogged }) => unlogged > 0);
    const worst = waiting.toSorted((left, right) => right.unlogged - left.unlogged);
    worst.slice(0, upstreamLimits.originsLoggedMax).forEach((one) => this.logOne(one));
    const rest = worst.slice(upstreamLimits.originsLoggedMax);
    if (rest.length === 0) return;
    const failures = rest.reduce((sum, { unlogged }) => sum + unlogged, 0);
    for (const one of rest) one.unlogged = 0;
    this.options.logger.warn('more origins do not answer', { origins: rest.length, failures });
  }

  private logOne(one: Failing): void {
    const { note, unlogged, error } = one;
    const place = { upstream: note.upstreamId, origin: note.name };
    this.options.logger.warn('an origin does not answer', {
      ...place,
      code: note.failure,
      reason: error,
      failures: unlogged,
    });
    one.unlogged = 0;
  }

  /** True when the address changed sides. */
  private receiveOne(note: OriginNote): boolean {
    const key = JSON.stringify([note.upstreamId, note.name]);
    const known = this.failing.get(key);
    if (note.answered) {
      if (known === undefined) return false;
      this.failing.delete(key);
      this.options.logger.info('an origin answers again', {
        upstream: note.upstreamId,
        origin: note.name,
        failures: known.total + note.failed,
      });
      return true;
    }
    const nowMs = this.now();
    const error = failureText(note.failure as OriginFailure['code']);
    if (known !== undefined) {
      const { sinceMs, total, unlogged } = known;
      const sums = { total: total + note.failed, unlogged: unlogged + note.failed };
      this.failing.set(key, { note, sinceMs, lastMs: nowMs, error, ...sums });
      return false;
    }
    if (this.failing.size >= upstreamLimits.originsWatchedMax) return false;
    const { failed } = note;
    const made = { note, sinceMs: nowMs, lastMs: nowMs, error, unlogged: failed, total: failed };
    this.failing.set(key, made);
    if (this.begun() <= upstreamLimits.originsLoggedMax) this.logOne(made);
    return true;
  }

  /** Addresses that began to fail within the last minute. */
  private begun(): number {
    const from = this.now() - upstreamLimits.originLogEveryMs;
    let count = 0;
    for (const { sinceMs } of this.failing.values()) if (sinceMs > from) count++;
    return count;
  }
}

/** What is known of every address: a probe's word, and that of the requests where they fail. */
export function joinHealth(
  probed: readonly AddressHealth[],
  failing: readonly AddressHealth[],
): AddressHealth[] {
  const keyOf = ({ upstreamId, name }: AddressHealth): string => JSON.stringify([upstreamId, name]);
  const failed = new Map(failing.map((one) => [keyOf(one), one]));
  const joined = probed.map((one) => {
    const bad = failed.get(keyOf(one));
    failed.delete(keyOf(one));
    return bad === undefined || one.status === 'unhealthy'
      ? one
      : { ...bad, probedAtMs: one.probedAtMs };
  });
  return [...joined, ...failed.values()];
}
