/** Tests of inspection in the pool when its threads are slow, dead or flooded. */

import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../engine/base/clock.ts';
import { poolLimits } from '../../engine/base/limits.ts';
import { silentLogger } from '../../engine/base/log.ts';
import { Pool, type PooledPolicy } from '../../engine/pool/dispatch.ts';
import { Lane, type LaneOptions } from '../../engine/pool/lane.ts';
import { makeConnection, makeRequest } from '../../engine/rules/oracle/conformance/exchange.ts';

const request = makeRequest('GET', '/', 'HTTP/1.1', [['Host', 'a.example']], makeConnection());
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function laneOptions(deadlineMs: number): LaneOptions {
  return {
    workerFile: new URL('./pool-worker.mjs', import.meta.url),
    workerData: null,
    clock: systemClock,
    log: silentLogger,
    deadlineMs,
  };
}

function startPool(deadlineMs = 10_000): Pool {
  const pool = new Pool({ ...laneOptions(deadlineMs), threads: 1 });
  closing.push(() => pool.close());
  pool.load('good', {});
  pool.load('slow', { blockMs: 1500 });
  pool.load('stuck', { blockMs: 600_000 });
  pool.load('deadly', { die: true });
  return pool;
}

function how(policy: string, failPolicy: 'closed' | 'open' = 'closed'): PooledPolicy {
  return { policy, failPolicy, recordOnly: false };
}

describe('pool', () => {
  test('many sessions at once all get their own answers', async () => {
    const pool = startPool();
    const sessions = Array.from({ length: 200 }, () => pool.open(request, how('good')));
    const verdicts = await Promise.all(sessions.map((session) => session.requestHead()));
    expect(verdicts.every(({ action }) => action === 'pass')).toBe(true);
    expect(sessions.every(({ bodyNeed }) => bodyNeed.limitBytes === 1024)).toBe(true);
    const records = await Promise.all(sessions.map((session) => session.finish()));
    expect(records.every(({ failure }) => failure === undefined)).toBe(true);
  });

  test('a thread that blocks: the deadline answers by the fail policy, then it serves again', async () => {
    const pool = startPool(200);
    await pool.open(request, how('good')).requestHead();
    const closed = pool.open(request, how('slow'));
    const behind = pool.open(request, how('good', 'open'));
    const verdicts = await Promise.all([closed.requestHead(), behind.requestHead()]);
    expect(verdicts).toMatchObject([{ action: 'block', status: 503 }, { action: 'pass' }]);
    expect(await closed.requestBody(null)).toMatchObject({ action: 'block', status: 503 });
    const records = await Promise.all([closed.finish(), behind.finish()]);
    expect(records.map(({ failure }) => failure)).toEqual(['deadline', 'deadline']);
    await pool.settled();
    const after = pool.open(request, how('good'));
    expect(await after.requestHead()).toMatchObject({ action: 'pass' });
    expect((await after.finish()).failure).toBeUndefined();
  });

  test('a thread that never comes back is replaced', async () => {
    const pool = startPool(100);
    const before = pool.open(request, how('good'));
    await before.requestHead();
    const { inboundScore: firstThread } = await before.finish();
    const stuck = pool.open(request, how('stuck'));
    expect(await stuck.requestHead()).toMatchObject({ status: 503 });
    await pool.settled();
    const after = pool.open(request, how('good'));
    expect(await after.requestHead()).toMatchObject({ action: 'pass' });
    const record = await after.finish();
    expect(record.failure).toBeUndefined();
    expect(record.inboundScore).not.toBe(firstThread);
  });

  test('a thread that dies: its requests get the fail policy, the next one has the policies', async () => {
    const pool = startPool();
    const survivor = pool.open(request, how('good'));
    await survivor.requestHead();
    const sessions = [how('deadly'), how('deadly', 'open')].map((one) => pool.open(request, one));
    const verdicts = await Promise.all(sessions.map((session) => session.requestHead()));
    expect(verdicts).toMatchObject([{ action: 'block', status: 503 }, { action: 'pass' }]);
    const records = await Promise.all(sessions.map((session) => session.finish()));
    expect(records.map(({ failure }) => failure)).toEqual(['worker_died', 'worker_died']);
    // Its state died with the thread.
    expect(await survivor.requestBody(null)).toMatchObject({ status: 503 });
    expect((await survivor.finish()).failure).toBe('internal');
    const after = pool.open(request, how('good'));
    expect(await after.requestHead()).toMatchObject({ action: 'pass' });
    expect((await after.finish()).failure).toBeUndefined();
  });

  test('a policy that was retired is not there any more, also after a death', async () => {
    const pool = startPool();
    await pool.open(request, how('deadly')).requestHead();
    pool.retire('good');
    const session = pool.open(request, how('good'));
    expect(await session.requestHead()).toMatchObject({ action: 'block', status: 503 });
    expect((await session.finish()).failure).toBe('internal');
  });
});

describe('lane', () => {
  test('a full queue answers at once and loses nothing that it took', async () => {
    const lane = new Lane(laneOptions(60_000));
    closing.push(() => lane.close());
    const extra = 100;
    const count = poolLimits.queuedOperationsMax + poolLimits.batchOperationsMax + extra;
    const results = await Promise.all(
      Array.from({ length: count }, (_, session) => lane.send({ op: 'finish', session })),
    );
    const lost = results.filter((result) => result.kind === 'lost');
    expect(lost.every((result) => result.failure === 'queue_full')).toBe(true);
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.length).toBeLessThanOrEqual(extra + poolLimits.batchOperationsMax);
    expect(lane.depth).toBe(0);
  });

  test('closing answers what waits', async () => {
    const lane = new Lane(laneOptions(60_000));
    const waiting = lane.send({ op: 'finish', session: 1 });
    await lane.close();
    expect(await waiting).toEqual({ kind: 'lost', failure: 'worker_died' });
    expect(await lane.send({ op: 'finish', session: 2 })).toMatchObject({ kind: 'lost' });
  });
});
