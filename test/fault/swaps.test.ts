/**
 * Policy swaps under load: no request fails. WAF_SWAPS=1000 for the record; the growth of memory
 * after the warm-up is printed.
 */

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { missingBuild } from '../support/product.ts';
import { draws } from '../support/soak.ts';

const script = path.join(import.meta.dirname, 'swaps.mjs');
const swaps = draws(20, 200, 'WAF_SWAPS');
/** It ends a process that hangs, on however slow a machine. */
const timeoutMs = 240_000 + swaps * 500;

if (missingBuild !== null) console.log(missingBuild);

describe.skipIf(missingBuild !== null)('policy swaps under load', () => {
  test.each([
    ['inline', '2'],
    ['pool', '1'],
  ])('%s, %s front threads', { timeout: timeoutMs }, (place, threads) => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [script, String(swaps), threads, place],
      { encoding: 'utf8', timeout: timeoutMs },
    );
    expect(stderr).toBe('');
    console.log(`${place}: ${stdout.trim()}`);
    const report = JSON.parse(stdout) as Record<string, number>;
    expect(report).toMatchObject({ swaps, failed: 0, deaths: 0, problems: {} });
    expect(report['requests']).toBeGreaterThanOrEqual(swaps);
    expect(report['blocked']).toBeGreaterThan(0);
  });
});
