/**
 * What the index finds, page after page, is what a look at each event finds: random events in
 * segments that overlap, in segments of earlier versions and in the tail, and random filters.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { securityFactVersion } from '../../../base/protocol-versions.ts';
import { SecurityFactBatchSchema } from '../../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { SecurityEventJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import { any, batchOf, startMs } from '../../../test/support/event-store-suite.ts';
import { seededRandom } from '../../../test/support/random.ts';
import { prefixRange, type Kv } from '../../store/kv.ts';
import { openLmdbKv } from '../../store/lmdb-kv.ts';
import { securityKind } from '../security-event.ts';
import { openEventStore } from './embedded-events.ts';
import { addressCheck, type EventFilter } from './event-filter.ts';
import { EventLog } from './event-log.ts';

type Draw = (below: number) => number;
type Pair = readonly [string, string];

const methods = ['GET', 'POST', 'PUT'];

function factOf(number: number, draw: Draw) {
  const rules = Array.from({ length: draw(3) }, () => 942_100 + draw(12));
  return {
    requestId: `r-${draw(5) === 0 ? draw(50) : number}`,
    siteId: draw(20) === 0 ? '' : `site-${draw(12)}`,
    receivedAtMs: BigInt(startMs + draw(3000)),
    clientIp: draw(4) === 0 ? `2001:db8:${draw(3)}::${draw(9)}` : `198.51.${draw(3)}.${draw(40)}`,
    method: Buffer.from(methods[draw(3)]!),
    host: Buffer.from(`shop-${draw(4)}.example`),
    target: Buffer.from(`/api/v${draw(3)}/items/${draw(30)}?q=${draw(9)}`),
    status: [200, 403, 404][draw(3)]!,
    blocked: draw(3) === 0,
    matches: rules.map((ruleId) => ({
      ...{ ruleId, message: `rule ${ruleId}`, severity: 2 + draw(3) },
      tags: [['attack-sqli', 'attack-xss'][draw(2)]!],
    })),
  };
}

/** Events whose arrival is not the order of their time; some segments are as earlier versions'. */
async function fill(kv: Kv, draw: Draw) {
  const store = openEventStore(kv);
  const log = new EventLog(kv, 'security', securityKind);
  for (let seq = 1; seq <= 10; seq++) {
    const facts = Array.from({ length: 1 + draw(120) }, (_, at) => factOf(seq * 1000 + at, draw));
    const batch = create(SecurityFactBatchSchema, { facts });
    const payload = toBinary(SecurityFactBatchSchema, batch);
    await store.ingest('security', batchOf(seq, payload), securityFactVersion);
    // The last one stays in the tail, with what came since the last segment.
    if (seq < 10 && draw(2) === 0) await log.seal();
  }
  const infos = [...kv.range(prefixRange('evi\u0000'))];
  const earlier = infos.filter(() => draw(3) === 0);
  await kv.write((writer) => {
    for (const { key, value } of earlier) {
      const { chunks, ...rest } = JSON.parse(Buffer.from(value).toString()) as { chunks: number };
      expect(chunks).toBeGreaterThan(0);
      const maxId = key.split('\u0000')[2]!;
      const own = [...writer.range(prefixRange('evf\u0000'))].filter(
        (chunk) => chunk.key.split('\u0000')[3] === maxId,
      );
      expect(own).toHaveLength(chunks);
      // Some have no digest, some have it among their parts.
      const among = draw(2) === 0;
      const digest = among ? { digest: chunks } : {};
      writer.put(key, Buffer.from(JSON.stringify({ ...rest, ...digest })));
      for (const chunk of own) {
        writer.remove(chunk.key);
        const at = chunk.key.split('\u0000')[4]!;
        const part = `evs\u0000security\u0000${maxId}\u0000f\u0000${at}`;
        if (among) writer.put(part, chunk.value);
      }
    }
  });
  return openEventStore(kv);
}

