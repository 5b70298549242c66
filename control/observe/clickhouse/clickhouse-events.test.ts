/** Events in ClickHouse: what all drivers do, the same answers; outages, and batches twice. */

import { create, toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLogger } from '../../../base/log.ts';
import { errorFactVersion, securityFactVersion } from '../../../base/protocol-versions.ts';
import { ErrorFactBatchSchema } from '../../../proto/gen/waf/runtime/v1/observation_pb.ts';
import {
  currentClickhouse,
  oldClickhouse,
  TestClickhouse,
  type ClickhouseProgram,
} from '../../../test/support/clickhouse.ts';
import { eventually } from '../../../test/support/eventually.ts';
import {
  any,
  batchOf,
  idsOf,
  keptSince,
  securityBatch,
  startMs,
  testEventStore,
} from '../../../test/support/event-store-suite.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import type { EventStore } from '../event-store.ts';
import { openEventStore } from '../events/embedded-events.ts';
import type { EventFilter } from '../events/event-filter.ts';
import type { Question } from '../events/event-questions.ts';
import { ClickhouseServer } from './clickhouse-client.ts';
import { openClickhouseEvents } from './clickhouse-events.ts';
import { readClickhouseOption } from './clickhouse-option.ts';
import { conditionsOf } from './conditions.ts';
import { tableOf, tableStatements } from './event-tables.ts';

for (const program of [oldClickhouse, currentClickhouse]) {
  const { name, missing } = program;
  if (missing !== null) console.log(missing);
  describe.skipIf(missing !== null)(name, () => testClickhouse(program));
}

function testClickhouse(program: ClickhouseProgram): void {
  let server: TestClickhouse;
  const opened: EventStore[] = [];
  const open = (url = server.freshUrl(), kv = openMemoryKv()): EventStore => {
    const address = readClickhouseOption(url)!;
    const store = openClickhouseEvents({ address, kv, logger: silentLogger, insertDelayMs: 0 });
    opened.push(store);
    return store;
  };
  beforeAll(async () => {
    server = await TestClickhouse.start(program);
  });
  afterAll(async () => {
    for (const store of opened) await store.close();
    await server?.stop();
  });

  testEventStore(program.name, () =>
    Promise.resolve({ store: open(), seal: () => Promise.resolve() }),
  );

  test.skipIf(program === oldClickhouse).each([
    ['new tables', true],
    ['tables of an old server', false],
  ])('rare values are looked up in indexes, in %s', async (_name, indexed) => {
    const url = server.freshUrl();
    const address = readClickhouseOption(url)!;
    const asked = new ClickhouseServer(address);
    for (const statement of tableStatements(address, indexed)) await asked.command(statement);
    const batch = securityBatch(1, 50);
    expect(await open(url).ingest('security', batch, securityFactVersion)).toBe('stored');
    for (const [index, change] of Object.entries(indexedFilters)) {
      const where = conditionsOf('security', { ...any, ...change }, '');
      const select = `SELECT at FROM ${tableOf(address, 'security')} WHERE ${where}`;
      const plan = await asked.bytes(`EXPLAIN indexes = 1 ${select}`, 'TabSeparatedRaw');
      expect(plan.toString('utf8')).toContain(`Name: ${index}`);
    }
    await asked.close();
  });

  test('what is stored while the tables are measured counts once', async () => {
    const store = open();
    const all = keptSince(0);
    const lanes = { security: all, access: all, access_sample: all, error: all };
    for (let seq = 1; seq <= 20; seq++) {
      const batch = securityBatch(seq, 3, startMs + seq * 1_000);
      const taken = store.ingest('security', batch, securityFactVersion);
      await Promise.all([store.forget(lanes), taken]);
      expect(store.count()).toBe(3 * seq);
    }
  });

  test('answers are those of the embedded driver, but for ids', async () => {
    const stores = [openEventStore(openMemoryKv()), open()];
    for (const store of stores) {
      for (let seq = 1; seq <= 4; seq++) {
        const batch = securityBatch(seq, 120, startMs + seq * 1_000);
        expect(await store.ingest('security', batch, securityFactVersion)).toBe('stored');
      }
    }
    const wanted = [
      ...(['SECURITY_SUMMARY_DIMENSION_RULE', 'SECURITY_SUMMARY_DIMENSION_ATTACKER'] as const),
      ...(['SECURITY_SUMMARY_DIMENSION_PATH', 'SECURITY_SUMMARY_DIMENSION_ATTACK_TYPE'] as const),
    ];
    for (const change of filters) {
      const filter = { ...any, ...change };
      const questions: Question[] = [
        { ask: 'page', kind: 'security', filter, beforeId: '', offset: 3, limit: 50 },
        { ask: 'part', kind: 'security', filter, beforeId: '', bytesMax: 20_000 },
        { ask: 'summary', filter, wanted, topLimit: 7, withTrend: true },
      ];
      for (const question of questions) {
        const [first, second] = await Promise.all(stores.map((one) => one.ask(question)));
        expect(withoutIds(second), `${question.ask} of ${JSON.stringify(change)}`).toEqual(
          withoutIds(first),
        );
      }
    }
  });

  test('texts of clients are no statements', async () => {
    const store = open();
    const texts = ["it's", 'back\\slash', "\\' OR 1=1 -- ", 'line\nbreak', 'nul\u0000', 'ünï💥'];
    const facts = texts.map((message, at) => ({
      atMs: BigInt(startMs + at),
      message,
      level: message,
    }));
    const payload = toBinary(ErrorFactBatchSchema, create(ErrorFactBatchSchema, { facts }));
    expect(await store.ingest('error', batchOf(1, payload), errorFactVersion)).toBe('stored');
    for (const text of texts) {
      const contains = [{ property: 'message', text: text.toUpperCase() }];
      for (const filter of [{ contains }, { anyOf: [{ field: 'level', values: [text] }] }]) {
        expect(await idsOf(store, 'error', filter), text).toHaveLength(1);
      }
    }
  });

  test('a batch whose answer was lost is kept once, also by another control', async () => {
    const url = server.freshUrl();
    const [first, second] = [open(url), open(url)];
    for (const store of [first, second]) {
      expect(await store.ingest('security', securityBatch(1, 50), securityFactVersion)).toBe(
        'stored',
      );
    }
    expect(await idsOf(second, 'security', {})).toHaveLength(50);
    const question = { ask: 'summary', filter: any, wanted: [], topLimit: 1 } as const;
    const { total, blocked } = await second.ask({ ...question, withTrend: false });
    expect([total, blocked]).toEqual([50, 5]);
  });

  test('without the server batches are refused, and taken when it is back; nothing is lost', async () => {
    const store = open();
    const heard: number[] = [];
    store.onFacts((_, facts) => heard.push(facts.length));
    const ingest = (seq: number) =>
      store.ingest('security', securityBatch(seq, 10), securityFactVersion);
    expect(await ingest(1)).toBe('stored');
    await server.kill();
    await expect(ingest(2)).rejects.toMatchObject({ code: 'events_unwritable' });
    expect(store.problem()).toContain('ClickHouse');
    const question = {
      ask: 'page',
      kind: 'security',
      filter: any,
      beforeId: '',
      offset: 0,
    } as const;
    await expect(store.ask({ ...question, limit: 1 })).rejects.toMatchObject({
      code: 'events_unreadable',
    });
    await server.begin();
    await eventually(async () => (await ingest(2).catch(() => '')) !== '');
    expect(await ingest(2)).toBe('repeated');
    expect(store.problem()).toBe('');
    expect(await idsOf(store, 'security', {})).toHaveLength(20);
    expect(heard).toEqual([10, 10]);
  });
}

