/** Tests commands whose output nobody reads, or cannot be written: no stack, the right code. */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { missingBuild, root } from '../support/product.ts';

const command = path.join(root, '.build', 'control', 'cli', 'main.js');

function shell(line: string): { status: number | null; stdout: string; stderr: string } {
  return spawnSync('sh', ['-c', line, process.execPath, command], { encoding: 'utf8' });
}

describe.skipIf(missingBuild !== null)('output of commands', () => {
  test('a reader that goes away ends a command quietly', () => {
    const script = '{ "$0" "$1" completion bash; echo "code $?" >&2; } | true';
    const { stderr } = shell(script);
    expect(stderr).toBe('code 0\n');
  });

  test.skipIf(!existsSync('/dev/full'))('a full disk is a sentence', () => {
    const { status, stderr } = shell('"$0" "$1" version > /dev/full');
    expect(status).toBe(1);
    expect(stderr).toBe('waf: the output cannot be written (ENOSPC)\n');
  });

  test('a place that cannot be written is named with its flag', () => {
    const folder = path.join(root, 'no-such-folder', 'x');
    const { status, stderr } = shell(`"$0" "$1" bundle build -f /dev/null -o ${folder}`);
    expect(status).toBe(1);
    expect(stderr).toContain(`--out: ${folder} cannot be written (ENOENT)`);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
