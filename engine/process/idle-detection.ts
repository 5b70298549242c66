/** Detects that a thread is idle after much work. Never keeps the process alive. */

/** When a thread counts as idle, and how much work must precede. */
export interface IdleOptions {
  /** Time worked since some moment, in milliseconds; it only grows. */
  readonly workedMs: () => number;
  readonly everyMs: number;
  /** An interval is idle when the thread works for less than this share of it. */
  readonly idleShare: number;
  /** No call after less work than this since the last one. */
  readonly worthMs: number;
}

/** Calls `rest` in the first idle interval after enough work. */
export function onIdle(options: IdleOptions, rest: () => void): void {
  const { workedMs, everyMs, idleShare, worthMs } = options;
  let seen = workedMs();
  let answered = seen;
  setInterval(() => {
    const now = workedMs();
    const idle = now - seen < everyMs * idleShare;
    seen = now;
    if (!idle || now - answered < worthMs) return;
    answered = now;
    rest();
  }, everyMs).unref();
}
