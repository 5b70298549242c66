/** Proves that a filter by country finds the clients of that country, all of them or an error. */

import { create, toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { securityFactVersion } from '../../../base/protocol-versions.ts';
import { SecurityFactBatchSchema } from '../../../proto/gen/waf/runtime/v1/observation_pb.ts';
import {
  QuerySecurityEventsRequestSchema,
  SecurityEventOutcome,
  type SecurityEventJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { any, batchOf, idsOf, startMs } from '../../../test/support/event-store-suite.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { eachEvent, type EventStore } from '../../observe/event-store.ts';
import { openEventStore } from '../../observe/events/embedded-events.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore, type Store } from '../../store/store.ts';
import { securityCheckOf, securityFilterOf } from './country-filter.ts';

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
    ...(at === 2 ? { siteId: 'shop', target: Buffer.from('/login?a=1'), blocked: true } : {}),
    matches: [
      at % 2 === 0
        ? { ruleId: 942_100, severity: 2, tags: ['attack-sqli'] }
        : { ruleId: 942_101, severity: at === 3 ? 4 : 2 },
    ],
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
  ['everything', {}, 5],
  ['a country', { countryCodes: ['US'] }, 3],
  ['one of two rules', { ruleIds: ['942100', '1'] }, 3],
  ['a network', { clientIpCidrs: ['8.8.0.0/16'] }, 3],
  ['an attack type', { attackTypes: ['sqli'] }, 3],
  ['an outcome', { outcome: SecurityEventOutcome.PASSED }, 4],
  ['a path', { path: '/login' }, 1],
  ['a request', { uniqueId: 'r-2' }, 1],
  ['a site', { siteId: 'shop' }, 1],
  ['a node', { agentId: 'a' }, 5],
  ['a severity', { minimumSeverity: 'critical' }, 4],
  ['a country and a rule', { countryCodes: ['US'], ruleIds: ['942100'] }, 2],
  ['nothing', { countryCodes: ['US'], path: '/login' }, 0],
])('a check of single events finds what the list finds: %s', async (_name, fields, count) => {
  const query = create(QuerySecurityEventsRequestSchema, {
    ...{ outcome: SecurityEventOutcome.ANY, ...fields },
  });
  const { signal } = new AbortController();
  const filter = await securityFilterOf({ store, events }, any.tenantId, query, signal);
  const fits = securityCheckOf({ store }, any.tenantId, query);
  const checked: string[] = [];
  for await (const event of eachEvent(events, 'security', any)) {
    if (fits(event as SecurityEventJson)) checked.push(event.uniqueId ?? '');
  }
  expect(checked).toEqual(await idsOf(events, 'security', filter));
  expect(checked).toHaveLength(count);
});

test('a check finds nothing of another tenant', () => {
  const query = create(QuerySecurityEventsRequestSchema, { outcome: SecurityEventOutcome.ANY });
  const event = { tenantId: any.tenantId, uniqueId: 'r-0' };
  expect(securityCheckOf({ store }, any.tenantId, query)(event)).toBe(true);
  expect(securityCheckOf({ store }, 'another', query)(event)).toBe(false);
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
