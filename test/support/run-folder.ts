/**
 * The folder for temporary files of one run, in memory where there is room: stores sync each change
 * to disk, for which no test has to wait. It is removed with everything that tests leave in it.
 * Tests create their files below `os.tmpdir()`, which is this folder. Products that outlive their
 * test file are noted in it, and ended with the process that started them.
 */

import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const note = /^product-(\d+)$/;
const lookAgainMs = 500;
const endMs = 60_000;
const memoryFolder = '/dev/shm';
/** Far more than a run leaves there at once. */
const memoryBytesMin = 6 * 2 ** 30;

/** Names the process that has begun its run. */
const begunName = 'WAF_TEST_RUN';

/** Begins a run; returns what ends it. Called by vitest, once for each of its projects. */
export function setup(): () => Promise<void> {
  if (process.env[begunName] === String(process.pid)) return () => Promise.resolve();
  process.env[begunName] = String(process.pid);
  // Short: paths of Unix sockets end at 107 bytes.
  const folder = mkdtempSync(join(baseFolder(), 'waf-'));
  process.env['TMPDIR'] = folder;
  const asked = new Set<number>();
  const watch = setInterval(() => endProducts(folder, asked, isAlive), lookAgainMs);
  return async () => {
    clearInterval(watch);
    const deadline = performance.now() + endMs;
    while (endProducts(folder, asked, () => false) > 0) {
      if (performance.now() > deadline) throw new Error(`a product does not end: ${folder}`);
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
}

/** The folder that the environment names; else one in memory, if programs may be started there. */
function baseFolder(): string {
  if (process.env['TMPDIR'] !== undefined || !existsSync(memoryFolder)) return tmpdir();
  const { bavail, bsize } = statfsSync(memoryFolder);
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const [, , kind, options = ''] =
    mounts.find((line) => line.split(' ')[1] === memoryFolder)?.split(' ') ?? [];
  const runs = kind === 'tmpfs' && !options.split(',').includes('noexec');
  return runs && Math.min(bavail * bsize, freemem()) >= memoryBytesMin ? memoryFolder : tmpdir();
}

/** Notes that a product lives as long as this process does. */
export function noteProduct(pid: number): void {
  writeFileSync(join(tmpdir(), `product-${pid}`), String(process.pid));
}

/** Asks noted products whose owner is gone to end, each once; how many of them still run. */
function endProducts(
  folder: string,
  asked: Set<number>,
  keeps: (owner: number) => boolean,
): number {
  let running = 0;
  for (const name of readdirSync(folder)) {
    const pid = Number(note.exec(name)?.[1] ?? 0);
    if (pid === 0) continue;
    const path = join(folder, name);
    if (!isAlive(pid)) {
      rmSync(path, { force: true });
    } else if (!keeps(Number(readFileSync(path, 'utf8')))) {
      running++;
      if (!asked.has(pid)) process.kill(pid, 'SIGTERM');
      asked.add(pid);
    }
  }
  return running;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