/** Most values are of an event; some of none. */
function pairOf(events: readonly SecurityEventJson[], draw: Draw): Pair {
  const fields = ['request', 'site', 'rule', 'outcome', 'severity', 'attack', 'target', 'method'];
  const field = fields[draw(fields.length)]!;
  if (draw(12) === 0) return [field, 'of none'];
  const values = securityKind.termsOf(events[draw(events.length)]!)[field] ?? [];
  return [field, values.length === 0 ? 'of none' : values[draw(values.length)]!];
}

function filterOf(events: readonly SecurityEventJson[], draw: Draw): EventFilter {
  const anyOf = Array.from({ length: draw(4) }, () => {
    const [field, value] = pairOf(events, draw);
    const others = Array.from({ length: draw(6) === 0 ? 1 + draw(20) : 0 }, () =>
      pairOf(events, draw),
    );
    return { field, values: [value, ...others.filter(([of]) => of === field).map(([, v]) => v)] };
  });
  const address = events[draw(events.length)]!.clientIp ?? '';
  const isV6 = address.includes(':');
  const bits = isV6 ? [128, 64, 48, 40][draw(4)]! : [32, 32, 24, 30][draw(4)]!;
  const from = startMs + draw(3000);
  return {
    ...any,
    tenantId: draw(15) === 0 ? 'other' : any.tenantId,
    anyOf,
    networks: draw(3) === 0 ? [`${address}/${bits}`] : [],
    pathPrefix: draw(5) === 0 ? `/api/v${draw(4)}/items/${draw(10)}` : '',
    ...(draw(3) === 0 ? { startMs: from, endMs: from + draw(1500) } : {}),
  };
}

/** Without the index: what a filter says, of the event as it is shown. */
function fits(event: SecurityEventJson, filter: EventFilter): boolean {
  const atMs = Date.parse(event.occurredAt ?? '');
  if (event.tenantId !== filter.tenantId) return false;
  if (atMs < filter.startMs || atMs >= filter.endMs) return false;
  const inNetworks = addressCheck(filter.networks);
  if (inNetworks !== null && !inNetworks(event.clientIp ?? '')) return false;
  if (!(event.path ?? '').startsWith(filter.pathPrefix)) return false;
  const terms = securityKind.termsOf(event);
  return filter.anyOf.every(({ field, values }) =>
    (terms[field] ?? []).some((one) => values.includes(one)),
  );
}

test.each(Array.from({ length: 6 }, (_, seed) => seed))(
  'pages by any filter hold what a look at each event finds (seed %i)',
  async (seed) => {
    const random = seededRandom(seed + 1);
    const draw: Draw = (below) => Math.floor(random() * below);
    const folder = mkdtempSync(join(tmpdir(), 'waf-scan-'));
    const kv = openLmdbKv({ folder, durable: false });
    const store = await fill(kv, draw);
    const page = async (filter: EventFilter, beforeId: string, limit: number) =>
      store.ask({ ask: 'page', kind: 'security', filter, beforeId, offset: 0, limit });
    const events = (await page(any, '', 1e6)).items;
    expect(events.length).toBe(store.count());
    let found = 0;
    for (let round = 0; round < 30; round++) {
      const filter = filterOf(events, draw);
      const expected = events.filter((event) => fits(event, filter)).map(({ id }) => id);
      const limit = 5 + draw(60);
      const seen: (string | undefined)[] = [];
      for (let beforeId = ''; ; beforeId = seen.at(-1) ?? '') {
        const { items, hasMore } = await page(filter, beforeId, limit);
        seen.push(...items.map(({ id }) => id));
        if (!hasMore) break;
        expect(items).toHaveLength(limit);
      }
      expect(seen, JSON.stringify(filter)).toEqual(expected);
      found += expected.length;
    }
    expect(found).toBeGreaterThan(0);
    await store.close();
    rmSync(folder, { recursive: true });
  },
);
