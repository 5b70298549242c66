/** How a window of a rate limit is cut into spans that are counted apart. */

/** Spans that counts of a window are kept in; the eldest of ten is on its way out of it. */
export const rateSpans = 10;

/** Length of a span in milliseconds. */
export function rateSpanMs(windowSeconds: number): number {
  return Math.ceil((windowSeconds * 1000) / (rateSpans - 1));
}
