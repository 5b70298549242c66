/** The proof of the link: what is spooled, repeated, given up, and how it comes back. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../test/support/eventually.ts';
import { startFakeController } from '../../test/support/fake-controller.ts';
import { ownCapabilities } from '../../base/protocol-versions.ts';
import { silentLogger } from '../../base/log.ts';
import { BundleKeeper } from '../bundle/bundle-keeper.ts';
import { FrontCounters } from '../front/facts/counters.ts';
import { createControllerLink, type LinkOptions } from './controller-link.ts';

function linkTo(socketPath: string, change: Partial<LinkOptions> = {}) {
  const link = createControllerLink({
    socketPath,
    agentId: 'local',
    version: 'test',
    bundles: new BundleKeeper(join(socketPath, '..', 'bundle')),
    configHash: () => '',
    rollOut: () => Promise.resolve(),
    logger: silentLogger,
    ...change,
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
    link.count(counters.drain());
  }
  // A stop waits for control no longer than a second.
  await eventually(() => server.counts().length > 0);
  await link.close();
  expect(server.counts()).toHaveLength(1);
  const [delta] = server.counts()[0]!.deltas;
  expect(delta).toMatchObject({ siteId: 's', policyId: 'p', requests: 2n, bytesIn: 7n });
  const entries = delta!.entries.map(({ family, key, count }) => [family, key, Number(count)]);
  expect(entries).toEqual([
    ['outcome', 'refused', 2],
    ['status', '400', 2],
    ['refusal', 'bad_head', 2],
    ['alert', 'b -1 protocol ', 2],
  ]);
  await server.end();
});

test('a health report names the generation that its addresses are of', async () => {
  const socketPath = join(mkdtempSync(join(tmpdir(), 'waf-link-')), 's');
  const server = await startFakeController(socketPath, true);
  const address = { upstreamId: 'u', url: 'http://a:1', name: 'a:1', status: 'unhealthy' } as const;
  const link = linkTo(socketPath, {
    configHash: () => 'of-another-generation',
    health: () => ({
      revision: '7',
      sha256: 'seven',
      addresses: [{ ...address, probedAtMs: 1, changedAtMs: 1, error: 'it refuses' }],
    }),
  });
  await eventually(() => server.pushes.length > 0);
  const [push] = server.pushes;
  expect(push?.upstreamHealthConfigGeneration).toBe(7n);
  expect(push?.upstreamHealthArtifactSha256).toBe('seven');
  const [state] = push!.upstreamHealth;
  expect(state).toMatchObject({ configGeneration: 7n, artifactSha256: 'seven' });
  expect(state).toMatchObject({ status: 'unhealthy', lastError: 'it refuses' });
  await link.close();
  await server.end();
});

test('a controller of another version is not spoken to', async () => {
  const wrong = [
    { metricPayloadVersion: 8 },
    { capabilities: undefined },
    { capabilities: { ...ownCapabilities, artifactFormat: 'waf.runtime.v2' } },
  ];
  for (const change of wrong) {
    const socketPath = join(mkdtempSync(join(tmpdir(), 'waf-link-')), 's');
    const server = await startFakeController(socketPath, true, change);
    const lines: string[] = [];
    const error = (_message: string, facts?: object): void => {
      lines.push(JSON.stringify(facts));
    };
    const link = linkTo(socketPath, { logger: { ...silentLogger, error } });
    link.observe(refused('waits'));
    await eventually(() => lines.length > 0);
    expect(lines[0]).toMatch(/another version \((?:capabilities\.\w+|metricPayloadVersion): must/);
    expect(link.stats()).toMatchObject({ connected: false, held: 1 });
    expect(server.requestIds()).toEqual([]);
    await link.close();
    await server.end();
  }
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
