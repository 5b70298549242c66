/** The address of ClickHouse: what is taken, what is refused, without showing a secret. */

import { expect, test } from 'vitest';
import { readClickhouseOption } from './clickhouse-option.ts';
import { hasIndexes, tableStatements } from './event-tables.ts';

test('an address is read', () => {
  expect(readClickhouseOption('')).toBeNull();
  expect(readClickhouseOption('https://waf:p%40ss@[::1]:8443/logs?cluster=main')).toEqual({
    url: 'https://[::1]:8443',
    user: 'waf',
    password: 'p@ss',
    database: 'logs',
    cluster: 'main',
  });
});

test.each([
  'secret',
  'tcp://waf:secret@host/logs',
  'http://host/logs',
  'http://waf:secret@host',
  'http://waf:secret@host/logs/more',
  'http://waf:secret@host/1logs',
  'http://waf:secret@host/logs?cluster=a;b',
  'http://waf:secret@host/logs?secure=1',
  'http://waf:%secret@host/logs',
])('%s is refused by name', (text) => {
  let message = '';
  try {
    readClickhouseOption(text);
  } catch (error) {
    ({ message } = error as Error);
  }
  expect(message).toContain('WAF_EVENTS_CLICKHOUSE');
  expect(message).not.toContain('secret');
});

test('a cluster has replicated tables, and distributed ones over them', () => {
  const address = readClickhouseOption('http://waf:x@host/logs?cluster=main')!;
  const statements = tableStatements(address, true);
  expect(statements.every((one) => one.includes(' ON CLUSTER main'))).toBe(true);
  expect(statements.filter((one) => one.includes('ReplicatedReplacingMergeTree'))).toHaveLength(3);
  expect(statements.at(-1)).toContain(
    'Distributed(main, logs, waf_error_local, cityHash64(number))',
  );
});

test('an old server has no indexes, and no columns with dictionaries', () => {
  const address = readClickhouseOption('http://waf:x@host/logs')!;
  const versions = ['18.16.1', '23.7.9.1', '23.8.1.94', '24.1.0', '26.7.2.1', 'unknown'];
  expect(versions.map(hasIndexes)).toEqual([false, false, true, true, true, false]);
  const marks = /INDEX|LowCardinality/;
  expect(tableStatements(address, false).filter((one) => marks.test(one))).toEqual([]);
  expect(tableStatements(address, true).filter((one) => marks.test(one))).toHaveLength(6);
});
