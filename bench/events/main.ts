/**
 * The benchmark of event stores: fills one by its own ingest, in batches of nodes, and asks it for
 * pages by each filter of the queries. On a machine that does other work, CPU time says more than
 * times do: that of this process, and of ClickHouse where its process is named.
 */

import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { silentLogger } from '../../base/log.ts';
import { openClickhouseEvents } from '../../control/observe/clickhouse/clickhouse-events.ts';
import {
  readClickhouseOption,
  type ClickhouseAddress,
} from '../../control/observe/clickhouse/clickhouse-option.ts';
import type { EventStore } from '../../control/observe/event-store.ts';
import { openEventStore } from '../../control/observe/events/embedded-events.ts';
import type { KindName } from '../../control/observe/events/event-questions.ts';
import { openLogs } from '../../control/store/open-logs.ts';
import { readTree } from '../e2e/process-tree.ts';
import { describeMachine, readMachineFacts } from '../report/machine-facts.ts';
import { formatNumber, markdownTable } from '../report/table.ts';
import { batchEvents, batchMaker, factVersions, seeded, tenantId } from './facts.ts';
import { filters } from './filters.ts';

const usage = `Usage: npm run bench:events -- [options]

  --kind KIND        security, access or error (security)
  --events N         events to fill up to, by ${batchEvents} (1000000)
  --full             security events with what rules found
  --questions N      pages of each filter (100); 0 only fills
  --data FOLDER      is kept, and filled up to --events
  --clickhouse URL   http://USER:PASSWORD@HOST:PORT/DATABASE; the database is kept in the same way
  --server-pid PID   the process of ClickHouse, whose CPU time is shown, too
`;

interface Plan {
  readonly kind: KindName;
  readonly total: number;
  readonly full: boolean;
  readonly questions: number;
  /** 0 where it is not known. */
  readonly serverPid: number;
}

/** Batches that a stream of a node has under way. */
const batchesUnderWay = 8;
/** Batches that are made before they are measured. */
const sliceBatches = 40;
const goalP99Ms = 100;

async function fill(store: EventStore, plan: Plan): Promise<string> {
  const { kind, total, full, serverPid } = plan;
  const before = store.use()[kind].events;
  const batchAt = batchMaker(kind, full);
  let cpu = 0;
  let wall = 0;
  const serverStart = serverCpuMs(serverPid);
  for (let at = before / batchEvents; at * batchEvents < total; at += sliceBatches) {
    const left = Math.min(sliceBatches, total / batchEvents - at);
    const batches = Array.from({ length: left }, (_, index) => batchAt(at + index));
    const [startCpu, startWall] = [cpuMs(), performance.now()];
    for (let next = 0; next < batches.length; next += batchesUnderWay) {
      const some = batches.slice(next, next + batchesUnderWay);
      await Promise.all(some.map((one) => store.ingest(kind, one, factVersions[kind])));
    }
    await store.settled();
    cpu += cpuMs() - startCpu;
    wall += performance.now() - startWall;
  }
  const added = store.use()[kind].events - before;
  const rates = [wall, cpu, serverCpuMs(serverPid) - serverStart];
  const [perSecond, perCpu, perServerCpu] = rates.map((ms) => formatNumber((added / ms) * 1000));
  const byServer = serverPid === 0 ? '' : `, ${perServerCpu} of the server's`;
  const byCpu = `${perCpu} a second of CPU time${byServer}`;
  return `${formatNumber(added)} stored, ${perSecond} a second, ${byCpu}`;
}

async function askAll(store: EventStore, plan: Plan): Promise<string> {
  const { kind, total, questions, serverPid } = plan;
  const everything = {
    ...{ tenantId, startMs: 0, endMs: 8e13, anyOf: [], networks: [] },
    ...{ pathPrefix: '', contains: [] },
  };
  const rows: string[][] = [];
  for (const [name, make] of Object.entries(filters[kind])) {
    const random = seeded(7);
    const times: number[] = [];
    const [startCpu, serverStart] = [cpuMs(), serverCpuMs(serverPid)];
    for (let asked = 0; asked < questions; asked++) {
      const filter = { ...everything, ...make(random, total) };
      const began = performance.now();
      await store.ask({ ask: 'page', kind, filter, beforeId: '', offset: 0, limit: 50 });
      times.push(performance.now() - began);
    }
    const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
    const goal = p99 <= goalP99Ms ? 'met' : 'missed';
    const cpu = [cpuMs() - startCpu, serverCpuMs(serverPid) - serverStart];
    const each = cpu.map((ms) => ms / questions);
    rows.push([name, ...[p50, p99, ...each].map(formatNumber), goal]);
  }
  const goal = `p99 at most ${goalP99Ms} ms`;
  const columns = ['a page of 50 by', 'p50 ms', 'p99 ms', 'CPU ms', 'CPU ms of the server', goal];
  return markdownTable(columns, rows);
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** In steps of 10 ms; NaN where the process is not known. */
function serverCpuMs(pid: number): number {
  return pid === 0 ? NaN : readTree(pid).cpuUs / 1000;
}

/** The store, when it knows what it holds. */
async function openStore(data: string, address: ClickhouseAddress | null): Promise<EventStore> {
  const kv = openLogs(data, silentLogger);
  const opened =
    address === null
      ? openEventStore(kv, data)
      : openClickhouseEvents({ address, kv, logger: silentLogger });
  await opened.settled();
  return opened;
}

async function run(data: string, address: ClickhouseAddress | null, plan: Plan): Promise<void> {
  const machine = describeMachine(readMachineFacts());
  let store = await openStore(data, address);
  try {
    if (store.use()[plan.kind].events < plan.total) {
      print(await fill(store, plan));
      await store.close();
      store = await openStore(data, address);
    }
    const { events, bytes } = store.use()[plan.kind];
    const kept = address === null ? statSync(join(data, 'data.mdb')).size : bytes;
    print(`${formatNumber(events)} events, ${formatNumber(kept / events)} bytes each on disk`);
    if (plan.questions > 0) print(`\n${await askAll(store, plan)}\n`);
    print(machine);
  } finally {
    await store.close();
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      kind: { type: 'string', default: 'security' },
      events: { type: 'string', default: '1000000' },
      full: { type: 'boolean', default: false },
      questions: { type: 'string', default: '100' },
      data: { type: 'string' },
      clickhouse: { type: 'string', default: '' },
      'server-pid': { type: 'string', default: '0' },
      help: { type: 'boolean', default: false },
    },
  });
  const { kind } = values;
  const [total, questions] = [Number(values.events), Number(values.questions)];
  const serverPid = Number(values['server-pid']);
  const isKind = kind === 'security' || kind === 'access' || kind === 'error';
  if (values.help || !isKind || !(total > 0) || !(questions >= 0)) {
    print(usage);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  const data = values.data ?? mkdtempSync(join(tmpdir(), 'waf-events-'));
  mkdirSync(data, { recursive: true });
  try {
    const address = readClickhouseOption(values.clickhouse);
    await run(data, address, { kind, total, full: values.full, questions, serverPid });
  } finally {
    if (values.data === undefined) rmSync(data, { recursive: true, force: true });
  }
}

await main();
