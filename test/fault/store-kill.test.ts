/**
 * The proof that a killed process loses no acknowledged write and no audit row. A few kills here;
 * `node test/fault/kill-store.mjs --kills 200` for many.
 */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { missingBuild } from '../support/product.ts';
import { draws } from '../support/soak.ts';

const script = join(import.meta.dirname, 'kill-store.mjs');
const kills = { store: draws(10, 40, 'WAF_KILLS'), control: 3 } as const;

if (missingBuild !== null) console.log(missingBuild);

describe.skipIf(missingBuild !== null)('every acknowledged write survives kill -9', () => {
  test.each(['store', 'control'] as const)(
    `of the %s`,
    (what) => {
      const line = [script, '--what', what, '--kills', String(kills[what])];
      const options = { encoding: 'utf8', timeout: 550_000 } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, line, options);
      console.log(`${kills[what]} kills here, 200 by the script: ${stdout.trim()}`);
      expect(stderr).toBe('');
      const report = JSON.parse(stdout) as { acknowledged: number };
      expect(report).toMatchObject({ what, kills: kills[what], lost: 0, problems: [] });
      expect(report.acknowledged).toBeGreaterThan(kills[what]);
      expect(status).toBe(0);
    },
    560_000,
  );
});
