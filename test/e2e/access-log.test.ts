/** The access log of the whole product: every request a line, also over a rotation. */

import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createConnection } from 'node:net';
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
    // Each front thread hands its own over: their order may differ.
    const lines = await linesOf(file, 2);
    const [served = ''] = lines.filter((line) => line.includes('/hello'));
    const [blocked = ''] = lines.filter((line) => !line.includes('/hello'));
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

  test('the same requests are access events, and a refusal is an error event', async () => {
    interface Items {
      readonly items?: { readonly path?: string; readonly status?: number; message?: string }[];
    }
    const eventsOf = (...words: string[]): Promise<Items> =>
      eventually(() => {
        const { code, stdout } = product.waf('log', ...words, '--output', 'json');
        const found = code === 0 ? (JSON.parse(stdout) as Items) : null;
        return (found?.items ?? []).length > 0 ? found : null;
      });
    const served = await eventsOf('access', '--path', '/hello', '--client', '127.0.0.0/8');
    expect(served.items?.[0]).toMatchObject({
      path: '/hello',
      status: 200,
      httpVersion: 'HTTP/1.1',
      transportVersion: 'PLAINTEXT',
      userAgent: 'a "quoted" agent',
      raw: { target: '/hello?password=********', referer: 'http://before.example/' },
    });
    const blocked = await eventsOf('access', '--status', '403');
    expect(blocked.items?.[0]).toMatchObject({ raw: { outcome: 'blocked', blocked: true } });
    const refused = createConnection(product.proxyPort, '127.0.0.1');
    refused.resume().end('GET / HTTP/1.1\nHost: a\n\n');
    await once(refused, 'close');
    const errors = await eventsOf('errors', '--level', 'warn', '--part', 'http');
    expect(errors.items?.[0]).toMatchObject({
      logger: 'http',
      message: expect.stringContaining('bare_lf') as string,
      raw: { status: 400 },
    });
  });
});
