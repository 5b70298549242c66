/**
 * Waits for what must come true however slow the machine is. Its patience only gives a hang a name;
 * how long something took is never asserted.
 */

/** Below the time that a test has, so that what did not come is what the report says. */
const patienceMs = 120_000;
const lookAgainMs = 10;

/** Asks again and again until the answer is neither null nor false. Rejects when patience ends. */
export async function eventually<T>(
  ask: () => T | null | false | Promise<T | null | false>,
  waitMs = patienceMs,
): Promise<T> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const found = await ask();
    if (found !== null && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`it never came true in ${waitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}
