/** Owns noticing that much was worked and little is left to do. Never keeps the process alive. */

/** When it is quiet, and how much work is worth the answer. */
export interface QuietOptions {
  /** Time worked since some moment, in milliseconds; it only grows. */
  readonly workedMs: () => number;
  readonly everyMs: number;
  /** An interval is quiet when less than this part of it was worked. */
  readonly quietShare: number;
  /** Less work than this since the last answer leaves nothing worth it. */
  readonly worthMs: number;
}

/** Calls `rest` in quiet intervals behind work. */
export function whenQuiet(options: QuietOptions, rest: () => void): void {
  const { workedMs, everyMs, quietShare, worthMs } = options;
  let seen = workedMs();
  let answered = seen;
  setInterval(() => {
    const now = workedMs();
    const quiet = now - seen < everyMs * quietShare;
    seen = now;
    if (!quiet || now - answered < worthMs) return;
    answered = now;
    rest();
  }, everyMs).unref();
}
