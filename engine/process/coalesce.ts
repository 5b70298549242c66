/** Owns putting work off that would be in the way now. Never keeps the process alive. */

/**
 * A function that has `work` done once, `delayMs` after its first call; calls until then are
 * answered by the same run.
 */
export function later(work: () => void, delayMs: number): () => void {
  let waiting: NodeJS.Timeout | null = null;
  return () => {
    waiting ??= setTimeout(() => {
      waiting = null;
      work();
    }, delayMs).unref();
  };
}
