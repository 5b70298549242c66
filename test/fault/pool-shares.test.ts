/**
 * What one client or site may take of the pool: others get their turn after two steps at most, and
 * a thread has its policies before anybody asks.
 */

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { poolLimits } from '../../engine/base/limits.ts';
import { silentLogger } from '../../base/log.ts';
import type { RequestSnapshot } from '../../engine/contract/message.ts';
import { Pool } from '../../engine/pool/dispatch.ts';
import {
  makeConnection,
  makeRequest,
  makeResponse,
} from '../../engine/rules/oracle/conformance/exchange.ts';
import { transpileTree } from '../http/transpile.ts';
import type { FaultPlan } from './faulty-policy.ts';

const root = path.resolve(import.meta.dirname, '../..');
let thread: { readonly url: URL; readonly folder: string };
const pools: Pool[] = [];
beforeAll(async () => {
  thread = await transpileTree(root, 'test/fault/faulty-thread.ts');
});
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});
afterAll(() => rmSync(thread.folder, { recursive: true, force: true }));

function newPool(): Pool {
  const pool = new Pool({
    workerFile: thread.url,
    workerData: null,
    clock: systemClock,
    log: silentLogger,
    deadlineMs: poolLimits.deadlineMs,
    threads: 1,
  });
  pools.push(pool);
  return pool;
}

function requestOf(siteId: string, clientIp: string): RequestSnapshot {
  const connection = { ...makeConnection(), clientIp };
  const fields: [string, string][] = [
    ['Host', 'a'],
    ['Content-Length', '1'],
  ];
  return { ...makeRequest('POST', '/', 'HTTP/1.1', fields, connection), siteId };
}

test('steps that take a second each delay others by two of them at most', async () => {
  const pool = newPool();
  const blocks = new Int32Array(new SharedArrayBuffer(4));
  pool.load('slow', { fault: 'block', phase: 2, blocks } satisfies FaultPlan, true);
  pool.load('good', { fault: 'none', phase: 0 } satisfies FaultPlan, true);
  pool.start();
  await pool.settled();
  const large = { bytes: new Uint8Array(200_000).fill(97), truncated: false };
  let working = true;
  const attack = async (clientIp: string): Promise<void> => {
    while (working) {
      const session = pool.open(requestOf('attacked', clientIp), {
        policy: 'slow',
        recordOnly: false,
      });
      if ((await session.requestHead()).action === 'pass') await session.requestBody(large);
      await session.finish();
    }
  };
  const attackers = Array.from({ length: 12 }, (_, at) => attack(`192.0.2.${at % 3}`));
  /** Steps of the attackers that ended while a step of the other site waited. */
  const delays: number[] = [];
  for (let round = 0; round < 5; round++) {
    const session = pool.open(requestOf('other', '198.51.100.1'), {
      policy: 'good',
      recordOnly: false,
    });
    for (const step of [() => session.requestHead(), () => session.requestBody(large)]) {
      const before = Atomics.load(blocks, 0);
      expect((await step()).action).toBe('pass');
      delays.push(Atomics.load(blocks, 0) - before);
    }
    expect((await session.finish()).failure).toBeUndefined();
  }
  working = false;
  expect(Atomics.load(blocks, 0)).toBeGreaterThan(1);
  expect(Math.max(...delays)).toBeLessThanOrEqual(2);
  await pool.close();
  await Promise.all(attackers);
});

test('a large body is inspected in steps, and others have their turns between them', async () => {
  const pool = newPool();
  pool.load('steps', { fault: 'steps', phase: 2 } satisfies FaultPlan, true);
  pool.load('good', { fault: 'none', phase: 0 } satisfies FaultPlan, true);
  pool.start();
  await pool.settled();
  const body = { bytes: new Uint8Array(2 * poolLimits.stepBytes).fill(97), truncated: false };
  const order: string[] = [];
  const send = async (site: string, client: string, policy: string): Promise<void> => {
    const session = pool.open(requestOf(site, client), { policy, recordOnly: false });
    expect((await session.requestHead()).action).toBe('pass');
    expect((await session.requestBody(body)).action).toBe('pass');
    order.push(site);
    expect((await session.finish()).failure).toBeUndefined();
  };
  const clients = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
  const attacks = clients.map((client) => send('attacked', client, 'steps'));
  await Promise.all([...attacks, send('other', '198.51.100.1', 'good')]);
  expect(order).toEqual(['other', 'attacked', 'attacked', 'attacked']);
});

/** The priority (nice) of the thread of large bodies, as far below ours as is possible. */
const lower = Math.min(os.getPriority() + poolLimits.largeBodyNiceness, 19);

/** How many threads of this process have the priority (nice). Source: proc(5), /proc/pid/stat. */
function threadsOfNiceness(niceness: number): number {
  const folder = '/proc/self/task';
  return readdirSync(folder).filter((thread) => {
    const stat = readFileSync(path.join(folder, thread, 'stat'), 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]) === niceness;
  }).length;
}

