/** The proof that evidence is acknowledged after its bytes were synced: the system's own calls. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { missingBuild } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

describe.skipIf(missingBuild !== null)('evidence', () => {
  test('is acknowledged after a sync of its store, whatever the size of its body', () => {
    const folder = mkdtempSync(join(tmpdir(), 'waf-sync-'));
    mkdirSync(join(folder, 'crs', 'rules'), { recursive: true });
    const rule = `SecRule ARGS "@contains x" "id:942999,phase:2,deny,ver:'OWASP_CRS/4.9.1'"\n`;
    writeFileSync(join(folder, 'crs', 'rules', 'REQUEST-942.conf'), rule);
    const shim = join(folder, 'shim.so');
    const source = join(import.meta.dirname, 'sync-shim.c');
    const made = spawnSync('cc', ['-shared', '-fPIC', '-o', shim, source, '-ldl'], {
      encoding: 'utf8',
    });
    expect(made.stderr).toBe('');
    const log = join(folder, 'syncs');
    const build = new URL('../../.build/', import.meta.url).href;
    const script = join(import.meta.dirname, 'evidence-sync.mjs');
    const env = { ...process.env, LD_PRELOAD: shim, SYNC_LOG: log, SYNC_PATH: '/evidence/' };
    const options = { encoding: 'utf8', timeout: 120_000, env } as const;
    const run = spawnSync(process.execPath, [script, folder, log, build], options);
    expect(run.stderr).toBe('');
    const counts = JSON.parse(run.stdout) as number[];
    console.log(`syncs of the store before each acknowledgement: ${counts.join(', ')}`);
    expect(counts).toHaveLength(4);
    for (const count of counts) expect(count).toBeGreaterThan(0);
    // A body in pieces: each is on the disk before the answer asks for more.
    expect(counts[3]).toBeGreaterThan(1);
    rmSync(folder, { recursive: true });
  });
});
