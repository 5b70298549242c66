/** Tests of the stores on a disk that is full: a small file system where one can be mounted. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { missingBuild } from '../support/product.ts';

const script = path.join(import.meta.dirname, 'full-disk.mjs');
const kilobytes = 1024;

let folder: string;
let mounted: boolean;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'waf-full-'));
  const size = `size=${kilobytes}k`;
  mounted = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', folder]).status === 0;
  if (!mounted) console.log('no right to mount: a limit of the file size stands in');
});
afterEach(() => {
  if (mounted) spawnSync('/bin/umount', [folder]);
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the script where little can be written; its report and how it ended. */
function fill(what: 'collections' | 'store'): { status: number | null; report: unknown } {
  const line = 'ulimit -f "$1"; shift; exec "$@"';
  const command = [process.execPath, script, what, path.join(folder, 'data')];
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['-c', line, 'bash', mounted ? 'unlimited' : String(kilobytes), ...command],
    { encoding: 'utf8', timeout: 120_000 },
  );
  if (status !== 0) throw new Error(stderr);
  return { status, report: JSON.parse(stdout) };
}

if (missingBuild !== null) console.log(missingBuild);

describe.skipIf(missingBuild !== null)('a full disk', () => {
  test('persistent collections: the process lives, memory serves, one line is logged', () => {
    const { status, report } = fill('collections');
    expect(status).toBe(0);
    const { count, readable, failed, kept, logged } = report as Record<string, number> & {
      logged: string[];
    };
    expect(readable).toBe(count);
    expect(failed).toBeGreaterThan(0);
    expect(kept).toBe(true);
    expect(logged.filter((line) => line.includes('could not store'))).toHaveLength(1);
  });

  test('control: the write is refused with its reason, what was acknowledged is there', () => {
    const { report } = fill('store');
    const { acknowledged, readable, kept, code } = report as Record<string, number | string>;
    // The stand-in leaves the disk itself empty.
    expect(code).toBe(mounted ? 'store_full' : 'store_failed');
    expect(acknowledged).toBeGreaterThan(0);
    expect(readable).toBe(acknowledged);
    expect(kept).toBe(acknowledged);
  });
});
