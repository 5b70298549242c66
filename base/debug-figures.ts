/**
 * What a thread and its process say of themselves to people who look for a fault: loop, heap,
 * threads of the kernel, a CPU profile. Read when asked; nothing is kept and nothing is changed.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { AppError } from './errors.ts';
import { residentBytes } from './resident-bytes.ts';

/** Bounds of what is asked. */
export const debugLimits = {
  /** Of a measurement or a profile; a profile of 30 s has some MB. */
  secondsMax: 30,
  /** Sampling interval of profiles, microseconds: V8's own. */
  profileIntervalUs: 1000,
  /** An answer of the engine: a long profile of a busy thread. */
  answerBytesMax: 64 * 1024 * 1024,
  /** Files of a folder that are counted. */
  filesMax: 20_000,
  /** Beyond the seconds that were asked for, ms. */
  answerWaitMs: 10_000,
} as const;

/** What one thread answers about itself. */
export interface ThreadQuestion {
  readonly about: 'event-loop' | 'memory' | 'profile';
  /** Of a measurement; ignored for memory. */
  readonly seconds: number;
}

/** A thread of the kernel. */
interface KernelThread {
  readonly id: number;
  readonly name: string;
  /** As the kernel writes it: R runs, S sleeps, D waits for a disk. */
  readonly state: string;
  readonly userMs: number;
  readonly systemMs: number;
}

/** Answers for the thread that this is called in. Errors: AppError profile_busy. */
export function answerOfThread({ about, seconds }: ThreadQuestion): Promise<unknown> {
  if (about === 'event-loop') return measureLoop(seconds);
  if (about === 'memory') return Promise.resolve(heapFigures());
  return profileThread(seconds);
}

/** How late timers of this thread are, and how much of the time it worked. */
async function measureLoop(seconds: number) {
  const histogram = monitorEventLoopDelay({ resolution: 10 });
  const before = performance.eventLoopUtilization();
  histogram.enable();
  await delay(seconds * 1000);
  histogram.disable();
  const { utilization } = performance.eventLoopUtilization(before);
  const milliseconds = (nanoseconds: number): number => Math.round(nanoseconds / 1e4) / 100;
  // Without a sample the histogram says NaN.
  const found = histogram.count > 0;
  return {
    seconds,
    samples: histogram.count,
    meanMs: found ? milliseconds(histogram.mean) : null,
    p50Ms: found ? milliseconds(histogram.percentile(50)) : null,
    p99Ms: found ? milliseconds(histogram.percentile(99)) : null,
    mostMs: found ? milliseconds(histogram.max) : null,
    utilization: Math.round(utilization * 10_000) / 10_000,
  };
}

/** The V8 heap of this thread, bytes. */
function heapFigures() {
  const heap = getHeapStatistics();
  return {
    heapUsedBytes: heap.used_heap_size,
    heapTotalBytes: heap.total_heap_size,
    heapLimitBytes: heap.heap_size_limit,
    mallocedBytes: heap.malloced_memory,
    externalBytes: heap.external_memory,
    nativeContexts: heap.number_of_native_contexts,
    detachedContexts: heap.number_of_detached_contexts,
  };
}

/** Memory of the whole process, bytes: all threads and native libraries. */
export function processMemory() {
  const { external_memory: externalBytes } = getHeapStatistics();
  const resident = residentBytes();
  // Without the kernel's word Node answers neither.
  const arrayBufferBytes = resident === 0 ? null : process.memoryUsage().arrayBuffers;
  return { residentBytes: resident, externalBytes, arrayBufferBytes };
}

/** Threads of this process as the kernel lists them; null where the system has no such list. */
export function kernelThreads(): readonly KernelThread[] | null {
  const folder = '/proc/self/task';
  if (process.platform !== 'linux' || !existsSync(folder)) return null;
  return readdirSync(folder).flatMap((id) => {
    try {
      return [readThread(Number(id), readFileSync(join(folder, id, 'stat'), 'utf8'))];
    } catch {
      // It ended after it was listed: it is no thread of this process any more.
      return [];
    }
  });
}

/** proc(5): the name stands in the last pair of parentheses; ticks are 10 ms on Linux. */
function readThread(id: number, text: string): KernelThread {
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  const ticks = (at: number): number => Number(fields[at]) * 10;
  const name = text.slice(text.indexOf('(') + 1, end);
  return { id, name, state: fields[0] ?? '', userMs: ticks(11), systemMs: ticks(12) };
}

/** Files below a folder and their bytes; `complete` is false past the bound. */
export async function folderFigures(folder: string) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  let bytes = 0;
  for (const file of files.slice(0, debugLimits.filesMax)) {
    try {
      bytes += (await stat(join(file.parentPath, file.name))).size;
    } catch (error) {
      // Removed after it was listed.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return { files: files.length, bytes, complete: files.length <= debugLimits.filesMax };
}

let profiling = false;

/** A CPU profile in the format of .cpuprofile. Errors: AppError profile_busy. */
async function profileThread(seconds: number): Promise<unknown> {
  if (profiling) {
    const message = 'another profile is being taken; try again when it is done';
    throw new AppError('profile_busy', message, { source: 'client', retryable: true });
  }
  profiling = true;
  const session = new Session();
  try {
    session.connect();
    await session.post('Profiler.enable');
    const interval = debugLimits.profileIntervalUs;
    await session.post('Profiler.setSamplingInterval', { interval });
    await session.post('Profiler.start');
    await delay(seconds * 1000);
    return (await session.post('Profiler.stop')).profile;
  } finally {
    session.disconnect();
    profiling = false;
  }
}
