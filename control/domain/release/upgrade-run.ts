/**
 * A roll-out of a release over nodes, in waves. A wave begins when every node of the one before it
 * was upgraded; a node that fails stops the run, and nodes of later waves keep what they run.
 * Pure: a table of states, and functions from one record to the next.
 */

import { upgradeLimits } from '../../limits/upgrade-limits.ts';

/** Where a run stands. */
export type RunState = 'pending' | 'running' | 'succeeded' | 'failed' | 'canceled';
/** What happens to a run. */
export type RunEvent = 'start' | 'wave_done' | 'all_done' | 'node_lost' | 'cancel';
/** Where a node of a run stands. */
export type NodeUpgradeState = 'waiting' | 'ordered' | 'updated' | 'failed' | 'skipped';
/** What happens to a node of a run. */
export type NodeUpgradeEvent = 'order' | 'succeed' | 'fail' | 'skip';

/** Every move of a run; a pair that is absent changes nothing. */
export const runTable: Readonly<Record<RunState, Partial<Record<RunEvent, RunState>>>> = {
  pending: { start: 'running', cancel: 'canceled' },
  running: {
    wave_done: 'running',
    all_done: 'succeeded',
    node_lost: 'failed',
    cancel: 'canceled',
  },
  succeeded: {},
  failed: {},
  canceled: {},
};

/** Every move of a node; a pair that is absent changes nothing. */
export const nodeTable: Readonly<
  Record<NodeUpgradeState, Partial<Record<NodeUpgradeEvent, NodeUpgradeState>>>
> = {
  waiting: { order: 'ordered', fail: 'failed', skip: 'skipped' },
  ordered: { succeed: 'updated', fail: 'failed' },
  // One that was given up may still say that it runs the new program: that is a fact.
  failed: { succeed: 'updated' },
  updated: {},
  skipped: {},
};

/** A node of a run. */
export interface UpgradeNode {
  readonly agentId: string;
  /** From 1. */
  readonly wave: number;
  readonly state: NodeUpgradeState;
  /** What it ran before. */
  readonly versionBefore: string;
  /** Why it failed; '' otherwise. */
  readonly error: string;
}

/** What happened in a run, in order. */
export interface UpgradeEvent {
  readonly kind:
    | 'WAVE_STARTED'
    | 'NODE_UPDATED'
    | 'NODE_FAILED'
    | 'WAVE_COMPLETED'
    | 'RUN_SUCCEEDED'
    | 'RUN_FAILED'
    | 'RUN_CANCELED';
  /** RFC 3339. */
  readonly at: string;
  readonly payload: Readonly<Record<string, string | number>>;
}

/** What nodes are to download; a copy, so that it is one thing for the whole run. */
export interface RunRelease {
  readonly id: string;
  readonly version: string;
  readonly sha256: string;
  readonly sizeBytes: string;
  readonly signature: string;
}

/** A run as it is kept; its id is also the id of its order to each node. */
export interface UpgradeRunRecord {
  readonly id: string;
  readonly tenantId: string;
  /** Null for a rollback, which nodes do with what they have. */
  readonly release: RunRelease | null;
  /** '' when nodes go back to different versions. */
  readonly targetVersion: string;
  readonly state: RunState;
  /** The present wave; 0 before the first. */
  readonly wave: number;
  /** RFC 3339; '' before the first. */
  readonly waveStartedAt: string;
  readonly nodes: readonly UpgradeNode[];
  readonly events: readonly UpgradeEvent[];
  readonly createdAt: string;
  readonly startedAt: string;
  readonly finishedAt: string;
}

/** Something that a run hears of. */
export type RunInput =
  | { readonly type: 'start' }
  | { readonly type: 'cancel' }
  | { readonly type: 'ordered'; readonly agentId: string }
  | { readonly type: 'updated'; readonly agentId: string; readonly version: string }
  | { readonly type: 'failed'; readonly agentId: string; readonly error: string }
  /** Time passed. */
  | { readonly type: 'look' };

/** Places nodes in waves of one, two, four and so on. */
export function placeInWaves(
  nodes: readonly { readonly agentId: string; readonly versionBefore: string }[],
): UpgradeNode[] {
  const placed: UpgradeNode[] = [];
  for (let [wave, size] = [1, 1]; placed.length < nodes.length; wave++) {
    for (const node of nodes.slice(placed.length, placed.length + size)) {
      placed.push({ ...node, wave, state: 'waiting', error: '' });
    }
    size = Math.min(size * 2, upgradeLimits.waveNodesMax);
  }
  return placed;
}

/** Whether a run can still change by itself. */
export function isOpen({ state }: UpgradeRunRecord): boolean {
  return Object.keys(runTable[state]).length > 0;
}

/** Nodes that have an order, or are to have one. */
export function nodesInTurn({ state, wave, nodes }: UpgradeRunRecord): UpgradeNode[] {
  if (state !== 'running') return [];
  return nodes.filter((one) => one.wave === wave && isWaiting(one));
}

