/**
 * Waits for what must come true however slow the machine is. Its patience only gives a hang a name;
 * how long something took is never asserted.
 */

/** Below the time that a test has, so that what did not come is what the report says. */
export const patienceMs = 120_000;
/**
 * Looks come soon at first and then ever more seldom: what is waited for needs the processor, and a
 * look may be a command line. What comes after a second is seen at most an eighth of one later.
 */
const firstLookMs = 5;
const lastLookMs = 120;
const growth = 1.2;

/** Asks again and again until the answer is neither null nor false. Rejects when patience ends. */
export async function eventually<T>(
  ask: () => T | null | false | Promise<T | null | false>,
  waitMs = patienceMs,
): Promise<T> {
  const deadline = performance.now() + waitMs;
  for (let lookMs = firstLookMs; ; lookMs = Math.min(lookMs * growth, lastLookMs)) {
    const found = await ask();
    if (found !== null && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`it never came true in ${waitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}
