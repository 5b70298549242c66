/**
 * What a proxy costs: CPU time and memory of a process with all its descendants, read from /proc.
 * Never samples while load runs; two readings make one figure.
 */

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** One reading of a process tree. */
export interface TreeReading {
  readonly processes: number;
  readonly threads: number;
  /** User and system time of all threads, those that ended included, microseconds. */
  readonly cpuUs: number;
  /** Sum of VmRSS, bytes: memory that processes share counts once for each. */
  readonly rssBytes: number;
  /** Sum of proportional set sizes, bytes: shared memory counts once. -1 when not readable. */
  readonly pssBytes: number;
}

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
  readonly threads: number;
}

let ticksPerSecond = 0;

/**
 * Reads a tree. Errors: throws when the root is gone.
 * Units and limits: the kernel reports ticks of 10 ms; four seconds of load make 0.25 %.
 */
export function readTree(root: number): TreeReading {
  ticksPerSecond ||= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  const members = treeOf(root, readAll());
  if (members.length === 0) throw new Error(`process ${root} is gone`);
  let ticks = 0;
  let threads = 0;
  let rssBytes = 0;
  let pssBytes = 0;
  for (const stat of members) {
    ticks += stat.ticks;
    threads += stat.threads;
    rssBytes += kilobytes(stat.pid, 'status', /^VmRSS:\s+(\d+) kB/m);
    const pss = kilobytes(stat.pid, 'smaps_rollup', /^Pss:\s+(\d+) kB/m);
    pssBytes = pss < 0 || pssBytes < 0 ? -1 : pssBytes + pss;
  }
  const cpuUs = (ticks / ticksPerSecond) * 1_000_000;
  return { processes: members.length, threads, cpuUs, rssBytes, pssBytes };
}

/** The process and its descendants among those given. */
export function treeOf<T extends { readonly pid: number; readonly parent: number }>(
  root: number,
  all: readonly T[],
): T[] {
  const children = new Map<number, T[]>();
  for (const one of all) {
    const siblings = children.get(one.parent);
    if (siblings) siblings.push(one);
    else children.set(one.parent, [one]);
  }
  const members = all.filter((one) => one.pid === root);
  for (let i = 0; i < members.length; i++) members.push(...(children.get(members[i]!.pid) ?? []));
  return members;
}

function readAll(): ProcessStat[] {
  const found: ProcessStat[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const text = readProc(name, 'stat');
    const stat = text === null ? null : parseStat(text);
    if (stat) found.push(stat);
  }
  return found;
}

/**
 * Reads one line of /proc/PID/stat.
 * Time of children that were waited for is counted with their parent: what a child did is not lost
 * when it ends between two readings. Source: proc(5).
 */
export function parseStat(text: string): ProcessStat | null {
  // The name is in parentheses and may hold blanks and parentheses itself.
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < 0) return null;
  const rest = text.slice(close + 2).split(' ');
  const field = (number: number): number => Number(rest[number - 3]);
  const ticks = field(14) + field(15) + field(16) + field(17);
  return { pid: Number.parseInt(text, 10), parent: field(4), ticks, threads: field(20) };
}

function kilobytes(pid: number, file: string, pattern: RegExp): number {
  const text = readProc(String(pid), file);
  const found = text === null ? null : pattern.exec(text);
  return found ? Number(found[1]) * 1024 : file === 'status' ? 0 : -1;
}

function readProc(pid: string, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // The process ended between the listing and the reading.
    return null;
  }
}
