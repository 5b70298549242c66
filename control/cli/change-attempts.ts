/**
 * Changes a resource from what it is now: read, change, write, and all of it again when another
 * operator changed the same in between. What both add is kept.
 */

import { commandLineLimits } from '../limits/command-limits.ts';
import { textFlag, type FlagValues } from './command.ts';
import { badFlag } from './input.ts';

/**
 * Runs `attempt` until nobody came in between; `once` where the command line says which revision it
 * means. `attempt` reads anew each time and sends along what it read from.
 */
export async function againWhenChanged<T>(attempt: () => Promise<T>, once = false): Promise<T> {
  const { Code, ConnectError } = await import('@connectrpc/connect');
  for (let left = commandLineLimits.changeAttemptsMax - 1; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      const aborted = error instanceof ConnectError && error.code === Code.Aborted;
      if (!aborted || left <= 0 || once) throw error;
    }
  }
}

/** Whether the command line says which revision a change is made from. */
export function isRevisionGiven(flags: FlagValues): boolean {
  return textFlag(flags, 'revision') !== undefined;
}

/** That revision. Errors: AppError bad_flag. */
export function givenRevision(flags: FlagValues): bigint | undefined {
  const given = textFlag(flags, 'revision');
  if (given === undefined) return undefined;
  if (!/^[1-9]\d{0,17}$/.test(given)) throw badFlag('--revision wants a whole number from 1 on');
  return BigInt(given);
}

/** Time of the last change, as an update expects it: the epoch where there is nothing yet. */
export function readAt<T>(updatedAt: T | undefined): T | { seconds: bigint; nanos: number } {
  return updatedAt ?? { seconds: 0n, nanos: 0 };
}
