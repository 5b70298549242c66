/** Tests of the front threads: one port, one generation for all, deaths survived, clean stop. */

import { rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { RequestEvent } from '../../engine/contract/events.ts';
import type { OverloadStatus } from '../../engine/contract/overload.ts';
import { noRoutes } from '../../engine/contract/site.ts';
import { EventPacker, unpackEvents } from '../../engine/front/facts/event-wire.ts';
import { Closing, httpOrigin, RawClient, siteFor } from '../../engine/front/fixtures/fixture.ts';
import { startFrontThreads, type FrontThreadsOptions } from '../../engine/front/threads/threads.ts';
import { eventually } from '../support/eventually.ts';
import { transpileTree } from './transpile.ts';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const closing = new Closing();
let entry: URL;
let folder: string;

beforeAll(async () => {
  ({ url: entry, folder } = await transpileTree(root, 'test/http/front-thread-entry.ts'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => closing.run());

function optionsFor(
  origin: number,
  change: Partial<FrontThreadsOptions> = {},
): FrontThreadsOptions {
  return {
    entry,
    count: 2,
    listen: { host: '127.0.0.1', port: 0 },
    routes: { ...noRoutes, revision: 'r1', sites: [siteFor(origin)] },
    onEvents: () => undefined,
    ...change,
  };
}

async function get(port: number): Promise<string> {
  const client = new RawClient(port);
  return client.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').all();
}

describe('front threads', () => {
  test('serve one port, report every request, drain', async () => {
    const origin = await httpOrigin(closing, (_, response) => response.end('hello'));
    const events: RequestEvent[] = [];
    const threads = await startFrontThreads(
      optionsFor(origin, { onEvents: (batch) => events.push(...batch) }),
    );
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(threads.port)));
    expect(answers.every((answer) => answer.endsWith('hello'))).toBe(true);
    await threads.drain();
    expect(events).toHaveLength(20);
    expect(events[0]).toMatchObject({ status: 200, outcome: 'served', transaction: null });
    expect(new Set(events.map((event) => event.requestId)).size).toBe(20);
  });

  test('all serve a new generation once it is applied; a bad one changes nothing', async () => {
    const old = await httpOrigin(closing, (_, response) => response.end('old'));
    const next = await httpOrigin(closing, (_, response) => response.end('next'));
    const released: string[] = [];
    const threads = await startFrontThreads(
      optionsFor(old, { onReleased: (revision) => released.push(revision) }),
    );
    closing.add(() => threads.drain());
    await threads.apply({ ...noRoutes, revision: 'r2', sites: [siteFor(next)] });
    const answers = await Promise.all(Array.from({ length: 10 }, () => get(threads.port)));
    expect(answers.every((answer) => answer.endsWith('next'))).toBe(true);
    await expect(
      threads.apply({ ...noRoutes, revision: 'broken', sites: [] }),
    ).rejects.toMatchObject({
      code: 'front_thread',
    });
    expect(await get(threads.port)).toMatch(/next$/);
    await eventually(() => released.length >= 2);
    expect(released).toEqual(['r1', 'r1']);
  });

  test('a thread that dies is replaced', async () => {
    const origin = await httpOrigin(closing, (_, response) => response.end('alive'));
    let deaths = 0;
    const threads = await startFrontThreads(
      optionsFor(origin, { onThreadDied: () => deaths++, count: 1 }),
    );
    closing.add(() => threads.drain());
    const deadly = {
      ...noRoutes,
      revision: 'r2',
      sites: [
        siteFor(origin, {
          name: 'dies',
          waf: { enabled: true, mode: 'blocking', failPolicy: 'closed' },
        }),
      ],
    };
    await threads.apply(deadly).catch(() => undefined);
    await threads
      .apply({ ...noRoutes, revision: 'r3', sites: [siteFor(origin)] })
      .catch(() => undefined);
    await eventually(async () => (await get(threads.port)).endsWith('alive') && deaths > 0);
    expect(deaths).toBe(1);
  });

  test('an overloaded one follows the fail policy of sites until its load is gone', async () => {
    const origin = await httpOrigin(closing, (_, response) => response.end('served'));
    const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
    const sites = [
      siteFor(origin, { id: 'closed', hosts: ['closed'], waf }),
      siteFor(origin, { id: 'open', hosts: ['open'], waf: { ...waf, failPolicy: 'open' } }),
      siteFor(origin, { id: 'off', hosts: ['off'] }),
    ];
    const told: OverloadStatus[] = [];
    const events: RequestEvent[] = [];
    const routes = { ...noRoutes, revision: 'inspected', sites };
    const threads = await startFrontThreads(
      optionsFor(origin, {
        ...{ routes, count: 1, settings: { heldBytesMax: 1_000, headTimeoutMs: 120_000 } },
        onOverload: (status) => told.push(status),
        onEvents: (batch) => events.push(...batch),
      }),
    );
    closing.add(() => threads.drain());
    const ask = async (host: string): Promise<string> => {
      const wire = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      return (await new RawClient(threads.port).send(wire).all()).slice(9, 12);
    };
    // A head that never ends takes up what the thread may hold.
    const slow = new RawClient(threads.port).send(`GET / HTTP/1.1\r\nA: ${'x'.repeat(930)}`);
    await eventually(() => told.at(-1)?.state === 'shedding');
    expect(told.at(-1)).toMatchObject({ action: 'fail_policy', cause: 'held_bytes' });
    const answers = new Set<string>();
    await eventually(async () => answers.add(await ask('closed')).size === 2);
    expect([...answers].toSorted()).toEqual(['200', '503']);
    for (let at = 0; at < 4; at++) expect(await ask('open')).toBe('200');
    for (let at = 0; at < 4; at++) expect(await ask('off')).toBe('200');
    slow.socket.destroy();
    await eventually(() => told.at(-1)?.state === 'normal');
    expect(await ask('closed')).toBe('200');
    await eventually(() => events.some(({ siteId }) => siteId === 'off'));
    const failures = (site: string): (string | undefined)[] =>
      events.filter(({ siteId }) => siteId === site).map((one) => one.transaction?.failure);
    expect(failures('closed')).toContain('overload');
    expect(failures('open')).toContain('overload');
    expect(new Set(failures('off'))).toEqual(new Set([undefined]));
  });

  test('a port in use is an error that names it', async () => {
    const origin = await httpOrigin(closing, (_, response) => response.end());
    const busy = optionsFor(origin, { listen: { host: '127.0.0.1', port: origin }, count: 1 });
    await expect(startFrontThreads(busy)).rejects.toMatchObject({ code: 'listen_failed' });
  });
});

test('events survive the wire', () => {
  const event: RequestEvent = {
    requestId: 'id',
    siteId: '',
    receivedAtMs: 1,
    durationUs: 2.5,
    originUs: -1,
    clientIp: '::1',
    clientPort: 3,
    method: 'GET',
    host: '\xe4',
    target: '/?\xff',
    httpVersion: 'HTTP/1.1',
    userAgent: '',
    status: 403,
    outcome: 'blocked',
    blocked: true,
    refusal: null,
    bytesIn: 4,
    bytesOut: 5,
    endpoint: null,
    transaction: null,
  };
  const passed = {
    verdict: { action: 'pass', status: 0, ruleId: 0, phase: 0 },
    matchedRules: [],
    inboundScore: 1,
    outboundScore: 2,
    detectionOnly: false,
    inspectionUs: 7,
  } as const;
  const whole = {
    ...passed,
    verdict: { action: 'block', status: 403, ruleId: 9, phase: 2 },
  } as const;
  const rule = {
    ...{
      ruleId: 9,
      phase: 2,
      message: 'm\0\xff',
      data: '\xe4"',
      severity: 2,
      tags: ['a', 'm\0\xff'],
    },
    ...{ operator: '@rx x', matched: [{ name: 'ARGS:q', value: '\0' }], disruptive: true },
    ...{ file: 'f', line: 3, rev: '', ver: 'v', maturity: 0, accuracy: 1, log: true },
    auditLog: false,
  };
  const told = { ...whole, matchedRules: [rule, { ...rule, log: false, auditLog: true }] };
  const events = [
    event,
    { ...event, transaction: told },
    { ...event, transaction: passed, refusal: 'x', endpoint: 'a:1' },
    { ...event, transaction: whole },
  ];
  const packer = new EventPacker();
  for (const one of events) packer.add(one);
  expect(unpackEvents(structuredClone(packer.take(0)))).toEqual(events);
  expect([packer.count, packer.bytes]).toEqual([0, 0]);
});
