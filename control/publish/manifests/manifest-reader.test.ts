/** Manifests are read in a thread that cannot hold up, exhaust or end the process. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { yamlLimits } from '../../limits/resource-limits.ts';
import { transpileTree } from '../../../test/http/transpile.ts';
import { openManifestReader } from './manifest-reader.ts';

let entry: URL;
let folder = '';
beforeAll(async () => {
  const root = join(import.meta.dirname, '..', '..', '..');
  const compiled = 'control/publish/manifests/manifest-thread.ts';
  ({ url: entry, folder } = await transpileTree(root, compiled));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const site = 'apiVersion: waf.io/v1\nkind: Site\nmetadata: {name: shop}\nspec: {a: [1, "x"]}\n';

test('documents come back as they are read here', async () => {
  const here = await openManifestReader()(site);
  expect(await openManifestReader({ entry })(site)).toEqual(here);
  expect(here).toMatchObject([{ kind: 'Site', name: 'shop', spec: { a: [1, 'x'] } }]);
});

test('what is refused comes back with its place; the next one is read', async () => {
  const read = openManifestReader({ entry });
  await expect(read('host: *.example')).rejects.toMatchObject({
    code: 'manifest_invalid',
    message: expect.stringMatching(/^manifest:1:7: /) as string,
  });
  await expect(read('kind: [')).rejects.toThrow('is not valid YAML');
  expect(await read(site)).toHaveLength(1);
});

test('500,000 keys are refused without blocking the calling thread', async () => {
  const text = Array.from({ length: 500_000 }, (_one, at) => `k${at}: 1`).join('\n');
  let turns = 0;
  const ticks = setInterval(() => turns++, 1);
  await expect(openManifestReader({ entry })(text)).rejects.toThrow('more than 250000 keys');
  clearInterval(ticks);
  expect(turns).toBeGreaterThan(10);
});

test('a thread that takes too long or too much memory is ended; the next one is read', async () => {
  const text = `a: [${'x, '.repeat(100_000)}]`;
  const slow = openManifestReader({ entry, timeoutMs: 1 });
  await expect(slow(text)).rejects.toThrow('takes too long or too much memory');
  const small = openManifestReader({ entry, memoryMbMax: 24 });
  await expect(small(text)).rejects.toThrow('takes too long or too much memory');
  expect(await small(site)).toHaveLength(1);
});

test('more than a few at once are turned away', async () => {
  const read = openManifestReader({ entry });
  const all = Array.from({ length: yamlLimits.waitingMax + 1 }, () => read(site));
  const settled = await Promise.allSettled(all);
  const refused = settled.filter(({ status }) => status === 'rejected');
  expect(refused).toMatchObject([{ reason: { code: 'resource_exhausted' } }]);
});
