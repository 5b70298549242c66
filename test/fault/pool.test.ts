/** Tests of inspection in the pool when its threads are slow, dead or flooded. */

import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { poolLimits } from '../../engine/base/limits.ts';
import { silentLogger } from '../../base/log.ts';
import type { InspectionFailure, TransactionRecord } from '../../engine/contract/verdict.ts';
import { Pool, type PooledPolicy } from '../../engine/pool/dispatch.ts';
import { WorkerQueue, type WorkerQueueOptions } from '../../engine/pool/worker-queue.ts';
import type { SessionOperation } from '../../engine/pool/wire.ts';
import { makeConnection, makeRequest } from '../../engine/rules/oracle/conformance/exchange.ts';
import { eventually } from '../support/eventually.ts';

const request = makeRequest('GET', '/', 'HTTP/1.1', [['Host', 'a.example']], makeConnection());
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function queueOptions(deadlineMs: number): WorkerQueueOptions {
  return {
    workerFile: new URL('./pool-worker.mjs', import.meta.url),
    workerData: null,
    clock: systemClock,
    log: silentLogger,
    deadlineMs,
  };
}

function startPool(deadlineMs = 10_000): Pool {
  const pool = new Pool({ ...queueOptions(deadlineMs), threads: 1 });
  closing.push(() => pool.close());
  pool.load('good', {}, true);
  pool.load('slow', { blockMs: 1500 }, true);
  pool.load('stuck', { blockMs: 600_000 }, true);
  pool.load('deadly', { die: true }, true);
  return pool;
}

function how(policy: string): PooledPolicy {
  return { policy, recordOnly: false };
}

/** The record of a request that is inspected in time, which a busy machine has few of. */
function served(pool: Pool): Promise<TransactionRecord> {
  return eventually(async () => {
    const session = pool.open(request, how('good'));
    const { action } = await session.requestHead();
    const record = await session.finish();
    return action === 'pass' && record.failure === undefined ? record : null;
  });
}

function failed(reason: InspectionFailure): object {
  return { action: 'failed', reason };
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

  test('a thread that blocks: inspection fails by its deadline, then the thread serves again', async () => {
    const pool = startPool(200);
    await pool.open(request, how('good')).requestHead();
    const closed = pool.open(request, how('slow'));
    const next = pool.open(request, how('good'));
    const verdicts = await Promise.all([closed.requestHead(), next.requestHead()]);
    expect(verdicts).toEqual([failed('deadline'), failed('deadline')]);
    expect(await closed.requestBody(null)).toEqual(failed('deadline'));
    const records = await Promise.all([closed.finish(), next.finish()]);
    expect(records.map(({ failure }) => failure)).toEqual(['deadline', 'deadline']);
    await pool.settled();
    await served(pool);
  });

  test('a thread that never comes back is replaced', async () => {
    const pool = startPool(100);
    const { inboundScore: firstThread } = await served(pool);
    const stuck = pool.open(request, how('stuck'));
    expect(await stuck.requestHead()).toEqual(failed('deadline'));
    await pool.settled();
    expect((await served(pool)).inboundScore).not.toBe(firstThread);
  });

  test('a thread that dies: its requests fail, the next one has the policies', async () => {
    const pool = startPool();
    const survivor = pool.open(request, how('good'));
    await survivor.requestHead();
    const sessions = [how('deadly'), how('deadly')].map((one) => pool.open(request, one));
    const verdicts = await Promise.all(sessions.map((session) => session.requestHead()));
    expect(verdicts).toEqual([failed('worker'), failed('worker')]);
    const records = await Promise.all(sessions.map((session) => session.finish()));
    expect(records.map(({ failure }) => failure)).toEqual(['worker', 'worker']);
    // Its state died with the thread.
    expect(await survivor.requestBody(null)).toEqual(failed('worker'));
    expect((await survivor.finish()).failure).toBe('worker');
    const after = pool.open(request, how('good'));
    expect(await after.requestHead()).toMatchObject({ action: 'pass' });
    expect((await after.finish()).failure).toBeUndefined();
  });

  test('a policy that was retired is not there any more, also after a death', async () => {
    const pool = startPool();
    await pool.open(request, how('deadly')).requestHead();
    pool.retire('good');
    const session = pool.open(request, how('good'));
    expect(await session.requestHead()).toEqual(failed('policy'));
    expect((await session.finish()).failure).toBe('policy');
  });
});

describe('worker queue', () => {
  const opened = (session: number): SessionOperation => {
    return { op: 'open', session, policy: 'none', recordOnly: false, request, bodyless: true };
  };

  test('a full queue answers at once and loses nothing that it took', async () => {
    const queue = new WorkerQueue(queueOptions(60_000));
    closing.push(() => queue.close());
    const extra = 100;
    const count = poolLimits.queuedOperationsMax + poolLimits.batchOperationsMax + extra;
    const results = await Promise.all(
      Array.from({ length: count }, (_, session) => queue.send(opened(session), ['a', 'x'])),
    );
    const lost = results.filter((one) => one.kind === 'failed' && one.reason === 'queue');
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.length).toBeLessThanOrEqual(extra + poolLimits.batchOperationsMax);
    expect(queue.depth).toBe(0);
  });

  test('a queue that one client fills has room for another, and for the ends of sessions', async () => {
    const queue = new WorkerQueue(queueOptions(60_000));
    closing.push(() => queue.close());
    const count = 2 * poolLimits.queuedOperationsMax;
    const many = Array.from({ length: count }, (_, session) => {
      return queue.send(opened(session), ['a', 'x']);
    });
    const other = await queue.send(opened(count), ['b', 'y']);
    expect(other).toEqual({ kind: 'failed', reason: 'policy' });
    expect(queue.depth).toBeGreaterThan(poolLimits.queuedOperationsMax / 2);
    const ends = many.map((_, session) => queue.send({ op: 'finish', session }, ['a', 'x']));
    const reasons = (await Promise.all(ends)).map((end) => end.kind === 'failed' && end.reason);
    expect(new Set(reasons)).toEqual(new Set(['worker']));
    await Promise.all(many);
  });

  test('closing answers what waits', async () => {
    const queue = new WorkerQueue(queueOptions(60_000));
    const waiting = queue.send({ op: 'finish', session: 1 }, ['a', 'x']);
    await queue.close();
    expect(await waiting).toEqual({ kind: 'failed', reason: 'worker' });
    const after = await queue.send({ op: 'finish', session: 2 }, ['a', 'x']);
    expect(after).toEqual({ kind: 'failed', reason: 'worker' });
  });
});
