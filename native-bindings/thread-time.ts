/** The time that the calling thread has worked. Never what other threads did. */
import { addon } from './load-addon.ts';

/**
 * CPU time of the calling thread since it began, microseconds. Cost: a system call, 0.3 us.
 * Source: clock_gettime(2), CLOCK_THREAD_CPUTIME_ID.
 */
export function threadCpuUs(): number {
  return addon.threadCpuUs();
}