test('the thread of large bodies, and it alone, gets what others leave', async () => {
  const pool = newPool();
  pool.load('good', { fault: 'none', phase: 0 } satisfies FaultPlan, true);
  const before = threadsOfNiceness(lower);
  for (const bytes of [1000, poolLimits.sharedBodyBytesMax + 1]) {
    const body = { bytes: new Uint8Array(bytes).fill(97), truncated: false };
    const session = pool.open(requestOf('s', '192.0.2.1'), { policy: 'good', recordOnly: false });
    expect((await session.requestHead()).action).toBe('pass');
    expect((await session.requestBody(body)).action).toBe('pass');
    expect((await session.finish()).failure).toBeUndefined();
    const more = threadsOfNiceness(lower) - before;
    expect(more).toBe(bytes > poolLimits.sharedBodyBytesMax ? 1 : 0);
  }
});

test('policies are loaded before anybody asks, and one that is asked for comes first', async () => {
  const pool = newPool();
  pool.start();
  for (let at = 0; at < 20; at++) {
    pool.load(`p${at}`, { fault: 'none', phase: 0 } satisfies FaultPlan, true);
  }
  const how = { policy: 'p19', recordOnly: false };
  const early = pool.open(requestOf('s', '192.0.2.1'), how);
  let settled = false;
  const all = pool.settled().then(() => (settled = true));
  expect((await early.requestHead()).action).toBe('pass');
  expect(settled).toBe(false);
  await all;
  const late = pool.open(requestOf('s', '192.0.2.1'), { policy: 'p3', recordOnly: false });
  expect((await late.requestHead()).action).toBe('pass');
  await Promise.all([early.finish(), late.finish()]);
});

test('a policy that kills the thread that loads it fails its own requests only', async () => {
  const pool = newPool();
  pool.load('good', { fault: 'none', phase: 0 } satisfies FaultPlan, true);
  pool.start();
  await pool.settled();
  pool.load('deadly', 'die while loading', true);
  const how = { policy: 'deadly', recordOnly: false };
  const session = pool.open(requestOf('s', '192.0.2.1'), how);
  expect(await session.requestHead()).toMatchObject({ action: 'failed' });
  const good = pool.open(requestOf('s', '192.0.2.1'), { policy: 'good', recordOnly: false });
  expect((await good.requestHead()).action).toBe('pass');
  await Promise.all([session.finish(), good.finish()]);
  await pool.settled();
});

test('a body that others would wait for is inspected in a thread of its own', async () => {
  const pool = newPool();
  const blocks = new Int32Array(new SharedArrayBuffer(4));
  pool.load('slow', { fault: 'block', phase: 2, blocks } satisfies FaultPlan, true);
  pool.load('good', { fault: 'none', phase: 0 } satisfies FaultPlan, true);
  pool.start();
  await pool.settled();
  const large = {
    bytes: new Uint8Array(poolLimits.sharedBodyBytesMax + 1).fill(97),
    truncated: false,
  };
  const small = { bytes: large.bytes.subarray(1), truncated: false };
  let ended = 0;
  // Each keeps its thread for a second.
  const attacks = Array.from({ length: 20 }, async () => {
    const how = { policy: 'slow', recordOnly: false };
    const session = pool.open(requestOf('attacked', '192.0.2.1'), how);
    await session.requestHead();
    await session.requestBody(large);
    ended++;
  });
  for (let round = 0; round < 5; round++) {
    const how = { policy: 'good', recordOnly: false };
    const session = pool.open(requestOf('other', '198.51.100.1'), how);
    expect((await session.requestHead()).action).toBe('pass');
    expect((await session.requestBody(small)).action).toBe('pass');
    expect((await session.finish()).failure).toBeUndefined();
  }
  expect(ended).toBeLessThan(attacks.length - 1);
  // The shortest wait: those of large bodies are a second and more.
  expect(pool.takeWaitMs()).toBeLessThan(1_000);
  await pool.close();
  await Promise.all(attacks);
});

test.each([poolLimits.sharedBodyBytesMax, poolLimits.sharedBodyBytesMax + 1])(
  'a body of %d bytes whose head says less is inspected to the end',
  async (bytes) => {
    const pool = newPool();
    pool.load('good', { fault: 'none', phase: 0 } satisfies FaultPlan, true);
    pool.start();
    for (const [text, action] of [
      ['a=evil', 'block'],
      ['a=good', 'pass'],
    ] as const) {
      const fields: [string, string][] = [
        ['Host', 'a'],
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ['Transfer-Encoding', 'chunked'],
      ];
      const request = makeRequest('POST', '/', 'HTTP/1.1', fields, makeConnection());
      const session = pool.open(request, { policy: 'good', recordOnly: false });
      expect((await session.requestHead()).action).toBe('pass');
      const body = { bytes: Buffer.from(text.padEnd(bytes, '.')), truncated: false };
      expect((await session.requestBody(body)).action).toBe('pass');
      await session.responseHead(makeResponse(200, 'HTTP/1.1', []));
      expect((await session.responseBody(null)).action).toBe(action);
      const record = await session.finish();
      expect(record.failure).toBeUndefined();
      expect(record.matchedRules.length).toBe(action === 'block' ? 1 : 0);
    }
  },
);
