/** Holds the tables of upgrade runs and what a run does with what it hears. */

import { expect, test } from 'vitest';
import { upgradeLimits } from '../../limits/upgrade-limits.ts';
import {
  advanceRun,
  isOpen,
  nodesInTurn,
  nodeTable,
  placeInWaves,
  runTable,
  type RunInput,
  type UpgradeRunRecord,
} from './upgrade-run.ts';

const startMs = Date.parse('2026-01-02T03:04:05Z');
const release = { id: 'r', version: '2.0.0', sha256: '', sizeBytes: '1', signature: '' };

function makeRun(count: number): UpgradeRunRecord {
  const named = Array.from({ length: count }, (_, at) => ({
    agentId: `n${at + 1}`,
    versionBefore: '1.0.0',
  }));
  return {
    id: 'run-1',
    tenantId: 't',
    release,
    targetVersion: '2.0.0',
    state: 'pending',
    wave: 0,
    waveStartedAt: '',
    nodes: placeInWaves(named),
    events: [],
    createdAt: '',
    startedAt: '',
    finishedAt: '',
  };
}

function hear(run: UpgradeRunRecord, ...inputs: RunInput[]): UpgradeRunRecord {
  return inputs.reduce((before, input) => advanceRun(before, input, startMs), run);
}
const start: RunInput = { type: 'start' };
const ordered = (agentId: string): RunInput => ({ type: 'ordered', agentId });
const updated = (agentId: string): RunInput => ({ type: 'updated', agentId, version: '2.0.0' });
const failed = (agentId: string): RunInput => ({ type: 'failed', agentId, error: 'no' });
const kinds = ({ events }: UpgradeRunRecord): string[] => events.map(({ kind }) => kind);
const states = ({ nodes }: UpgradeRunRecord): string[] => nodes.map(({ state }) => state);

test('waves have one node, then twice as many, up to the bound', () => {
  const sizes = new Map<number, number>();
  for (const { wave } of placeInWaves(makeRun(70).nodes)) {
    sizes.set(wave, (sizes.get(wave) ?? 0) + 1);
  }
  expect([...sizes.values()]).toEqual([1, 2, 4, 8, 16, 16, 16, 7]);
  expect(upgradeLimits.waveNodesMax).toBe(16);
});

test('every state can be reached, and ended runs take nothing', () => {
  const reached = new Set<string>(['pending', ...Object.values(runTable).flatMap(Object.values)]);
  expect([...reached].sort()).toEqual(Object.keys(runTable).sort());
  const nodes = new Set<string>(['waiting', ...Object.values(nodeTable).flatMap(Object.values)]);
  expect([...nodes].sort()).toEqual(Object.keys(nodeTable).sort());
  for (const state of ['succeeded', 'failed', 'canceled'] as const) {
    const ended: UpgradeRunRecord = { ...makeRun(1), state };
    expect(isOpen(ended)).toBe(false);
    expect(hear(ended, start, { type: 'cancel' }, { type: 'look' })).toBe(ended);
  }
});

test('a run goes wave by wave to its end', () => {
  const begun = hear(makeRun(3), start);
  expect(nodesInTurn(begun).map(({ agentId }) => agentId)).toEqual(['n1']);
  const second = hear(begun, ordered('n1'), updated('n1'));
  expect(second.wave).toBe(2);
  expect(nodesInTurn(second).map(({ agentId }) => agentId)).toEqual(['n2', 'n3']);
  const half = hear(second, ordered('n3'), updated('n3'));
  expect(half.state).toBe('running');
  const done = hear(half, ordered('n2'), updated('n2'));
  expect(done).toMatchObject({ state: 'succeeded', finishedAt: '2026-01-02T03:04:05.000Z' });
  expect(kinds(done)).toEqual([
    'WAVE_STARTED',
    'NODE_UPDATED',
    'WAVE_COMPLETED',
    'WAVE_STARTED',
    'NODE_UPDATED',
    'NODE_UPDATED',
    'WAVE_COMPLETED',
    'RUN_SUCCEEDED',
  ]);
});

test('a node that fails stops the run after its wave; later nodes keep what they run', () => {
  const second = hear(makeRun(7), start, ordered('n1'), updated('n1'), ordered('n2'));
  const lost = hear(second, failed('n2'));
  expect(lost.state).toBe('running');
  const ended = hear(lost, ordered('n3'), updated('n3'));
  expect(ended.state).toBe('failed');
  expect(states(ended)).toEqual(['updated', 'failed', 'updated', ...Array(4).fill('skipped')]);
  expect(ended.events.at(-1)).toMatchObject({
    kind: 'RUN_FAILED',
    payload: { failed: 1, skipped: 4 },
  });
});

test('nodes that do not answer in time have failed, whether they were there or not', () => {
  const begun = hear(makeRun(3), start, ordered('n1'), updated('n1'), ordered('n2'));
  const due = startMs + upgradeLimits.nodeDeadlineMs;
  expect(advanceRun(begun, { type: 'look' }, due - 1)).toBe(begun);
  const late = advanceRun(begun, { type: 'look' }, due);
  expect(late.state).toBe('failed');
  expect(late.nodes.map(({ error }) => error)).toEqual([
    '',
    'the node did not answer for 30 minutes',
    'the node was not connected for 30 minutes',
  ]);
  // What it says later is noted, the run stays as it ended.
  const told = advanceRun(late, updated('n2'), due + 1);
  expect(told).toMatchObject({ state: 'failed' });
  expect(states(told)).toEqual(['updated', 'updated', 'failed']);
});

test('a canceled run sends no further order; what was ordered is still noted', () => {
  const begun = hear(makeRun(3), start, ordered('n1'));
  const canceled = hear(begun, { type: 'cancel' });
  expect(canceled.state).toBe('canceled');
  expect(states(canceled)).toEqual(['ordered', 'skipped', 'skipped']);
  expect(nodesInTurn(canceled)).toEqual([]);
  expect(states(hear(canceled, updated('n1')))).toEqual(['updated', 'skipped', 'skipped']);
  expect(states(hear(canceled, failed('n1')))).toEqual(['failed', 'skipped', 'skipped']);
  expect(hear(makeRun(1), { type: 'cancel' }).state).toBe('canceled');
});

test('what comes twice, too early or from a stranger changes nothing', () => {
  const begun = hear(makeRun(3), start, ordered('n1'));
  for (const input of [start, ordered('n1'), ordered('x'), updated('n2'), updated('x')]) {
    expect(hear(begun, input), JSON.stringify(input)).toBe(begun);
  }
  const twice = hear(begun, updated('n1'), updated('n1'), failed('n1'));
  expect(kinds(twice).filter((kind) => kind.startsWith('NODE'))).toEqual(['NODE_UPDATED']);
});