/** The run after what it heard; the same object when that changes nothing. */
export function advanceRun(
  run: UpgradeRunRecord,
  input: RunInput,
  nowMs: number,
): UpgradeRunRecord {
  const at = new Date(nowMs).toISOString();
  switch (input.type) {
    case 'start':
      return run.state === 'pending' ? beginWave(move(run, 'start', at), at) : run;
    case 'cancel':
      return runTable[run.state].cancel === undefined ? run : end(run, 'cancel', at, {});
    case 'ordered':
      return moveNode(run, input.agentId, 'order', '');
    case 'updated': {
      const { agentId, version } = input;
      const moved = moveNode(run, agentId, 'succeed', '');
      if (moved === run) return run;
      return settle(note(moved, 'NODE_UPDATED', at, { ...of(moved, agentId), version }), at);
    }
    case 'failed': {
      const { agentId } = input;
      const error = input.error.slice(0, upgradeLimits.errorCharactersMax);
      const moved = moveNode(run, agentId, 'fail', error);
      if (moved === run) return run;
      return settle(note(moved, 'NODE_FAILED', at, { ...of(moved, agentId), error }), at);
    }
    case 'look':
      return giveUpLate(run, nowMs);
  }
}

/** Nodes whose time is over have failed. */
function giveUpLate(run: UpgradeRunRecord, nowMs: number): UpgradeRunRecord {
  const { nodeDeadlineMs } = upgradeLimits;
  if (run.state !== 'running' || nowMs < Date.parse(run.waveStartedAt) + nodeDeadlineMs) return run;
  let after = run;
  for (const { agentId, state } of nodesInTurn(run)) {
    const minutes = nodeDeadlineMs / 60_000;
    const what = state === 'waiting' ? 'was not connected' : 'did not answer';
    const error = `the node ${what} for ${minutes} minutes`;
    after = advanceRun(after, { type: 'failed', agentId, error }, nowMs);
  }
  return after;
}

/** Ends the present wave when nothing of it is open. */
function settle(run: UpgradeRunRecord, at: string): UpgradeRunRecord {
  if (run.state !== 'running' || nodesInTurn(run).length > 0) return run;
  const failed = run.nodes.filter((one) => one.wave === run.wave && one.state === 'failed');
  if (failed.length > 0) return end(run, 'node_lost', at, { failed: failed.length });
  const done = note(run, 'WAVE_COMPLETED', at, { wave: run.wave });
  if (!run.nodes.some(({ state }) => state === 'waiting')) return end(done, 'all_done', at, {});
  return beginWave(move(done, 'wave_done', at), at);
}

function beginWave(run: UpgradeRunRecord, at: string): UpgradeRunRecord {
  const wave = run.wave + 1;
  const nodes = run.nodes.filter((one) => one.wave === wave).length;
  return note({ ...run, wave, waveStartedAt: at }, 'WAVE_STARTED', at, { wave, nodes });
}

const lastEvents = { all_done: 'RUN_SUCCEEDED', node_lost: 'RUN_FAILED', cancel: 'RUN_CANCELED' };

/** Nodes that have no order yet keep what they run. */
function end(
  run: UpgradeRunRecord,
  event: keyof typeof lastEvents,
  at: string,
  facts: UpgradeEvent['payload'],
): UpgradeRunRecord {
  const nodes = run.nodes.map((one) => {
    const state = nodeTable[one.state].skip;
    return state === undefined ? one : { ...one, state };
  });
  const skipped = nodes.filter(({ state }) => state === 'skipped').length;
  const ended = { ...move(run, event, at), nodes, finishedAt: at };
  const kind = lastEvents[event] as UpgradeEvent['kind'];
  return note(ended, kind, at, { ...facts, ...(skipped > 0 ? { skipped } : {}) });
}

function move(run: UpgradeRunRecord, event: RunEvent, at: string): UpgradeRunRecord {
  const state = runTable[run.state][event];
  if (state === undefined) throw new Error(`a run that is ${run.state} cannot take "${event}"`);
  return { ...run, state, ...(event === 'start' ? { startedAt: at } : {}) };
}

function moveNode(
  run: UpgradeRunRecord,
  agentId: string,
  event: NodeUpgradeEvent,
  error: string,
): UpgradeRunRecord {
  const found = run.nodes.find((one) => one.agentId === agentId);
  const state = found === undefined ? undefined : nodeTable[found.state][event];
  if (state === undefined) return run;
  const nodes = run.nodes.map((one) => (one === found ? { ...one, state, error } : one));
  return { ...run, nodes };
}

function note(
  run: UpgradeRunRecord,
  kind: UpgradeEvent['kind'],
  at: string,
  payload: UpgradeEvent['payload'],
): UpgradeRunRecord {
  return { ...run, events: [...run.events, { kind, at, payload }] };
}

function of(run: UpgradeRunRecord, agentId: string): { agentId: string; wave: number } {
  return { agentId, wave: run.nodes.find((one) => one.agentId === agentId)?.wave ?? 0 };
}

function isWaiting({ state }: UpgradeNode): boolean {
  return state === 'waiting' || state === 'ordered';
}
