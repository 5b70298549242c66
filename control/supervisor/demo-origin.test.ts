/** Tests that the demo origin answers and keeps its port. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startDemoOrigin } from './demo-origin.ts';

test('it answers on loopback and comes back on the same port', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-demo-'));
  const file = join(folder, 'demo-origin');
  const first = await startDemoOrigin(file);
  const page = await fetch(first.url);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('It works');
  const echo = await fetch(first.url, { method: 'POST', body: '<script>' });
  expect(await echo.json()).toEqual({ received: 8 });
  await first.close();
  const second = await startDemoOrigin(file);
  expect(second.url).toBe(first.url);
  expect(second.url).toContain(readFileSync(file, 'utf8').trim());
  const third = await startDemoOrigin(file);
  expect(third.url).not.toBe(second.url);
  await second.close();
  await third.close();
  rmSync(folder, { recursive: true, force: true });
});
