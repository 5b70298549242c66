/** Bounds of a process that tries rules: its CPU time, its memory, and the time it may wait. */

import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { patternTrialLimits } from '../../base/rule-limits.ts';

/** Bounds that tests set. */
export interface TrialBounds {
  /** CPU time for building one of what is tried. */
  readonly patternCpuMs: number;
  readonly residentBytesMax: number;
}

/** Bytes of a page in /proc/PID/statm; all platforms that the product runs on have these. */
const pageBytes = 4096;

/**
 * Ends the process when one of what it tries, or `all` of it, takes too much. What counts is its
 * own CPU time: how fast a pattern is built does not depend on what else the machine does.
 */
export function stopper(
  child: ChildProcess,
  { patternCpuMs, residentBytesMax }: TrialBounds,
  all: string,
  onStop: (reason: string) => void,
) {
  const { trialCpuMs, trialMs, pollMs } = patternTrialLimits;
  let begunCpuMs = 0;
  const kill = (reason: string): void => {
    onStop(reason);
    child.kill('SIGKILL');
  };
  const look = (): void => {
    const cpuMs = cpuMsOf(child.pid);
    if (residentBytes(child.pid) > residentBytesMax) {
      kill(`needs more than ${Math.round(residentBytesMax / 1048576)} MB to be built`);
    } else if (cpuMs - begunCpuMs > patternCpuMs) {
      kill(`is not built after ${patternCpuMs / 1000} seconds of CPU time`);
    } else if (cpuMs > trialCpuMs) {
      kill(`came too late: all ${all} together have ${trialCpuMs / 1000} seconds of CPU time`);
    }
  };
  // After the messages that came while this thread was busy: they say which pattern it is.
  const poll = setInterval(() => setImmediate(look), pollMs);
  const last = setTimeout(
    () => kill(`came too late: all ${all} together have ${trialMs / 60_000} minutes`),
    trialMs,
  );
  return {
    /** The process takes on another pattern. */
    next: (): void => {
      begunCpuMs = cpuMsOf(child.pid);
    },
    end: (): void => {
      clearInterval(poll);
      clearTimeout(last);
    },
  };
}

/** CPU time of the main thread of a process; zero where the system does not say it. */
function cpuMsOf(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  } catch {
    return 0;
  }
}

/** Zero where the system does not say it, or the process has ended. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * pageBytes;
  } catch {
    return 0;
  }
}
