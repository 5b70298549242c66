/** Proves that a run continues where it was when control starts again, with a clock of the test. */

import { expect, test, vi } from 'vitest';
import type { Clock } from '../../../base/clock.ts';
import { silentLogger } from '../../../base/log.ts';
import { placeInWaves, type UpgradeRunRecord } from '../../domain/release/upgrade-run.ts';
import { upgradeLimits } from '../../limits/upgrade-limits.ts';
import { agents, binaryReleases, upgradeRuns } from '../../store/collections.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore, type Store } from '../../store/store.ts';
import { NodeRegistry } from './node-registry.ts';
import { UpgradeRunner } from './upgrade-runner.ts';

const note = {
  actorId: 'u',
  actorName: 'u',
  tenantId: 't',
  action: 'apply',
  resourceType: 'upgrade_run',
  resourceId: 'run-1',
};
const run: UpgradeRunRecord = {
  id: 'run-1',
  tenantId: 't',
  release: { id: 'r', version: '2.0.0', sha256: 'a', sizeBytes: '1', signature: 's' },
  targetVersion: '2.0.0',
  state: 'pending',
  wave: 0,
  waveStartedAt: '',
  nodes: placeInWaves([
    { agentId: 'n1', versionBefore: '1' },
    { agentId: 'n2', versionBefore: '1' },
  ]),
  events: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  startedAt: '',
  finishedAt: '',
};

const result = { $typeName: 'waf.v1.AgentCommandResult', commandId: 'run-1' } as const;

const release = {
  id: 'r',
  version: '2.0.0',
  channel: 'stable',
  platform: 'linux',
  arch: 'x64',
  sha256: 'a',
  sizeBytes: '1',
  signature: 's',
  keyId: 'k',
  importedAt: '',
  createdAt: '',
  updatedAt: '',
} as const;

test('a run whose start was not kept begins later; one of a release that is gone never', async () => {
  const clock = { nowMs: () => Date.parse('2026-01-01T00:00:00Z'), monotonicUs: () => 0 };
  const store = await openStore(openMemoryKv(), clock);
  const runner = new UpgradeRunner(store, new NodeRegistry(clock), clock, silentLogger);
  await expect(runner.start(run, note)).rejects.toThrow('release r was deleted meanwhile');
  expect(store.list(upgradeRuns)).toEqual([]);

  await store.write((tx) => tx.put(binaryReleases, release));
  const write = store.write.bind(store);
  const writes = vi.spyOn(store, 'write');
  writes.mockImplementationOnce(write).mockRejectedValueOnce(new Error('the disk is full'));
  expect(await runner.start(run, note)).toMatchObject({ state: 'pending' });
  runner.look();
  await runner.close();
  expect(store.get(upgradeRuns, 'run-1')).toMatchObject({ state: 'running', wave: 1 });
});

const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 120_000 });

/** A store with two nodes and a release. */
async function storeWithNodes(clock: Clock): Promise<Store> {
  const store = await openStore(openMemoryKv(), clock);
  await store.write((tx) => {
    for (const id of ['n1', 'n2']) {
      tx.put(agents, { id, name: id, tenantId: 't', createdAt: '', updatedAt: '', revision: '1' });
    }
    tx.put(binaryReleases, release);
  });
  return store;
}

test('a run is carried out by the controllers that its nodes are connected to', async () => {
  const clock = { nowMs: () => Date.parse('2026-01-01T00:00:00Z'), monotonicUs: () => 0 };
  const store = await storeWithNodes(clock);
  const registries = [new NodeRegistry(clock), new NodeRegistry(clock)] as const;
  const [first, second] = registries.map(
    (nodes) => new UpgradeRunner(store, nodes, clock, silentLogger),
  ) as [UpgradeRunner, UpgradeRunner];
  const sent: string[] = [];
  second.join('n1', ({ agentId = '' }) => sent.push(`${agentId} at the second`));
  first.join('n2', ({ agentId = '' }) => sent.push(`${agentId} at the first`));
  const steps = vi.fn();
  first.watch(run.id, steps);
  await first.start(run, note);
  await until(() => expect(sent).toEqual(['n1 at the second']));
  steps.mockClear();
  registries[1].update('n1', { version: '2.0.0' });
  second.answered('n1', { ...result, success: true, error: '' });
  await until(() => expect(sent).toEqual(['n1 at the second', 'n2 at the first']));
  expect(steps).toHaveBeenCalled();
  registries[0].update('n2', { version: '2.0.0' });
  first.answered('n2', { ...result, success: true, error: '' });
  await until(() => expect(store.get(upgradeRuns, run.id)).toMatchObject({ state: 'succeeded' }));
  await Promise.all([first.close(), second.close()]);
});

