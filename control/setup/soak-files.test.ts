/** Tests that a soak runs all that draws more in it, and how it is asked to. */

import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { draws } from '../../test/support/soak.ts';
import { inRoot, listFiles, root } from './paths.mjs';
import { soakFiles } from './soak-files.mjs';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

test('every test file that draws more in a soak is listed', () => {
  const files = ['base', 'engine', 'control', 'native-bindings', 'test']
    .flatMap((room) => listFiles(inRoot(room), (name: string) => name.endsWith('.test.ts')))
    .filter((file: string) => /\/soak\.ts'/.test(readFileSync(file, 'utf8')))
    .map((file: string) => relative(root, file))
    .filter((file: string) => file !== 'control/setup/soak-files.test.ts');
  expect(files.length).toBeGreaterThan(15);
  expect(soakFiles).toHaveLength(files.length);
  expect(new Set(soakFiles)).toEqual(new Set(files));
});

test('a count is small, large in a soak, and what its variable says', async () => {
  vi.stubEnv('WAF_OWN_COUNT', '7');
  expect(draws(1, 100, 'WAF_OWN_COUNT')).toBe(7);
  for (const [soak, count] of [
    ['0', 1],
    ['1', 100],
  ] as const) {
    vi.stubEnv('WAF_SOAK', soak);
    vi.resetModules();
    const fresh = await import('../../test/support/soak.ts');
    expect(fresh.draws(1, 100, 'WAF_NO_COUNT')).toBe(count);
  }
});
