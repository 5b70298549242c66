/** Tests that a damaged store of events stops nothing and loses nothing that could be rescued. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../base/log.ts';
import { openLogs } from './open-logs.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waf-logs-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a damaged file is set aside, said, and a new one begun', async () => {
  const junk = 'no store '.repeat(4000);
  writeFileSync(join(folder, 'data.mdb'), junk);
  const said: string[] = [];
  const logger = { ...silentLogger, error: (message: string) => void said.push(message) };
  const logs = openLogs(folder, logger);
  await logs.close();
  expect(said).toEqual([expect.stringContaining('begins anew')]);
  expect(readFileSync(join(folder, 'damaged.mdb'), 'utf8')).toBe(junk);
  await openLogs(folder, logger).close();
  expect(said).toHaveLength(1);
});
