/** Delays work and merges the calls for it. Never keeps the process alive. */

/**
 * A function that runs `work` once, `delayMs` after its first call; calls until then share that
 * run.
 */
export function coalesce(work: () => void, delayMs: number): () => void {
  let waiting: NodeJS.Timeout | null = null;
  return () => {
    waiting ??= setTimeout(() => {
      waiting = null;
      work();
    }, delayMs).unref();
  };
}
