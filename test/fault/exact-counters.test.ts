/** Counts stay exact while control and the engine are killed and restarted, also under load. */

import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { databaseFolder } from '../support/databases.ts';
import { missingBuild, root } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

const script = join(root, 'test', 'scale', 'exact-counters.mjs');

/** Runs the script with few requests; what it printed. */
function run(requests: number): Promise<{ code: number | null; printed: string }> {
  mkdirSync(databaseFolder, { recursive: true, mode: 0o700 });
  return new Promise((resolve) => {
    // How long counts wait for their thread is not what this asks.
    const counts = ['--requests', String(requests), '--loss-ms', '20000'];
    const line = [script, ...counts, '--databases', databaseFolder];
    const child = spawn(process.execPath, line);
    let printed = '';
    child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
    child.stderr.on('data', (text: Buffer) => (printed += text.toString()));
    child.on('close', (code) => resolve({ code, printed }));
  });
}

test.skipIf(missingBuild !== null)(
  'totals, blocked, refused, per status and per rule equal what the sender counted',
  async () => {
    const { code, printed } = await run(1600);
    expect(code, printed).toBe(0);
    expect(printed.match(/exact at \d+ requests/g)).toHaveLength(5);
    expect(printed).toMatch(/both restarted: exact at 160\d requests/);
    expect(printed).toMatch(/control killed under load: exact at 20\d\d requests/);
    expect(printed).toMatch(
      /engine killed under load: \d+ of 2\d{3} requests, .*gap notices: \d+ requests, \d+ security/,
    );
  },
  300_000,
);
