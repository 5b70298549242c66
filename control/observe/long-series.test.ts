/** Proves that lists, sums and exports reach the last row, and let others work meanwhile. */

import { create } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import { beforeAll, expect, test } from 'vitest';
import { QueryAuditRequestSchema } from '../../proto/gen/waf/v1/audit_pb.ts';
import {
  ExportSecurityEventsRequestSchema,
  QuerySecurityEventsRequestSchema,
  SecurityEventOutcome,
} from '../../proto/gen/waf/v1/log_pb.ts';
import { queryAudit } from '../api/audit-service/query-audit.ts';
import type { ApiParts } from '../api/context.ts';
import { exportSecurityEvents } from '../api/log-service/export-events.ts';
import { callLimits } from '../limits/call-limits.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import type { EventStore } from './event-store.ts';
import { openEventStore } from './events/embedded-events.ts';
import { entryForm } from './events/entry.ts';
import { makeEventId } from './events/event-id.ts';
import { EventLog } from './events/event-log.ts';
import { paced } from './paced.ts';
import { queryEvents, securityFilter } from './query.ts';
import { securityKind } from './security-event.ts';

/** More than any of them looked at before. */
const rows = 202_000;
const tenantId = 'default';
const caller = { tenantId, userId: 'u', username: 'u', roles: [], permissions: new Set() };
const context = (signal = new AbortController().signal): HandlerContext =>
  ({ values: { get: () => caller }, signal }) as unknown as HandlerContext;

const occurredAt = '2026-01-01T00:00:00Z';
const idOf = (at: number): string => makeEventId(Date.parse(occurredAt), at);
let events: EventStore;

/** In segments; the oldest event is the only one of its rule. */
beforeAll(async () => {
  const kv = openMemoryKv();
  events = openEventStore(kv);
  const log = new EventLog(kv, 'security', securityKind);
  const perSegment = observationLimits.segmentEventsMin;
  for (let from = 1; from <= rows; from += perSegment) {
    const count = Math.min(perSegment, rows + 1 - from);
    const entries = Array.from({ length: count }, (_, at) => {
      const id = idOf(from + at);
      const ruleIds = [from + at === 1 ? '1' : '2'];
      const blocked = (from + at) % 2 === 0;
      const path = '/x'.repeat(20);
      const event = { id, tenantId, agentId: 'a', ruleIds, occurredAt, blocked, path };
      const bytes = Buffer.from(JSON.stringify(event));
      return { id, agentId: 'a', tenantId, form: entryForm.json, bytes };
    });
    await log.adopt(entries, () => undefined);
  }
});

const query = (change: object = {}) =>
  create(QuerySecurityEventsRequestSchema, { outcome: SecurityEventOutcome.ANY, ...change });

/** How often others got their turn while `work` ran. */
async function turnsDuring<T>(work: Promise<T>): Promise<[T, number]> {
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const result = await work;
  over = true;
  return [result, turns];
}

test('one page reaches the oldest event, however many do not fit', async () => {
  const filter = securityFilter(tenantId, query({ ruleIds: ['1'] }));
  const page = await queryEvents(events, 'security', filter, undefined);
  expect(page.items.map(({ id }) => id)).toEqual([idOf(1)]);
  expect(page).toMatchObject({ hasMore: false, nextCursor: '' });
});

test('a page that looks at every event lets others work meanwhile', async () => {
  const filter = { ...securityFilter(tenantId, query()), pathPrefix: '/x/x/y' };
  const [page, turns] = await turnsDuring(queryEvents(events, 'security', filter, undefined));
  expect(page.items).toEqual([]);
  const slow = { ...filter, pathPrefix: '', contains: [{ property: 'host', text: 'none' }] };
  const [none, more] = await turnsDuring(queryEvents(events, 'security', slow, undefined));
  expect(none.items).toEqual([]);
  expect(turns + more).toBeGreaterThan(3);
});

test('a summary counts every event', async () => {
  const filter = securityFilter(tenantId, query());
  const wanted = ['SECURITY_SUMMARY_DIMENSION_SITE'] as const;
  const question = { ask: 'summary', filter, wanted, topLimit: 10, withTrend: true } as const;
  const [sum, turns] = await turnsDuring(events.ask(question));
  expect(sum).toMatchObject({ total: rows, blocked: rows / 2 });
  expect(sum.trend).toEqual([{ atMs: Date.parse(occurredAt), count: rows, blocked: rows / 2 }]);
  expect(turns).toBeGreaterThan(3);
});

test('an export in parts marks each part and holds every event once', async () => {
  const audited: object[] = [];
  const parts = {
    events,
    clock: { nowMs: () => 0 },
    store: {
      write: (change: (tx: object) => void) =>
        Promise.resolve(change({ audit: (row: object) => audited.push(row) })),
    },
  } as unknown as ApiParts;
  const seen = new Set<string>();
  let cursor = '';
  let answers = 0;
  for (;;) {
    const request = create(ExportSecurityEventsRequestSchema, { query: query(), cursor });
    const { ndjson, nextCursor, hasMore } = (await exportSecurityEvents(parts)(
      request,
      context(),
    )) as {
      ndjson: Uint8Array;
      nextCursor: string;
      hasMore: boolean;
    };
    answers++;
    expect(ndjson.length).toBeLessThanOrEqual(callLimits.exportPartBytesMax);
    expect(hasMore).toBe(nextCursor !== '');
    for (const line of Buffer.from(ndjson).toString().trimEnd().split('\n')) {
      seen.add((JSON.parse(line) as { id: string }).id);
    }
    if (!hasMore) break;
    cursor = nextCursor;
  }
  expect(seen.size).toBe(rows);
  expect(answers).toBeGreaterThan(1);
  expect(audited).toHaveLength(answers);
});

test('audit pages reach the first row, with the total of all', async () => {
  const auditRows = function* () {
    for (let at = rows; at >= 1; at--) {
      const id = String(at).padStart(16, '0');
      const action = at === 1 ? 'first' : 'other';
      yield { id, tenantId, action, actorName: '', createdAt: '2026-01-01T00:00:00Z' };
    }
  };
  const parts = { store: { auditRows } } as unknown as ApiParts;
  const ask = async (change: object) =>
    (await queryAudit(parts)(create(QueryAuditRequestSchema, change), context())) as {
      items: { id: string }[];
      page: { hasMore: boolean };
      total: bigint;
    };
  const [one, turns] = await turnsDuring(ask({ action: 'first' }));
  expect(one.items.map(({ id }) => Number(id))).toEqual([1]);
  expect(turns).toBeGreaterThan(3);
  const cursor = '3'.padStart(16, '0');
  const last = await ask({ page: { cursor, pageSize: 50 } });
  expect(last.items.map(({ id }) => Number(id))).toEqual([2, 1]);
  expect(last.page.hasMore).toBe(false);
  expect(last.total).toBe(BigInt(rows));
});

test('whoever is gone is not read for any further', async () => {
  const gone = new AbortController();
  let read = 0;
  const reading = async (): Promise<void> => {
    const endless = function* (): Generator<number> {
      for (;;) yield read++;
    };
    for await (const at of paced(endless(), { signal: gone.signal }))
      if (at === 10_000) gone.abort();
  };
  await expect(reading()).rejects.toThrow(/abort/i);
});
