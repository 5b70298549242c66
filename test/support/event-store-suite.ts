/** What every driver of the event store is tested for. */

import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import type { EventStore, IncomingBatch } from '../../control/observe/event-store.ts';
import type { EventFilter } from '../../control/observe/events/event-filter.ts';
import type { KindName } from '../../control/observe/events/event-questions.ts';
import { crc32c } from '../../base/crc32c.ts';
import {
  accessFactVersion,
  errorFactVersion,
  securityFactVersion,
} from '../../base/protocol-versions.ts';
import {
  AccessFactBatchSchema,
  ErrorFactBatchSchema,
  SecurityFactBatchSchema,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';

const tenantId = 't';
/** When the first event happened. */
export const startMs = 1_700_000_000_000;
const hourMs = 3_600_000;
/** A filter that every event of the tenant fits. */
export const any: EventFilter = {
  tenantId,
  startMs: 0,
  endMs: 8e13,
  anyOf: [],
  networks: [],
  pathPrefix: '',
  contains: [],
};

/** A retention without details of their own. */
export function keptSince(standardMs: number, sites: readonly (readonly [string, number])[] = []) {
  return { events: { standardMs, sites: new Map(sites) }, details: null };
}

/** The batch of a payload. */
export function batchOf(seq: number, payload: Uint8Array): IncomingBatch {
  const identity = { agentId: 'a', tenantId, bootId: '00', batchSeq: BigInt(seq) };
  return { ...identity, crc32c: crc32c(payload), payload };
}

/** One attack of ten; each client comes every 50th time. */
export function securityBatch(seq: number, count: number, atMs = startMs): IncomingBatch {
  const facts = Array.from({ length: count }, (_, at) => ({
    requestId: `r-${seq}-${at}`,
    siteId: `site-${at % 3}`,
    receivedAtMs: BigInt(atMs + at),
    clientIp: `198.51.${at % 2}.${at % 50}`,
    method: Buffer.from('GET'),
    host: Buffer.from('shop.example'),
    target: Buffer.from(`/api/v${at % 4}/items?q=1`),
    status: 403,
    blocked: at % 10 === 0,
    matches: [
      { ruleId: 942_100 + (at % 5), message: `rule ${at % 5}`, severity: 2, tags: ['attack-sqli'] },
    ],
  }));
  return batchOf(
    seq,
    toBinary(SecurityFactBatchSchema, create(SecurityFactBatchSchema, { facts })),
  );
}

/** Request ids of the events that fit, newest first. */
export async function idsOf(
  store: EventStore,
  kind: KindName,
  change: Partial<EventFilter>,
): Promise<string[]> {
  const filter = { ...any, ...change };
  const page = await store.ask({ ask: 'page', kind, filter, beforeId: '', offset: 0, limit: 1e6 });
  return page.items.map((event) => (event as { uniqueId?: string }).uniqueId ?? '');
}

/** An empty store, and a way to have it put away what it holds so far. */
export interface OpenedStore {
  readonly store: EventStore;
  readonly seal: () => Promise<void>;
}

/** Registers the suite for a driver; `open` makes an empty store. */
export function testEventStore(driver: string, open: () => Promise<OpenedStore>): void {
  testTaking(driver, open);
  testFilters(driver, open);
  testAnswers(driver, open);
  testRetention(driver, open);
}

/** Half of it put away before the rest came; the second batch is older than the first. */
async function filledStore(open: () => Promise<OpenedStore>): Promise<EventStore> {
  const { store, seal } = await open();
  expect(await store.ingest('security', securityBatch(1, 300), securityFactVersion)).toBe('stored');
  await seal();
  const late = securityBatch(2, 300, startMs - 150);
  expect(await store.ingest('security', late, securityFactVersion)).toBe('stored');
  return store;
}

function testTaking(driver: string, open: () => Promise<OpenedStore>): void {
  test(`${driver}: a batch is taken once; damaged ones and other versions are refused with the reason`, async () => {
    const { store } = await open();
    const batch = securityBatch(1, 3);
    expect(await store.ingest('security', batch, securityFactVersion)).toBe('stored');
    expect(await store.ingest('security', batch, securityFactVersion)).toBe('repeated');
    expect(await store.ingest('security', batch, securityFactVersion + 1)).toBe('schema');
    const damaged = { ...securityBatch(2, 1), crc32c: 1 };
    expect(await store.ingest('security', damaged, securityFactVersion)).toBe('crc');
    const nonsense = batchOf(3, Uint8Array.of(0x0a, 0xff));
    expect(await store.ingest('security', nonsense, securityFactVersion)).toBe('schema');
    expect(await idsOf(store, 'security', {})).toEqual(['r-1-2', 'r-1-1', 'r-1-0']);
    expect(store.count()).toBe(3);
  });

  test(`${driver}: events of segments and of the tail come in the order of time, page after page`, async () => {
    const store = await filledStore(open);
    const seen: string[] = [];
    let beforeId = '';
    for (;;) {
      const question = { ask: 'page', kind: 'security', filter: any, offset: 0, limit: 7 } as const;
      const { items, hasMore } = await store.ask({ ...question, beforeId });
      seen.push(...items.map(({ id = '' }) => id));
      if (!hasMore) break;
      beforeId = seen.at(-1) ?? '';
    }
    expect(seen).toHaveLength(600);
    expect(new Set(seen).size).toBe(600);
    expect(seen.toSorted().reverse()).toEqual(seen);
  });

  test(`${driver}: pages go over quiet hours and days, also from an offset and within a time`, async () => {
    const { store } = await open();
    const hours = [0, 0.1, 0.3, 3, 4, 60, 61, 1999.75, 2000];
    for (const [at, hour] of hours.entries()) {
      const atMs = startMs + Math.round(hour * hourMs);
      await store.ingest('security', securityBatch(at + 1, 5, atMs), securityFactVersion);
    }
    const all = await idsOf(store, 'security', {});
    const newestFirst = hours.flatMap((_, at) => [0, 1, 2, 3, 4].map((n) => `r-${at + 1}-${n}`));
    expect(all).toEqual(newestFirst.reverse());
    const question = { ask: 'page', kind: 'security', beforeId: '' } as const;
    for (const [offset, limit] of [
      [0, 5],
      [3, 9],
      [12, 27],
      [38, 5],
      [40, 5],
      [45, 5],
    ] as const) {
      const page = await store.ask({ ...question, filter: any, offset, limit });
      expect(page.items.map(({ uniqueId = '' }) => uniqueId)).toEqual(
        all.slice(offset, offset + limit),
      );
      expect(page.hasMore).toBe(offset + limit < all.length);
    }
    const within = { startMs: startMs + 3 * hourMs + 2, endMs: startMs + 61 * hourMs + 2 };
    expect(await idsOf(store, 'security', within)).toEqual(all.slice(13, 28));
    const blocked = { anyOf: [{ field: 'outcome', values: ['blocked'] }] };
    expect(await idsOf(store, 'security', blocked)).toEqual(all.filter((id) => id.endsWith('-0')));
    const before = { startMs: 0, endMs: startMs };
    expect(await idsOf(store, 'security', before)).toEqual([]);
  });
}

function testFilters(driver: string, open: () => Promise<OpenedStore>): void {
  test.each<[string, Partial<EventFilter>, number]>([
    ['all', {}, 600],
    ['a request id', { anyOf: [{ field: 'request', values: ['r-2-17'] }] }, 1],
    ['request ids', { anyOf: [{ field: 'request', values: ['r-2-17', 'r-1-299'] }] }, 2],
    ['an unknown one', { anyOf: [{ field: 'request', values: ['r-9'] }] }, 0],
    ['a rule', { anyOf: [{ field: 'rule', values: ['942101'] }] }, 120],
    ['a site', { anyOf: [{ field: 'site', values: ['site-2'] }] }, 200],
    ['blocked', { anyOf: [{ field: 'outcome', values: ['blocked'] }] }, 60],
    ['a client', { networks: ['198.51.1.1'] }, 12],
    ['a network', { networks: ['198.51.1.0/24'] }, 300],
    ['a wide network', { networks: ['198.0.0.0/7'] }, 600],
    ['a narrow one', { networks: ['198.51.0.0/29'] }, 48],
    ['another one', { networks: ['203.0.113.0/24', '2001:db8::/32'] }, 0],
    ['a path', { pathPrefix: '/api/v1/' }, 150],
    ['part of a folder', { pathPrefix: '/api/v' }, 600],
    ['a folder below', { pathPrefix: '/api/v1/items/x' }, 0],
    ['a span', { startMs, endMs: startMs + 10 }, 20],
    ['another tenant', { tenantId: 'other' }, 0],
    [
      'all of them at once',
      {
        anyOf: [
          { field: 'rule', values: ['942100'] },
          { field: 'outcome', values: ['blocked'] },
        ],
        networks: ['198.51.0.0/24'],
        pathPrefix: '/api',
      },
      60,
    ],
  ])(`${driver}: finds by %s, in segments and in the tail`, async (_name, change, count) => {
    const store = await filledStore(open);
    expect(await idsOf(store, 'security', change)).toHaveLength(count);
  });
}

function testAnswers(driver: string, open: () => Promise<OpenedStore>): void {
  test(`${driver}: sums agree with the events, whether they are in a segment or not`, async () => {
    const store = await filledStore(open);
    const wanted = ['SECURITY_SUMMARY_DIMENSION_RULE', 'SECURITY_SUMMARY_DIMENSION_SITE'] as const;
    for (const change of [{}, { networks: ['198.51.1.0/24'] }, { startMs, endMs: startMs + 100 }]) {
      const filter = { ...any, ...change };
      const events = (await idsOf(store, 'security', change)).length;
      const question = { ask: 'summary', filter, wanted, topLimit: 10, withTrend: true } as const;
      const { total, top, trend, blocked } = await store.ask(question);
      expect(total).toBe(events);
      const outcome = [{ field: 'outcome', values: ['blocked'] }];
      expect(blocked).toBe((await idsOf(store, 'security', { ...change, anyOf: outcome })).length);
      expect(trend.reduce((sum, { count }) => sum + count, 0)).toBe(events);
      const rules = top.get('SECURITY_SUMMARY_DIMENSION_RULE') ?? [];
      expect(rules.reduce((sum, { count }) => sum + Number(count), 0)).toBe(events);
      expect(rules[0]?.label).toMatch(/^rule \d$/);
    }
  });

  test(`${driver}: clients are ranked by their events, and the rest is found by single ones`, async () => {
    const store = await filledStore(open);
    const filter = { ...any, anyOf: [{ field: 'rule', values: ['942100'] }] };
    const question = { ask: 'ranking', kind: 'security', filter, field: 'client' } as const;
    const { entries, events } = await store.ask({ ...question, limit: 1000 });
    expect(events).toBe(120);
    expect(entries.map(({ count }) => Number(count))).toEqual(Array.from({ length: 10 }, () => 12));
    const [first = '', second = ''] = entries.map(({ key }) => key);
    const ofClients = async (values: readonly string[]): Promise<number> =>
      (await idsOf(store, 'security', { anyOf: [...filter.anyOf, { field: 'client', values }] }))
        .length;
    expect([await ofClients([first, second]), await ofClients([])]).toEqual([24, 0]);
  });

  test(`${driver}: one event is found by its id in a segment and in the tail`, async () => {
    const store = await filledStore(open);
    for (const request of ['r-1-150', 'r-2-150']) {
      const anyOf = [{ field: 'request', values: [request] }];
      const filter = { ...any, anyOf };
      const question = { ask: 'page', kind: 'security', filter, offset: 0, limit: 2 } as const;
      const [found] = (await store.ask({ ...question, beforeId: '' })).items;
      const id = found?.id ?? '';
      expect(await store.ask({ ask: 'get', kind: 'security', id })).toEqual(found);
    }
    const id = '00000000000000-000000000001';
    expect(await store.ask({ ask: 'get', kind: 'security', id })).toBeNull();
  });

  test(`${driver}: access and error events are found by their own filters`, async () => {
    const { store } = await open();
    const facts = Array.from({ length: 40 }, (_, at) => ({
      requestId: `a-${at}`,
      receivedAtMs: BigInt(startMs + at),
      method: Buffer.from(at % 2 === 0 ? 'GET' : 'POST'),
      target: Buffer.from('/x?y'),
      status: at % 4 === 0 ? 502 : 200,
      upstreamId: `u-${at % 5}`,
    }));
    const access = toBinary(AccessFactBatchSchema, create(AccessFactBatchSchema, { facts }));
    expect(await store.ingest('access', batchOf(1, access), accessFactVersion)).toBe('stored');
    expect(await store.ingest('access_sample', batchOf(1, access), accessFactVersion)).toBe(
      'stored',
    );
    const of = async (field: string, value: string): Promise<number> =>
      (await idsOf(store, 'access', { anyOf: [{ field, values: [value] }] })).length;
    expect([
      await of('status', '502'),
      await of('method', 'POST'),
      await of('upstream', 'u-1'),
    ]).toEqual([20, 40, 16]);
    const failures = [
      {
        atMs: BigInt(startMs),
        level: 'error',
        logger: 'upstream',
        message: 'no Connection in time',
      },
      { atMs: BigInt(startMs), level: 'warn', logger: 'http', message: 'refused: bare_lf' },
    ];
    const errors = toBinary(
      ErrorFactBatchSchema,
      create(ErrorFactBatchSchema, { facts: failures }),
    );
    expect(await store.ingest('error', batchOf(1, errors), errorFactVersion)).toBe('stored');
    const contains = [{ property: 'message', text: 'CONNECTION' }];
    expect(await idsOf(store, 'error', { contains })).toHaveLength(1);
    const anyOf = [{ field: 'level', values: ['warn'] }];
    expect(await idsOf(store, 'error', { anyOf })).toHaveLength(1);
  });
}

function testRetention(driver: string, open: () => Promise<OpenedStore>): void {
  test(`${driver}: a site with fewer days loses its own events only, wherever they lie`, async () => {
    const { store, seal } = await open();
    await store.ingest('security', securityBatch(1, 30), securityFactVersion);
    await seal();
    await store.ingest('security', securityBatch(2, 30, startMs + hourMs), securityFactVersion);
    await store.ingest(
      'security',
      securityBatch(3, 30, startMs + 48 * hourMs),
      securityFactVersion,
    );
    const nothing = keptSince(0);
    const lanes = { security: nothing, access: nothing, access_sample: nothing, error: nothing };
    const short = keptSince(0, [['site-1', startMs + 24 * hourMs]]);
    await store.forget({ ...lanes, security: short });
    const left = await idsOf(store, 'security', {});
    const own = left.filter((id) => Number(id.split('-')[2]) % 3 === 1);
    // Ten of thirty are the site's; those of the last batch are young enough.
    expect(left).toHaveLength(70);
    expect(own).toHaveLength(10);
    expect(own.every((id) => id.startsWith('r-3-'))).toBe(true);
    expect(store.count()).toBe(70);
    await store.forget({ ...lanes, security: keptSince(startMs + 400 * hourMs) });
    expect(store.use().security).toEqual({ events: 0, bytes: 0 });
    expect(await idsOf(store, 'security', {})).toEqual([]);
  });

  test(`${driver}: details go after their days, each site by its own; the events stay findable`, async () => {
    const { store } = await open();
    const fact = (siteId: string, at: number) => ({
      ...{ siteId, requestId: `r-${at}`, receivedAtMs: BigInt(startMs + at), blocked: true },
      captureReasons: ['all'],
      matches: [
        {
          ...{ ruleId: 942_100, message: 'SQL injection', severity: 2, tags: ['attack-sqli'] },
          data: 'secret data',
          matched: [{ name: Buffer.from('ARGS:q'), value: Buffer.from('secret value') }],
        },
      ],
    });
    const facts = [fact('a', 1), fact('b', 2), fact('a', 3)];
    const payload = toBinary(SecurityFactBatchSchema, create(SecurityFactBatchSchema, { facts }));
    await store.ingest('security', batchOf(1, payload), securityFactVersion);
    const nothing = keptSince(0);
    const lanes = { security: nothing, access: nothing, access_sample: nothing, error: nothing };
    const dayLater = startMs + 24 * hourMs;
    const sites = new Map([['a', dayLater]]);
    const details = { standardMs: 0, sites };
    const question = { ask: 'page', kind: 'security', beforeId: '', offset: 0, limit: 9 } as const;
    const filter = { ...any, anyOf: [{ field: 'rule', values: ['942100'] }] };
    const shown = async () => (await store.ask({ ...question, filter })).items;
    for (let round = 0; round < 2; round++) {
      await store.forget({ ...lanes, security: { ...nothing, details } });
      expect(await shown()).toMatchObject([
        { siteId: 'a', messages: [{ message: 'SQL injection' }] },
        { siteId: 'b', detailAvailable: true, messages: [{ matchValue: 'secret value' }] },
        { siteId: 'a', blocked: true, attackTypes: ['sqli'] },
      ]);
      const told = (await shown()).map((event) => JSON.stringify(event).includes('secret'));
      expect(told).toEqual([false, true, false]);
    }
    const all = { standardMs: dayLater, sites };
    await store.forget({ ...lanes, security: { ...nothing, details: all } });
    expect(JSON.stringify(await shown())).not.toContain('secret');
    expect(await shown()).toHaveLength(3);
  });
}
