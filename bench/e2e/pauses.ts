/** Reads what the probe noted in a proxy's threads, and says it in a line. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names the folder in which threads note their pauses. */
export const probeFolderVariable = 'WAF_BENCH_PAUSES';
/** Shorter pauses are work: a turn of the event loop answers many requests. */
export const pauseMsMin = 2;
/** Pauses that one thread notes; ten minutes of load hold fewer. */
export const pausesMax = 20_000;

/** A garbage collection of a thread. */
export interface Collection {
  readonly kind: 'minor' | 'major' | 'incremental' | 'weak callbacks';
  /** When it began, by the thread's clock. */
  readonly fromMs: number;
  readonly ms: number;
}

/** One time in which an event loop stood still. */
export interface Pause {
  /** Its end, by the system's clock. */
  readonly atMs: number;
  readonly ms: number;
  /** CPU time that the thread itself used in it. */
  readonly ranMs: number;
  /** Garbage collections within it. */
  readonly collections: readonly Collection[];
}

/** All threads' pauses from `sinceMs` on; null where nothing was noted. */
export function readPauses(folder: string, sinceMs: number): Pause[] | null {
  if (!existsSync(folder)) return null;
  return readdirSync(folder)
    .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Pause[])
    .filter(({ atMs }) => atMs >= sinceMs);
}

/** What took most of a pause: a kind of collection, other work, or waiting for neither. */
export function causeOf({ ms, ranMs, collections }: Pause): string {
  const collected = collections.reduce((sum, one) => sum + one.ms, 0);
  if (collected < ms / 2) return ranMs < ms / 2 ? 'waiting' : 'work';
  return collections.reduce((most, one) => (one.ms > most.ms ? one : most)).kind;
}

/** `longest 4.2 ms; 0 above 5 ms, 0 above 10 ms`, and the causes of those above 5 ms. */
export function describePauses(pauses: readonly Pause[]): string {
  const longest = pauses.reduce((most, { ms }) => Math.max(most, ms), 0);
  const above = (bound: number): string => {
    return `${pauses.filter(({ ms }) => ms > bound).length} above ${bound} ms`;
  };
  const most = longest === 0 ? `none of ${pauseMsMin} ms` : `longest ${longest.toFixed(1)} ms`;
  const causes = new Map<string, number>();
  for (const pause of pauses.filter(({ ms }) => ms > 5)) {
    const cause = causeOf(pause);
    causes.set(cause, (causes.get(cause) ?? 0) + 1);
  }
  const why = [...causes].map(([cause, count]) => `${count} ${cause}`).join(', ');
  return `${most}; ${above(5)}, ${above(10)}${why === '' ? '' : `; above 5 ms: ${why}`}`;
}
