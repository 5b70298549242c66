/** Which CPUs the proxies get and which the load generator and the origin; pure. */

/** Command words to put in front of a command; empty: no pinning. */
export interface CpuSplit {
  readonly proxy: readonly string[];
  readonly load: readonly string[];
}

/**
 * Gives the proxies as many CPUs as they have workers, the rest to the load, so that neither takes
 * time from the other and threads beside the workers cannot use more than the workers may.
 * Nothing is pinned when no CPU would be left for the load.
 */
export function splitCpus(pin: boolean, workers: number, cpus: number): CpuSplit {
  if (!pin || workers >= cpus) return { proxy: [], load: [] };
  return {
    proxy: ['taskset', '-c', range(0, workers - 1)],
    load: ['taskset', '-c', range(workers, cpus - 1)],
  };
}

function range(first: number, last: number): string {
  return first === last ? String(first) : `${first}-${last}`;
}
