/** Runs calls that may take long, because the engine compiles rules, and reports progress. */

import type { CallOptions } from '@connectrpc/connect';
import { commandLineLimits } from '../limits/command-limits.ts';
import type { CommandContext } from './command.ts';

/** Runs a call with a long deadline and notes on standard error while nothing comes back. */
export async function waitFor<T>(
  { output }: CommandContext,
  what: string,
  call: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    output.note(`${what}: ${seconds} s`);
  }, commandLineLimits.callNoticeMs);
  try {
    return await call({ timeoutMs: commandLineLimits.longCallTimeoutMs });
  } finally {
    clearInterval(timer);
  }
}
