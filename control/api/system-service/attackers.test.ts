/**
 * Proves where attackers are shown to come from: in the overview, its parts and the summary, with
 * events in LMDB and in ClickHouse.
 */

import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  currentClickhouse,
  oldClickhouse,
  TestClickhouse,
  type ClickhouseProgram,
} from '../../../test/support/clickhouse.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { silentLogger } from '../../../base/log.ts';
import { SecurityFactBatchSchema } from '../../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { securityFactVersion } from '../../../base/protocol-versions.ts';
import { crc32c } from '../../../base/crc32c.ts';
import { openClickhouseEvents } from '../../observe/clickhouse/clickhouse-events.ts';
import { readClickhouseOption } from '../../observe/clickhouse/clickhouse-option.ts';
import type { EventStore } from '../../observe/event-store.ts';
import { openEventStore } from '../../observe/events/embedded-events.ts';
import { openLmdbKv } from '../../store/lmdb-kv.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';

/** Three events from one country, one from another, one from nowhere. */
async function fill(events: EventStore): Promise<void> {
  const addresses = ['8.8.8.8', '8.8.8.8', '8.8.4.4', '193.0.6.139', '127.0.0.1'];
  const facts = addresses.map((clientIp, at) => ({
    requestId: `r${at}`,
    receivedAtMs: BigInt(Date.now() - 60_000),
    clientIp,
    status: 403,
    blocked: true,
    outcome: 'blocked',
  }));
  const payload = toBinary(SecurityFactBatchSchema, create(SecurityFactBatchSchema, { facts }));
  const header = { agentId: 'local', tenantId: 'default', bootId: '00', batchSeq: 1n };
  const batch = { ...header, crc32c: crc32c(payload), payload };
  expect(await events.ingest('security', batch, securityFactVersion)).toBe('stored');
}

describe('LMDB', () => {
  testPlaces(() =>
    startTestControl({}, async (folder) => {
      const kv = openLmdbKv({ folder: join(folder, '..', 'events'), durable: false });
      await fill(openEventStore(kv));
      await kv.close();
    }),
  );
});

for (const program of [oldClickhouse, currentClickhouse]) {
  const { name, missing } = program;
  if (missing !== null) console.log(missing);
  describe.skipIf(missing !== null)(name, () => testPlacesIn(program));
}

function testPlacesIn(program: ClickhouseProgram): void {
  let server: TestClickhouse;
  // Hooks end in reverse: control goes first.
  afterAll(() => server?.stop());
  testPlaces(async () => {
    server = await TestClickhouse.start(program);
    const clickhouse = readClickhouseOption(server.freshUrl())!;
    const options = { address: clickhouse, kv: openMemoryKv(), logger: silentLogger };
    const events = openClickhouseEvents({ ...options, insertDelayMs: 0 });
    await fill(events);
    await events.close();
    return startTestControl({ clickhouse });
  });
}

/** Asks a control that has the events. */
function testPlaces(start: () => Promise<TestControl>): void {
  let waf: TestControl;
  beforeAll(async () => {
    waf = await start();
  });
  afterAll(() => waf?.control.close());

  test('the overview ranks countries and names those of attackers', async () => {
    const { body } = await waf.call('SystemService/GetDashboardOverview', { topKLimit: 1 });
    expect(body['securityTopCountries']).toEqual({
      items: [{ key: 'US', count: '3' }],
      otherCount: '2',
      totalWeight: '5',
    });
    const geo = { countryCode: 'US', countryName: 'United States' };
    const first = { items: [{ key: '8.8.8.8', count: '2', geo }], totalWeight: '5' };
    expect(body['securityTopAttackers']).toMatchObject(first);
    expect(body['topAttackers']).toEqual([{ clientIp: '8.8.8.8', count: '2', geo }]);
  });

  test('so do the list of attackers and the summary of the log; some addresses have no country', async () => {
    const { body } = await waf.call('SystemService/GetTopAttackers', {});
    const items = body['items'] as { clientIp: string; geo?: { countryCode: string } }[];
    const codes = Object.fromEntries(items.map((one) => [one.clientIp, one.geo?.countryCode]));
    expect(codes).toMatchObject({ '8.8.4.4': 'US', '193.0.6.139': 'NL' });
    expect(codes['127.0.0.1']).toBeUndefined();
    const dimensions = ['SECURITY_SUMMARY_DIMENSION_ATTACKER'];
    const asked = { query: { outcome: 'SECURITY_EVENT_OUTCOME_ANY' }, dimensions, topLimit: 1 };
    const summary = await waf.call('LogService/GetSecurityLogSummary', asked);
    expect(summary.body).toMatchObject({
      total: '5',
      topIps: [{ key: '8.8.8.8', count: '2', geo: { countryCode: 'US' } }],
    });
  });
}
