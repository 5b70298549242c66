/**
 * Proves what a run says of the one before it: nothing after a stop in order, the exact number of
 * requests and events that a kill lost, once; and that it is not known where the tally is gone.
 */

import { afterEach, expect, test } from 'vitest';
import {
  GapNoticeAckSchema,
  ObservationGapReason,
  ObservationStreamKind,
  type GapNotice,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { create } from '@bufbuild/protobuf';
import type { CounterDelta } from '../contract/counters.ts';
import type { RequestEvent } from '../contract/events.ts';
import { emptyTally, type RunTally, type TallyCounts } from '../contract/run-tally.ts';
import { linkLimits } from '../base/observation-limits.ts';
import { Observations, type SpoolStores } from './observations.ts';
import { memorySpoolStore } from './spool.ts';

const opened: Observations[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

/** A disk: streams, and the tallies of all runs. */
class Disk {
  readonly stores: SpoolStores = {
    facts: memorySpoolStore(),
    access: memorySpoolStore(),
    accessSample: memorySpoolStore(),
    accessExport: memorySpoolStore(),
    errors: memorySpoolStore(),
    counters: memorySpoolStore(),
  };
  readonly tallies = new Map<string, TallyCounts>();
  #runs = 0;

  /** The next run's tally. */
  begin(): RunTally {
    const run = `run ${++this.#runs}`;
    this.tallies.set(run, emptyTally);
    return {
      run,
      path: '',
      earlier: (name) => this.tallies.get(name) ?? null,
      current: () => this.tallies.get(run) ?? emptyTally,
      forgetEarlier: () => {
        for (const name of this.tallies.keys()) if (name !== run) this.tallies.delete(name);
      },
    };
  }
}

/** One run: what front threads counted, and how much of it was stored. */
class Run {
  readonly tally: RunTally;
  readonly observations: Observations;
  readonly #disk: Disk;

  constructor(disk: Disk) {
    this.#disk = disk;
    this.tally = disk.begin();
    this.observations = new Observations(disk.stores, this.tally);
  }

  /** Counted in a thread, and lost on the way. */
  onlyCount(counts: Partial<TallyCounts>): void {
    const now = { ...this.tally.current() };
    for (const [name, count] of Object.entries(counts)) now[name as 'facts'] += count;
    this.#disk.tallies.set(this.tally.run, now);
  }

  /** Counted, and stored at the latest when `store` is called. */
  count(requests: number, blocked: number): void {
    this.onlyCount({ requests, blocked, facts: blocked });
    this.observations.count([deltaOf(requests, blocked)]);
    for (let at = 0; at < blocked; at++) this.observations.observe(blockedRequest);
  }

  async store(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, linkLimits.counterDelayMs + 50));
  }

  /** Gaps that it tells control. */
  gaps(): GapNotice[] {
    const gaps: GapNotice[] = [];
    this.observations.connected((message) => {
      if (message?.case === 'gapNotice') gaps.push(message.value as GapNotice);
    });
    this.observations.disconnected();
    return gaps;
  }
}

function deltaOf(requests: number, blocked: number): CounterDelta {
  const zeros = { bytesIn: 0, bytesOut: 0, durationUs: 0, inspected: 0, inspectionUs: 0 };
  const outcomes = new Map<string, number>([
    ['blocked', blocked],
    ['served', requests - blocked],
  ]);
  const entries = new Map([['outcome', outcomes]]) as CounterDelta['entries'];
  const classes = { durations: new Array<number>(14).fill(0), inspections: [] };
  return { siteId: 'a', policyId: '', requests, ...zeros, ...classes, entries };
}

const blockedRequest = {
  ...{ requestId: 'r', siteId: 'a', receivedAtMs: 1, durationUs: 1, originUs: -1 },
  ...{ clientIp: '192.0.2.1', clientPort: 1, method: 'GET', host: 'a', target: '/' },
  ...{ httpVersion: '1.1', userAgent: '', referer: '', status: 403, outcome: 'blocked' },
  ...{ blocked: true, refusal: null, bytesIn: 0, bytesOut: 0, endpoint: null },
  ...{ upstreamId: '', routeId: '', transaction: null },
} as RequestEvent;

function begin(disk: Disk): Run {
  const run = new Run(disk);
  opened.push(run.observations);
  return run;
}

