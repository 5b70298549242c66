/** V8's flags of both programs: how much memory their heaps take, and who collects them. */

/**
 * Garbage of a request is small and short-lived, so that the young generation stays small: each
 * thread has one. The old generation grows by a fifth between collections, not to three times the
 * live bytes. For control 2 MB is measured: with V8's `--optimize-for-size` it uses 197 MB with
 * 1,000 sites instead of 288, but the slowest of 100 reads then takes 26 ms instead of 13.
 *
 * A thread of the engine collects its heap alone. With helpers it waits for each of them that began
 * and lost its CPU: on a busy machine a collection of 1 ms stopped a thread that serves for 75 ms.
 *
 * The engine's heaps are not reduced in pauses of traffic: that frees the hidden classes of objects
 * of which none is alive, and the code of a request that was compiled for them. 9 seconds without
 * a request made the next 1,000 cost 600 us each instead of 120; it saves 8 MB.
 */
export const memoryFlags: Readonly<Record<'control' | 'engine', readonly string[]>> = {
  control: ['--max-semi-space-size=2'],
  engine: [
    '--max-semi-space-size=4',
    '--heap-growing-percent=20',
    '--single-threaded-gc',
    '--no-memory-reducer',
  ],
};
