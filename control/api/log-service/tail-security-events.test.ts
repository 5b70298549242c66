/** Proves that a tail shows what a query finds, from now on, and nothing else. */

import { create } from '@bufbuild/protobuf';
import { createContextValues, type HandlerContext } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import {
  SecurityEventOutcome,
  TailSecurityEventsRequestSchema,
  type SecurityEventJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore, type Store } from '../../store/store.ts';
import { callerKey, type ApiParts } from '../context.ts';
import { tailSecurityEvents } from './tail-security-events.ts';

const tenantId = 'default';
let store: Store;
beforeAll(async () => {
  store = await openStore(openMemoryKv(), systemClock);
});
afterAll(() => store.close());

type Fields = NonNullable<Parameters<typeof create<typeof TailSecurityEventsRequestSchema>>[1]>;

/** Opens a tail, has events come in, and gives the path of the first one that it sends. */
async function firstOf(request: Fields, came: readonly SecurityEventJson[]): Promise<string> {
  let send = (_event: SecurityEventJson): void => undefined;
  const subscribe = (listener: typeof send): (() => void) => {
    send = listener;
    return () => undefined;
  };
  const parts = { clock: systemClock, store, events: { subscribe } } as unknown as ApiParts;
  const stop = new AbortController();
  const values = createContextValues().set(callerKey, { tenantId } as never);
  const context = { values, signal: stop.signal } as HandlerContext;
  const asked = create(TailSecurityEventsRequestSchema, request);
  const tail = tailSecurityEvents(parts)(asked, context)[Symbol.asyncIterator]();
  try {
    await tail.next();
    for (const event of came) send({ tenantId, ...event });
    const { value } = await tail.next();
    return value?.event?.path ?? '';
  } finally {
    stop.abort();
    await tail.return?.();
  }
}

const outcome = SecurityEventOutcome.ANY;
const shop = { siteId: 'shop', agentId: 'a', clientIp: '8.8.8.8', ruleIds: ['942100'] };

test.each([
  ['a rule of the query', { query: { outcome, ruleIds: ['942100'] } }, { ruleIds: ['1'] }],
  ['a country of the query', { query: { outcome, countryCodes: ['US'] } }, { clientIp: '::1' }],
  [
    'an outcome of the query',
    { query: { outcome: SecurityEventOutcome.PASSED } },
    { blocked: true },
  ],
  ['a site of the query', { query: { outcome, siteId: 'shop' } }, { siteId: 'other' }],
  ['a site beside a query', { siteId: 'shop', query: { outcome } }, { siteId: 'other' }],
  ['a node without a query', { agentId: 'a' }, { agentId: 'b' }],
  ['its own tenant', {}, { tenantId: 'other' }],
])('a tail is of %s', async (_name, request, change) => {
  const came = [
    { ...shop, path: '/left-out', ...change },
    { ...shop, path: '/meant' },
  ];
  expect(await firstOf(request, came)).toBe('/meant');
});

test('the page and the time of the query are no matter', async () => {
  const [start, end] = [{ seconds: 20n }, { seconds: 10n }];
  const query = { outcome, timeRange: { start, end }, page: { pageSize: -1 } };
  expect(await firstOf({ query }, [{ ...shop, path: '/meant' }])).toBe('/meant');
});

test('the query says which outcome it means', async () => {
  await expect(firstOf({ query: {} }, [])).rejects.toMatchObject({ code: 'invalid_argument' });
});
