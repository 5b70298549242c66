/** Proves that a filter by country finds the clients of that country, all of them or an error. */

import { create, toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { securityFactVersion } from '../../../base/protocol-versions.ts';
import { SecurityFactBatchSchema } from '../../../proto/gen/waf/runtime/v1/observation_pb.ts';
import {
  QuerySecurityEventsRequestSchema,
  SecurityEventOutcome,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { any, batchOf, idsOf, startMs } from '../../../test/support/event-store-suite.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import type { EventStore } from '../../observe/event-store.ts';
import { openEventStore } from '../../observe/events/embedded-events.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore, type Store } from '../../store/store.ts';
import { securityFilterOf } from './country-filter.ts';

let store: Store;
let events: EventStore;
beforeAll(async () => {
  store = await openStore(openMemoryKv(), systemClock);
  events = openEventStore(openMemoryKv());
  // Two of the United States, one of Germany, one of no country.
  const clients = ['8.8.8.8', '8.8.4.4', '193.99.144.80', '127.0.0.1', '8.8.8.8'];
  await events.ingest('security', batchFrom(clients), securityFactVersion);
});
afterAll(async () => {
  await events.close();
  await store.close();
});

function batchFrom(clients: readonly string[]) {
  const facts = clients.map((clientIp, at) => ({
    ...{ clientIp, requestId: `r-${at}`, receivedAtMs: BigInt(startMs + at) },
    matches: [{ ruleId: 942_100 + (at % 2), severity: 2 }],
  }));
  return batchOf(1, toBinary(SecurityFactBatchSchema, create(SecurityFactBatchSchema, { facts })));
}

const filterOf = (parts: { events: EventStore }, countryCodes: string[], ruleIds: string[] = []) =>
  securityFilterOf(
    { store, ...parts },
    any.tenantId,
    create(QuerySecurityEventsRequestSchema, {
      ...{ countryCodes, ruleIds, outcome: SecurityEventOutcome.ANY },
    }),
    new AbortController().signal,
  );

test.each([
  ['one country', ['US'], [], ['r-4', 'r-1', 'r-0']],
  ['one of two countries', ['US', 'DE'], [], ['r-4', 'r-2', 'r-1', 'r-0']],
  ['a country and a rule', ['US'], ['942100'], ['r-4', 'r-0']],
  ['a country from which nobody came', ['AQ'], [], []],
  ['no country', [], [], ['r-4', 'r-3', 'r-2', 'r-1', 'r-0']],
])('%s', async (_name, countries, rules, found) => {
  expect(await idsOf(events, 'security', await filterOf({ events }, countries, rules))).toEqual(
    found,
  );
});

test.each([
  ['more clients in the country than a filter holds', observationLimits.countryClientsMax + 1],
  ['more clients than are counted', observationLimits.summaryKeysMax + 1],
])('%s: refused, as some would be missing', async (_name, count) => {
  const entries = Array.from({ length: count }, (_, at) => {
    const key = `8.8.${at >> 8}.${at & 255}`;
    return { key, count: 1n, label: '' };
  });
  const many = {
    ...events,
    ask: () => Promise.resolve({ entries, events: count, limited: false }),
  };
  const asked = filterOf({ events: many as never }, ['US']);
  await expect(asked).rejects.toMatchObject({ code: 'resource_exhausted' });
});
