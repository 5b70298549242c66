/** Tests what clients of the API see when the disk is full: a clear refusal; reads still work. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { collections } from '../../control/store/collection-list.ts';
import { openLmdbKv } from '../../control/store/lmdb-kv.ts';
import { verifyStore } from '../../control/store/verify.ts';
import { startTestControl } from '../support/test-control.ts';

const megabyte = 1024 * 1024;

let folder: string;
let mounted: boolean;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'waf-full-api-'));
  mounted =
    spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder]).status === 0;
});
afterEach(() => {
  if (mounted) spawnSync('/bin/umount', [folder]);
  rmSync(folder, { recursive: true, force: true });
});

test('a full disk: writes are refused with their reason, reads still work, later writes too', async (context) => {
  if (!mounted) {
    console.log('skipped: no right to mount a small file system');
    context.skip();
  }
  const data = path.join(folder, 'data');
  const { control, call } = await startTestControl({ dataFolder: data });
  const create = (name: string) =>
    call('UpstreamService/CreateUpstream', {
      upstream: { name, endpoints: [{ url: 'http://127.0.0.1:1' }] },
    });
  expect((await create('before')).status).toBe(200);
  const filler = path.join(folder, 'filler');
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - megabyte / 8)));
  const kept = ['before'];
  let refused: Awaited<ReturnType<typeof create>> | null = null;
  for (let at = 0; at < 500 && refused === null; at++) {
    const answer = await create(`u-${at}`);
    if (answer.status === 200) kept.push(`u-${at}`);
    else refused = answer;
  }
  expect(refused).toMatchObject({
    status: 429,
    body: { code: 'resource_exhausted', message: 'the disk is full: nothing was written' },
  });
  const listed = await call('UpstreamService/ListUpstreams', { page: { pageSize: 200 } });
  expect(listed.status).toBe(200);
  const names = (listed.body['items'] as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(kept.slice(0, 1)));
  expect((listed.body['page'] as { total: string }).total).toBe(String(kept.length));
  expect((await call('AuditService/VerifyChain', {})).body).toMatchObject({ healthy: true });
  // Space again: no restart is needed.
  rmSync(filler);
  expect((await create('after')).status).toBe(200);
  await control.close();
  const kv = openLmdbKv({ folder: path.join(data, 'control'), durable: true, readOnly: true });
  expect(verifyStore(kv, collections)).toMatchObject({ problems: [], notes: [] });
  await kv.close();
});
