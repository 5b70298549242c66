/**
 * The folder for temporary files of one run. It is removed with everything that tests leave in it.
 * Tests create their files below `os.tmpdir()`, which is this folder.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Begins a run; returns what ends it. Called by vitest before the first test file. */
export function setup(): () => void {
  // Short: paths of Unix sockets end at 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'waf-'));
  process.env['TMPDIR'] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
