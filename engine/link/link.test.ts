/** Owns the proof of the link: what is spooled, repeated, given up, and how it comes back. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../test/support/eventually.ts';
import { startFakeController } from '../../test/support/fake-controller.ts';
import { silentLogger } from '../base/log.ts';
import { BundleKeeper } from '../bundle/bundle-keeper.ts';
import { FrontCounters } from '../front/counters.ts';
import { createControllerLink } from './controller-link.ts';

function linkTo(socketPath: string) {
  const link = createControllerLink({
    socketPath,
    agentId: 'local',
    version: 'test',
    bundles: new BundleKeeper(join(socketPath, '..', 'bundle')),
    configHash: () => '',
    rollOut: () => Promise.resolve(),
    logger: silentLogger,
  });
  link.connect();
  return link;
}

test('facts survive a controller that goes away, and arrive once it is back', async () => {
  const socketPath = join(mkdtempSync(join(tmpdir(), 'waf-link-')), 's');
  const first = await startFakeController(socketPath, false);
  const link = linkTo(socketPath);
  await eventually(() => link.stats().connected);
  link.observe(refused('one'));
  await eventually(() => first.requestIds().includes('one'));
  expect(link.stats().held).toBe(1);
  await first.end();
  await eventually(() => !link.stats().connected);
  link.observe(refused('two'));
  const second = await startFakeController(socketPath, true);
  await eventually(() => link.stats().held === 0);
  expect(second.requestIds()).toEqual(['one', 'two']);
  await link.close();
  await second.end();
});

test('counts of several threads arrive as one batch, exactly once', async () => {
  const socketPath = join(mkdtempSync(join(tmpdir(), 'waf-link-')), 's');
  const server = await startFakeController(socketPath, true);
  const link = linkTo(socketPath);
  await eventually(() => link.stats().connected);
  for (const bytesIn of [3, 4]) {
    const counters = new FrontCounters();
    counters.add({ ...refused('x'), siteId: 's', bytesIn }, 'p');
    link.count(counters.take());
  }
  await link.close();
  expect(server.counts()).toHaveLength(1);
  const [delta] = server.counts()[0]!.deltas;
  expect(delta).toMatchObject({ siteId: 's', policyId: 'p', requests: 2n, bytesIn: 7n });
  const entries = delta!.entries.map(({ family, key, count }) => [family, key, Number(count)]);
  expect(entries).toEqual([
    ['outcome', 'refused', 2],
    ['status', '400', 2],
    ['refusal', 'bad_head', 2],
  ]);
  await server.end();
});

function refused(requestId: string) {
  return {
    requestId,
    siteId: '',
    receivedAtMs: 1,
    durationUs: 1,
    originUs: -1,
    clientIp: '127.0.0.1',
    clientPort: 1,
    method: 'GET',
    host: 'h',
    target: '/',
    httpVersion: 'HTTP/1.1',
    userAgent: '',
    status: 400,
    outcome: 'refused' as const,
    blocked: false,
    refusal: 'bad_head',
    bytesIn: 0,
    bytesOut: 0,
    endpoint: null,
    transaction: null,
  };
}