const itemsOf = (gap: GapNotice): number => Number(gap.lastItemSeq - gap.firstItemSeq) + 1;
const { METRIC, SECURITY_FACT } = ObservationStreamKind;

test('a stop in order leaves no gap', async () => {
  const disk = new Disk();
  const first = begin(disk);
  first.count(20, 4);
  await first.observations.close();
  const second = begin(disk);
  expect(second.observations.earlierLoss).toBeNull();
  // Not even where somebody has removed the tally of that run.
  await second.observations.close();
  disk.tallies.clear();
  const third = begin(disk);
  expect([third.observations.earlierLoss, third.gaps()]).toEqual([null, []]);
});

test('a kill leaves a gap of each stream that says how much is missing', async () => {
  const disk = new Disk();
  const first = begin(disk);
  first.count(20, 4);
  await first.store();
  first.onlyCount({ requests: 7, blocked: 3, facts: 2 });
  const second = begin(disk);
  expect(second.observations.earlierLoss).toEqual({ requests: 7, blocked: 3, facts: 2 });
  expect(second.observations.health()).toMatchObject({
    ...{ state: 'coverage_gap', coverageIncomplete: true, gapNotices: 2n },
  });
  const gaps = second.gaps();
  expect(gaps.map((gap) => [gap.streamKind, itemsOf(gap), gap.reason])).toEqual([
    [SECURITY_FACT, 2, ObservationGapReason.RUN_ENDED],
    [METRIC, 7, ObservationGapReason.RUN_ENDED],
  ]);
  // As error events, too.
  const errors = [...disk.stores.errors.load()].filter(([position]) => position > 0);
  expect(Buffer.from(errors.at(-1)![1]).toString('latin1')).toContain('counts of 7 requests (3 of');
});

test('runs that are killed one after another each leave their own gap, once', async () => {
  const disk = new Disk();
  const first = begin(disk);
  first.onlyCount({ requests: 5 });
  const second = begin(disk);
  second.count(10, 0);
  await second.store();
  second.onlyCount({ requests: 6, facts: 1 });
  // Killed before anything was counted: nothing new is missing.
  begin(disk);
  const last = begin(disk);
  expect(last.observations.earlierLoss).toBeNull();
  const missing = last.gaps().map((gap) => [gap.streamKind, itemsOf(gap)]);
  expect(missing).toEqual([
    [SECURITY_FACT, 1],
    [METRIC, 5],
    [METRIC, 6],
  ]);
  for (const { bootId, firstBatchSeq, streamKind } of last.gaps()) {
    const ack = create(GapNoticeAckSchema, { bootId, firstBatchSeq, streamKind });
    last.observations.gapAcknowledged(ack);
  }
  expect(begin(disk).gaps()).toEqual([]);
});

test('a kill between the accounts of the two streams counts nothing twice', () => {
  const disk = new Disk();
  const first = begin(disk);
  first.onlyCount({ requests: 5, facts: 5 });
  // The run after it settles one stream only.
  const { counters } = disk.stores;
  let writes = 0;
  const dies = new Error('killed');
  disk.stores.facts.change = () => {
    if (writes++ === 0) throw dies;
    return true;
  };
  expect(() => begin(disk)).toThrow(dies);
  disk.stores.facts.change = memorySpoolStore().change;
  expect(counters.readNote()).not.toBeNull();
  const third = begin(disk);
  expect(third.observations.earlierLoss).toEqual({ requests: 0, blocked: 0, facts: 5 });
  expect(third.gaps().map((gap) => [gap.streamKind, itemsOf(gap)])).toEqual([
    [SECURITY_FACT, 5],
    [METRIC, 5],
  ]);
});

test('where the tally is gone, nobody knows, and the fault names that', () => {
  const disk = new Disk();
  begin(disk).onlyCount({ requests: 5 });
  disk.tallies.clear();
  const second = begin(disk);
  expect(second.observations.earlierLoss).toBe('unknown');
  expect(second.observations.health().state).toBe('coverage_gap');
  expect(second.gaps()).toEqual([]);
});

test('notes that cannot be read are as none', () => {
  for (const text of ['', '[]', '{"run":1}', '{"run":"run 1","boot":"x","seq":1,"sums":[]}']) {
    const disk = new Disk();
    disk.stores.counters.change([], [], Buffer.from(text));
    expect(begin(disk).observations.earlierLoss).toBeNull();
  }
});