const indexedFilters: Readonly<Record<string, Partial<EventFilter>>> = {
  by_request: { anyOf: [{ field: 'request', values: ['r-1-7', 'r-2-7'] }] },
  by_client_bytes: { networks: ['198.51.1.1', '2001:db8::1/128'] },
  by_site: { anyOf: [{ field: 'site', values: ['site-1'] }] },
  by_rule: { anyOf: [{ field: 'rule', values: ['942101'] }] },
  by_target: { anyOf: [{ field: 'target', values: ['GET shop.example/'] }] },
};

const filters: readonly Partial<EventFilter>[] = [
  {},
  { networks: ['198.51.1.0/25'] },
  { networks: ['::ffff:198.51.1.0/121', '2001:db8::/32'] },
  { pathPrefix: '/api/v2' },
  { startMs: startMs + 2_050, endMs: startMs + 4_010 },
  { anyOf: [{ field: 'rule', values: ['942101', '942104'] }] },
  { anyOf: [{ field: 'rule', values: ['nonsense', '99999999999'] }] },
  {
    anyOf: [
      { field: 'severity', values: ['critical'] },
      { field: 'status', values: ['403'] },
      { field: 'attack', values: ['sqli', 'xss'] },
    ],
  },
  { tenantId: "' OR '' = '" },
];

function withoutIds(answer: unknown): unknown {
  if (answer === null || typeof answer !== 'object') return answer;
  const { ndjson, lastId: _, ...rest } = answer as Record<string, unknown>;
  const text = JSON.stringify(rest, (key, value: unknown) => {
    if (key === 'id') return undefined;
    if (value instanceof Map) return [...value];
    return typeof value === 'bigint' ? String(value) : value;
  });
  const lines = ndjson instanceof Uint8Array ? Buffer.from(ndjson).toString('utf8') : '';
  return [JSON.parse(text), lines.replace(/"id":"[^"]*",?/g, '')];
}
