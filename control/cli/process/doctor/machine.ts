/** The checks of the machine: memory, descriptors, disk. */

import { existsSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { doctorLimits } from '../../../limits/command-limits.ts';
import {
  error,
  note,
  ok,
  sizeText,
  warning,
  type Check,
  type Finding,
  type Patient,
} from './finding.ts';

/** The disk of the data folder has room. */
export const diskCheck: Check = {
  name: 'disk',
  look: ({ context: { options } }) => {
    let folder = options.data;
    while (!existsSync(folder)) folder = dirname(folder);
    const { bavail, bsize, blocks, ffree, files } = statfsSync(folder);
    return judgeDisk({
      freeBytes: bavail * bsize,
      totalBytes: blocks * bsize,
      // File systems without a table of inodes count none.
      freeInodes: files === 0 ? Number.POSITIVE_INFINITY : ffree,
    });
  },
};

/** What the room on a disk means. */
export function judgeDisk(disk: {
  readonly freeBytes: number;
  readonly totalBytes: number;
  readonly freeInodes: number;
}): Finding[] {
  const text = `${sizeText(disk.freeBytes)} of ${sizeText(disk.totalBytes)} free`;
  const action = 'make room on the disk of the data folder, or move it with --data';
  if (disk.freeBytes < doctorLimits.diskErrorBytes) return [error('disk', text, action)];
  if (disk.freeInodes < doctorLimits.inodesWarning) {
    return [warning('disk', `only ${disk.freeInodes} inodes are free`, action)];
  }
  if (disk.freeBytes < doctorLimits.diskWarningBytes) return [warning('disk', text, action)];
  return [ok('disk', text)];
}

/** There is memory for both programs, in the machine and in the group of processes. */
export const memoryCheck: Check = {
  name: 'memory',
  look: () => judgeMemory(totalmem(), freemem(), readGroupLimit()),
};

/** What an amount of memory means; `groupBytes` is null without a limit of the group. */
export function judgeMemory(
  totalBytes: number,
  freeBytes: number,
  groupBytes: number | null,
): Finding[] {
  const limit = Math.min(totalBytes, groupBytes ?? totalBytes);
  const where = limit < totalBytes ? 'the limit of the group' : 'of the machine';
  const text = `${sizeText(limit)}, ${where}; ${sizeText(freeBytes)} free`;
  const action = 'give more memory, or fewer --workers';
  if (limit < doctorLimits.memoryErrorBytes) return [error('memory', text, action)];
  if (limit < doctorLimits.memoryWarningBytes) return [warning('memory', text, action)];
  return [ok('memory', text)];
}

/** Limit that a container sets; null for none. Both versions of control groups. */
function readGroupLimit(): number | null {
  for (const path of ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']) {
    const value = Number(readText(path)?.trim());
    if (Number.isFinite(value) && value > 0) return value;
  }
  return null;
}

/** Descriptors: how many a process may have, and how many those that run have. */
export const descriptorsCheck: Check = {
  name: 'file descriptors',
  look: ({ supervisorPid }: Patient) => {
    const check = 'file descriptors';
    const running = supervisorPid > 0 ? [supervisorPid, ...childrenOf(supervisorPid)] : [];
    const limit = softLimit(running[0] === undefined ? 'self' : String(running[0]));
    if (limit === null) return [note(check, 'their limit is not known on this system')];
    return [judgeDescriptors(limit), ...running.flatMap((pid) => judgeUse(pid))];
  },
};

/** What a limit of descriptors means. */
export function judgeDescriptors(limit: number): Finding {
  const check = 'file descriptors';
  const text = `a process may have ${limit}`;
  const action = 'raise the limit: ulimit -n 65536, or LimitNOFILE= of the service';
  if (limit < doctorLimits.descriptorsError) return error(check, text, action);
  return limit < doctorLimits.descriptorsWarning ? warning(check, text, action) : ok(check, text);
}

function judgeUse(pid: number): Finding[] {
  const limit = softLimit(String(pid));
  const used = countOpen(pid);
  if (limit === null || used < limit * doctorLimits.descriptorsUsedShare) return [];
  const text = `process ${pid} has ${used} of ${limit} open`;
  return [error('file descriptors', text, 'raise the limit (ulimit -n) and restart')];
}

function countOpen(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

function softLimit(pid: string): number | null {
  const found = /^Max open files\s+(\d+|unlimited)/m.exec(readText(`/proc/${pid}/limits`) ?? '');
  if (found === null) return null;
  return found[1] === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(found[1]);
}

function childrenOf(pid: number): number[] {
  const text = readText(`/proc/${pid}/task/${pid}/children`) ?? '';
  return text
    .split(' ')
    .map(Number)
    .filter((child) => child > 0);
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
