/**
 * The tables of events: one a kind, a partition for each lane and day, rows in the order of ids. A
 * column for every field that filters and sums name, beside the bytes of the event, which are what
 * answers are made of. Servers of today get indexes of rare values, and columns of few values as
 * dictionaries; old ones read whole columns. Pure.
 */

import { eventKinds, type KindName } from '../events/event-questions.ts';
import type { EventLane } from '../events/event-kind.ts';
import type { ClickhouseAddress } from './clickhouse-option.ts';

/** What ClickHouse holds of a field. */
export type ColumnType = 'String' | 'UInt16' | 'Array(String)' | 'Array(UInt32)';

const text: ColumnType = 'String';

/** Columns by the index field of the same name. */
export const fieldColumns: Readonly<Record<KindName, Readonly<Record<string, ColumnType>>>> = {
  security: {
    ...{ request: text, client: text, site: text, agent: text },
    ...{ rule: 'Array(UInt32)', rule_text: 'Array(String)', attack: 'Array(String)' },
    ...{ first_attack: text, target: text, path: text, host: text, method: text, outcome: text },
    ...{ severity: text, status: 'UInt16' },
  },
  access: {
    ...{ request: text, client: text, site: text, agent: text, path: text, host: text },
    ...{ method: text, status: 'UInt16', upstream: text, route: text },
  },
  error: { request: text, site: text, agent: text, level: text, logger: text },
};

/** Properties of events that filters search for a text, in lower case. */
export const searchedColumns: Readonly<Record<KindName, readonly string[]>> = {
  security: [],
  access: [],
  error: ['logger', 'message'],
};

/** Columns of few values: a dictionary makes scans of them cheaper. */
const fewValues: ReadonlySet<string> = new Set([
  ...['tenant', 'site', 'agent', 'host', 'method', 'outcome', 'severity', 'first_attack'],
  ...['attack', 'rule_text', 'upstream', 'route', 'level', 'logger'],
]);

/** Columns whose values may be rare: an index tells which granules may have one. */
const indexedColumns: Readonly<Record<KindName, readonly string[]>> = {
  security: ['request', 'client_bytes', 'site', 'rule', 'target'],
  access: ['request', 'client_bytes', 'site', 'upstream', 'route'],
  error: ['request', 'site'],
};
/** One of 100 lookups of a granule is in vain; ten bits a value. */
const indexType = 'bloom_filter(0.01) GRANULARITY 1';

/** Kinds whose events have a client; its address is also kept as sixteen bytes. */
export const hasClient = (kind: KindName): boolean => 'client' in fieldColumns[kind];

/** Columns that every table has before those of fields: who sent it, and what it is. */
const commonColumns = [
  'lane String',
  'at UInt64',
  'number UInt64',
  'node String',
  'boot String',
  'seq UInt64',
  'place UInt32',
  'tenant String',
  'form UInt8',
  // Without details, and whole; the second goes when details are too old.
  'compact String',
  'whole String',
];

/**
 * Rows that are read for one: events of a page by a rare value lie far apart. With the 8192 that
 * servers take by themselves, to read 36 of 300,000 events costs twice the CPU time.
 */
const granuleRows = 1024;

/** What names a row: of equal ones a single row is kept. */
export const rowKey = 'at, number, node, boot, seq, place';

/** The kind of a lane's events. */
export function kindOfLane(lane: EventLane): KindName {
  const found = Object.entries(eventKinds).find(([, { lanes }]) => lanes.includes(lane));
  return found![0] as KindName;
}

/** The table that is read and written. */
export function tableOf({ database }: ClickhouseAddress, kind: KindName): string {
  return `${database}.waf_${kind}`;
}

/** The table of one server, whose partitions go and whose rows change. */
export function storedTableOf(address: ClickhouseAddress, kind: KindName): string {
  return `${tableOf(address, kind)}${address.cluster === '' ? '' : '_local'}`;
}

/** ` ON CLUSTER`, where there is one. */
export function onCluster({ cluster }: ClickhouseAddress): string {
  return cluster === '' ? '' : ` ON CLUSTER ${cluster}`;
}

/** A version in which `bloom_filter`, dictionaries and the statements below are stable. */
const indexVersion = [23, 8] as const;

/** True where a server of this version has indexes besides time. */
export function hasIndexes(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [least, leastMinor] = indexVersion;
  return major > least || (major === least && minor >= leastMinor);
}

/**
 * Statements that make the database and its tables where they are not there. With `indexed`, tables
 * of before get the indexes for what comes.
 */
export function tableStatements(address: ClickhouseAddress, indexed: boolean): string[] {
  const { cluster, database } = address;
  const where = onCluster(address);
  const statements = [`CREATE DATABASE IF NOT EXISTS ${database}${where}`];
  for (const kind of Object.keys(fieldColumns) as KindName[]) {
    const stored = storedTableOf(address, kind);
    const columns = columnsOf(kind).map((one) => (indexed ? withDictionary(one) : one));
    const order = `PARTITION BY (lane, intDiv(at, 86400000)) ORDER BY (${rowKey})`;
    const path = `/clickhouse/tables/{shard}/${stored.replace('.', '/')}`;
    const engine =
      cluster === ''
        ? 'ReplacingMergeTree'
        : `ReplicatedReplacingMergeTree('${path}', '{replica}')`;
    statements.push(
      `CREATE TABLE IF NOT EXISTS ${stored}${where} (${columns.join(', ')}) ` +
        `ENGINE = ${engine} ${order} SETTINGS index_granularity = ${granuleRows}`,
    );
    if (indexed) statements.push(`ALTER TABLE ${stored}${where} ${indexesOf(kind)}`);
    if (cluster === '') continue;
    const distributed = `Distributed(${cluster}, ${database}, waf_${kind}_local, cityHash64(number))`;
    statements.push(
      `CREATE TABLE IF NOT EXISTS ${tableOf(address, kind)}${where} AS ${stored} ` +
        `ENGINE = ${distributed}`,
    );
  }
  return statements;
}

function columnsOf(kind: KindName): string[] {
  return [
    ...commonColumns,
    ...(hasClient(kind) ? ['client_bytes FixedString(16)'] : []),
    ...Object.entries(fieldColumns[kind]).map(([field, type]) => `${field} ${type}`),
    ...searchedColumns[kind].map((property) => `${property}_lower String`),
  ];
}

/** The column with a dictionary, where it has few values. */
function withDictionary(column: string): string {
  const [name = ''] = column.split(' ', 1);
  return fewValues.has(name) ? column.replace('String', 'LowCardinality(String)') : column;
}

function indexesOf(kind: KindName): string {
  return indexedColumns[kind]
    .map((column) => `ADD INDEX IF NOT EXISTS by_${column} ${column} TYPE ${indexType}`)
    .join(', ');
}
