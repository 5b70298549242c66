/** Owns the proof that a killed control process loses no acknowledged write and no audit row. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { verifyChain } from '../../control/store/audit-chain.ts';
import { publications } from '../../control/store/collections.ts';
import { openLmdbKv } from '../../control/store/lmdb-kv.ts';
import { openStore } from '../../control/store/store.ts';
import { systemClock } from '../../engine/base/clock.ts';

const script = fileURLToPath(new URL('store-writer.mjs', import.meta.url));
/** WAF_KILLS=200 for the full run. */
const kills = Number(process.env['WAF_KILLS'] ?? '10');

test(`${kills} kills: every acknowledged write is there and the chain holds`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-kill-'));
  let acknowledged = 0;
  for (let at = 0; at < kills; at++) {
    const seen = await writeAndKill(folder, 1 + (at % 40));
    acknowledged = Math.max(acknowledged, seen);
    const store = await openStore(openLmdbKv({ folder, durable: true }), systemClock);
    const found = new Set(store.list(publications).map(({ id }) => Number(id)));
    for (let number = 1; number <= acknowledged; number++) expect(found.has(number)).toBe(true);
    const { breaks, checked } = verifyChain(store.auditRows(), store.auditHead());
    expect(breaks).toEqual([]);
    expect(checked).toBe(found.size);
    await store.close();
  }
  console.log(`${kills} kills, ${acknowledged} acknowledged writes, none lost`);
}, 600_000);

/** Runs the writer until it said `lines` writes, kills it, and returns the highest number read. */
async function writeAndKill(folder: string, lines: number): Promise<number> {
  const child = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (text.split('\n').length > lines) child.kill('SIGKILL');
  });
  await once(child, 'close');
  const numbers = text.split('\n').slice(0, -1).map(Number);
  return numbers.at(-1) ?? 0;
}
