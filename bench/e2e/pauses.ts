/** Reads what the probe noted in a proxy's threads, and says it in a line. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names the folder in which threads note their pauses. */
export const probeFolderVariable = 'WAF_BENCH_PAUSES';
/** Shorter pauses are work: a turn of the event loop answers many requests. */
export const pauseMsMin = 2;
/** Pauses that one thread notes; ten minutes of load hold fewer. */
export const pausesMax = 20_000;

/** One time in which an event loop stood still. */
export interface Pause {
  /** Its end, by the system's clock. */
  readonly atMs: number;
  readonly ms: number;
}

/** All threads' pauses from `sinceMs` on; null where nothing was noted. */
export function readPauses(folder: string, sinceMs: number): Pause[] | null {
  if (!existsSync(folder)) return null;
  return readdirSync(folder)
    .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Pause[])
    .filter(({ atMs }) => atMs >= sinceMs);
}

/** `longest 4.2 ms; 0 above 5 ms, 0 above 10 ms`. */
export function describePauses(pauses: readonly Pause[]): string {
  const longest = pauses.reduce((most, { ms }) => Math.max(most, ms), 0);
  const above = (bound: number): string => {
    return `${pauses.filter(({ ms }) => ms > bound).length} above ${bound} ms`;
  };
  const most = longest === 0 ? `none of ${pauseMsMin} ms` : `longest ${longest.toFixed(1)} ms`;
  return `${most}; ${above(5)}, ${above(10)}`;
}
