/** Tests that a backup taken beside a process that writes is one moment of its store. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { publications } from '../../control/store/collections.ts';
import { openLmdbKv } from '../../control/store/lmdb-kv.ts';
import { reading } from '../../control/store/reading.ts';
import { missingBuild, runWaf } from '../support/product.ts';
import { startStoreWriter, type StoreWriter } from '../support/store-writer.ts';

if (missingBuild !== null) console.log(missingBuild);

let writer: StoreWriter | undefined;
afterEach(() => writer?.kill());

/** Starts a process that writes; the data folder of its store. */
async function writeBeside(): Promise<{ data: string; folder: string; writer: StoreWriter }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'waf-load-'));
  const data = path.join(folder, 'data');
  writer = startStoreWriter(data);
  await writer.reached(50);
  return { data, folder, writer };
}

describe.skipIf(missingBuild !== null)('waf admin backup', () => {
  test('under load: every backup holds what was acknowledged before it, and verifies', async () => {
    const { data, folder, writer } = await writeBeside();
    for (let at = 0; at < 3; at++) {
      const before = writer.acknowledged();
      const file = path.join(folder, `${at}.wafbackup`);
      const target = path.join(folder, `restored-${at}`);
      expect(runWaf(['admin', 'backup', file, '--data', data])).toMatchObject({ code: 0 });
      expect(runWaf(['admin', 'restore', file, '--data', target])).toMatchObject({ code: 0 });
      const { code, stdout } = runWaf(['admin', 'verify', '--data', target, '--output', 'json']);
      expect(code).toBe(0);
      const found = JSON.parse(stdout) as { collections: Record<string, number> };
      expect(found.collections['publications']).toBeGreaterThanOrEqual(before);
      await writer.reached(before + 1);
    }
  });
});

describe.skipIf(missingBuild !== null)('a store that another process writes', () => {
  // Without the lock a write is lost once in some thousand openings.
  test('may be opened at any moment: no write is lost or refused, none looks damaged', async () => {
    const { data, writer } = await writeBeside();
    const folder = path.join(data, 'control');
    for (let opened = 0; opened < 600; opened++) {
      await openLmdbKv({ folder, durable: true, readOnly: true }).close();
    }
    await writer.reached(writer.acknowledged() + 1);
    const last = writer.acknowledged();
    const kv = openLmdbKv({ folder, durable: true, readOnly: true });
    const ids = new Set([...reading(kv).walk(publications)].map(({ id }) => Number(id)));
    await kv.close();
    const written = Array.from({ length: last }, (_, at) => at + 1);
    expect(written.filter((number) => !ids.has(number))).toEqual([]);
  });
});
