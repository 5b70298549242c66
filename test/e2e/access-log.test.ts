/** The access log of the whole product: every request a line, also over a rotation. */

import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

describe.skipIf(missingBuild !== null)('--access-log', () => {
  const folder = mkdtempSync(join(tmpdir(), 'access-log-'));
  const file = join(folder, 'access.log');
  let product: Product;

  beforeAll(async () => {
    product = await startProduct('--access-log', file);
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${product.proxyPort}${path}`, {
      headers: { referer: 'http://before.example/', 'user-agent': 'a "quoted" agent' },
    });
  const linesOf = (path: string, count: number): Promise<string[]> =>
    eventually(() => {
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
      return lines.length >= count ? lines : null;
    });

  test('what is served and what is blocked has a line, escaped', async () => {
    expect((await ask('/hello?password=hunter2')).status).toBe(200);
    expect((await ask('/?id=1%27%20OR%20%271%27=%271')).status).toBe(403);
    const [served = '', blocked = ''] = await linesOf(file, 2);
    expect(served).toMatch(
      /^127\.0\.0\.1 - - \[.*\] "GET \/hello\?password=\*+ HTTP\/1\.1" 200 \d+ /,
    );
    expect(served).toContain('"http://before.example/" "a \\x22quoted\\x22 agent"');
    expect(blocked).toContain('" 403 ');
  });

  test('SIGUSR1 to the supervisor opens the file anew; no line is lost', async () => {
    renameSync(file, `${file}.old`);
    process.kill(product.pid, 'SIGUSR1');
    await eventually(async () => {
      await ask('/after');
      try {
        return readFileSync(file, 'utf8').includes('/after') || null;
      } catch {
        // Not opened yet.
        return null;
      }
    });
    const kept = [...(await linesOf(`${file}.old`, 2)), ...(await linesOf(file, 1))];
    expect(kept.filter((line) => line.includes('/hello')).length).toBe(1);
  });
});