test('a controller that has not heard yet that a run was canceled orders nothing', async () => {
  const clock = { nowMs: () => Date.parse('2026-01-01T00:00:00Z'), monotonicUs: () => 0 };
  const store = await storeWithNodes(clock);
  const nodes = new NodeRegistry(clock);
  const first = new UpgradeRunner(store, nodes, clock, silentLogger);
  await first.start(run, note);
  const behind = { ...store, onChange: () => () => undefined };
  const second = new UpgradeRunner(behind, nodes, clock, silentLogger);
  await first.cancel(run.id, note);
  const sent: string[] = [];
  second.join('n1', ({ agentId = '' }) => sent.push(agentId));
  await second.close();
  expect(sent).toEqual([]);
  expect(store.get(upgradeRuns, run.id)?.nodes.map(({ state }) => state)).toEqual([
    'skipped',
    'skipped',
  ]);
  await first.close();
});

test('an order that could not be kept is not sent, and is tried again', async () => {
  const clock = { nowMs: () => Date.parse('2026-01-01T00:00:00Z'), monotonicUs: () => 0 };
  const store = await storeWithNodes(clock);
  const runner = new UpgradeRunner(store, new NodeRegistry(clock), clock, silentLogger);
  await runner.start(run, note);
  const sent: string[] = [];
  let sentBefore: readonly string[] | null = null;
  vi.spyOn(store, 'write').mockImplementationOnce(() => {
    sentBefore = [...sent];
    return Promise.reject(new Error('the disk is full'));
  });
  runner.join('n1', ({ agentId = '' }) => sent.push(agentId));
  await until(() => {
    runner.look();
    expect(sent).toEqual(['n1']);
  });
  await runner.close();
  expect({ sentBefore, sent }).toEqual({ sentBefore: [], sent: ['n1'] });
});

test('orders are sent again after a start, results count, and late nodes fail', async () => {
  let nowMs = Date.parse('2026-01-01T00:00:00Z');
  const clock = { nowMs: () => nowMs, monotonicUs: () => nowMs * 1000 };
  const store = await storeWithNodes(clock);
  const nodes = new NodeRegistry(clock);
  const first = new UpgradeRunner(store, nodes, clock, silentLogger);
  const sent: string[] = [];
  first.join('n1', ({ agentId = '' }) => sent.push(agentId));
  await first.start(run, note);
  expect(sent).toEqual(['n1']);
  await first.close();

  // Killed here: the next one reads what is kept, and the node hears of its order again.
  const second = new UpgradeRunner(store, nodes, clock, silentLogger);
  expect(store.get(upgradeRuns, 'run-1')).toMatchObject({ state: 'running', wave: 1 });
  second.join('n1', ({ agentId = '' }) => sent.push(agentId));
  expect(sent).toEqual(['n1', 'n1']);
  nodes.update('n1', { version: '2.0.0' });
  second.answered('n1', { ...result, success: true, error: '' });
  await until(() => expect(store.get(upgradeRuns, 'run-1')).toMatchObject({ wave: 2 }));

  // The second node never comes.
  nowMs += upgradeLimits.nodeDeadlineMs;
  second.look();
  await second.close();
  const ended = store.get(upgradeRuns, 'run-1');
  expect(ended).toMatchObject({ state: 'failed' });
  expect(ended?.nodes.map(({ state }) => state)).toEqual(['updated', 'failed']);
});
