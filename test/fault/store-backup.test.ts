/** Tests that a backup taken beside a process that writes is one moment of its store. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { missingBuild, root, runWaf } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

let writer: ChildProcess | undefined;
afterEach(() => void writer?.kill('SIGKILL'));

describe.skipIf(missingBuild !== null)('waf admin backup', () => {
  test('under load: every backup holds what was acknowledged before it, and verifies', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'waf-load-'));
    const data = path.join(folder, 'data');
    const build = pathToFileURL(path.join(root, '.build') + path.sep).href;
    const script = path.join(import.meta.dirname, 'store-writer.mjs');
    const line = [script, path.join(data, 'control'), build];
    writer = spawn(process.execPath, line, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    writer.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const acknowledged = (): number => Number(text.split('\n').at(-2) ?? 0);
    while (acknowledged() < 50) await once(writer.stdout!, 'data');
    for (let at = 0; at < 3; at++) {
      const before = acknowledged();
      const file = path.join(folder, `${at}.wafbackup`);
      const target = path.join(folder, `restored-${at}`);
      expect(runWaf(['admin', 'backup', file, '--data', data])).toMatchObject({ code: 0 });
      expect(runWaf(['admin', 'restore', file, '--data', target])).toMatchObject({ code: 0 });
      const { code, stdout } = runWaf(['admin', 'verify', '--data', target, '--output', 'json']);
      expect(code).toBe(0);
      const found = JSON.parse(stdout) as { collections: Record<string, number> };
      expect(found.collections['publications']).toBeGreaterThanOrEqual(before);
      // Let the lines arrive that were written while the commands ran.
      await once(writer.stdout!, 'data');
      expect(acknowledged()).toBeGreaterThan(before);
    }
  });
});
