/**
 * The suite of event stores against a cluster of replicated and distributed tables, where
 * WAF_TEST_CLICKHOUSE names one: `http://USER:PASSWORD@HOST:PORT/PREFIX?cluster=NAME`. Databases
 * whose names begin with the prefix stay there.
 */

import { afterAll, describe } from 'vitest';
import { silentLogger } from '../../../base/log.ts';
import { testEventStore } from '../../../test/support/event-store-suite.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import type { EventStore } from '../event-store.ts';
import { openClickhouseEvents } from './clickhouse-events.ts';
import { readClickhouseOption } from './clickhouse-option.ts';

const named = readClickhouseOption(process.env['WAF_TEST_CLICKHOUSE'] ?? '');
if (named === null) console.log('skipped: WAF_TEST_CLICKHOUSE names no cluster');

describe.skipIf(named === null)('a cluster', () => {
  const opened: EventStore[] = [];
  afterAll(async () => {
    for (const store of opened) await store.close();
  });

  testEventStore('cluster', () => {
    const database = `${named!.database}_${process.pid}_${opened.length}`;
    const address = { ...named!, database };
    const kv = openMemoryKv();
    const store = openClickhouseEvents({ address, kv, logger: silentLogger, insertDelayMs: 0 });
    opened.push(store);
    return Promise.resolve({ store, seal: () => Promise.resolve() });
  });
});
