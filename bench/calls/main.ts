/**
 * Counts what one plain GET, one that a rule of CRS matches, and one change of a policy pass in
 * this code: functions, files, and returns to a file that was left before. Measures no time.
 * Usage: npm run bench:calls -- [--list]
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { countCalls, type CallCounts, type CountedFunction } from './count-calls.ts';
import { makeCopy, type InstrumentedCopy } from './instrumented-copy.ts';
import {
  recordFolderVariable,
  recordingMark,
  recordMark,
  threadMark,
  wantedFile,
} from './recorder.ts';
import { startProduct, type Product } from '../product.ts';
import { markdownTable } from '../report/table.ts';

/** The one of several rounds that timers of the program disturbed least counts. */
const rounds = 20;
/** What a request leaves to do is done within this time. */
const leftoverMs = 50;
const pollMs = 10;
/** A change is compiled and delivered within this time. */
const deliveryMs = 4000;
const warmUpRequests = 200;

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A started copy. */
interface Running {
  /** Where records go. */
  readonly folder: string;
  readonly product: Product;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } });
  const folder = mkdtempSync(join(tmpdir(), 'waf-calls-'));
  const copy = makeCopy(root, join(root, '.cache', 'calls'));
  const running = await start(copy, folder);
  try {
    const gets = await leastOf(running, copy.known, 'localhost');
    // Rule 920350: a host that is an address. The request has an event with evidence.
    const matched = await leastOf(running, copy.known, '127.0.0.1');
    const change = await record(running, deliveryMs, () => changePolicy(running.product.data));
    const rows = [
      row('plain GET', countCalls(gets, copy.known)),
      row('GET that a rule matches', countCalls(matched, copy.known)),
      row('change of a policy', countCalls(change.flat(), copy.known)),
    ];
    const header = ['', 'calls', 'functions', 'files', 'returns to a file'];
    process.stdout.write(`${markdownTable(header, rows)}\n`);
    if (values.list) process.stdout.write(listOf(gets, copy.known));
  } finally {
    await running.product.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function row(name: string, { calls, functions, files, returns }: CallCounts): string[] {
  return [name, ...[calls, functions, files, returns].map(String)];
}

/** How often each file was entered from another one, most often first, with its functions. */
function listOf(entered: readonly number[], known: readonly CountedFunction[]): string {
  const entries = new Map<string, number>();
  const functions = new Map<string, Set<string>>();
  let at = '';
  for (const index of entered) {
    const { file, name } = known[index]!;
    if (file !== at) entries.set(file, (entries.get(file) ?? 0) + 1);
    functions.set(file, (functions.get(file) ?? new Set()).add(name));
    at = file;
  }
  const sorted = [...entries].toSorted(([, one], [, other]) => other - one);
  const lines = sorted.map(([file, times]) => {
    const names = [...functions.get(file)!];
    return `${times}\t${names.length}\t${file}: ${names.join(' ')}\n`;
  });
  return `\nentered\tfunctions\tfile\n${lines.join('')}`;
}

async function start({ folder: copy }: InstrumentedCopy, folder: string): Promise<Running> {
  const recorder = new URL('recorder.js', import.meta.url).href;
  const product = await startProduct({
    program: join(copy, '.build', 'control', 'cli', 'main.js'),
    flags: ['--workers', '1', '--inspection', 'inline'],
    env: { NODE_OPTIONS: `--import ${recorder}`, [recordFolderVariable]: folder },
  });
  return { folder, product };
}

/** Of a GET of `host`, the record of the front thread in the round with the fewest functions. */
async function leastOf(
  running: Running,
  known: readonly CountedFunction[],
  host: string,
): Promise<number[]> {
  const port = running.product.proxyPort;
  for (let i = 0; i < warmUpRequests; i++) await get(port, host);
  let least: number[] | null = null;
  for (let round = 0; round < rounds; round++) {
    const records = await record(running, leftoverMs, () => get(port, host));
    const front = records.find((entered) => isFront(entered, known));
    if (front === undefined) throw new Error('no thread recorded the request');
    if (least === null || new Set(front).size < new Set(least).size) least = front;
  }
  return least!;
}

function isFront(entered: readonly number[], known: readonly CountedFunction[]): boolean {
  return entered.some((index) => dirname(known[index]!.file) === 'engine/front/request');
}

/** What each thread entered while `work` was done, and `afterMs` longer. */
async function record(
  { folder }: Running,
  afterMs: number,
  work: () => Promise<void> | void,
): Promise<number[][]> {
  const wanted = join(folder, wantedFile);
  const ending = (mark: string): string[] =>
    readdirSync(folder).filter((name) => name.endsWith(mark));
  writeFileSync(wanted, '');
  // Who has not begun to record would leave out the beginning.
  while (ending(recordingMark).length < ending(threadMark).length) await sleep(pollMs);
  await work();
  await sleep(afterMs);
  rmSync(wanted);
  while (ending(recordingMark).length > 0) await sleep(pollMs);
  const names = ending(recordMark);
  return names.map((name) => {
    const entered = JSON.parse(readFileSync(join(folder, name), 'utf8')) as number[];
    rmSync(join(folder, name));
    return entered;
  });
}

/** A plain GET as curl sends it. */
function get(port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { Host: host, 'User-Agent': 'curl/8.5.0', Accept: '*/*' };
    const sent = request({ host: '127.0.0.1', port, path: '/', headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.once('end', resolve).resume();
    });
    sent.once('error', reject).end();
  });
}

function changePolicy(data: string): void {
  const command = join(root, '.build', 'control', 'cli', 'main.js');
  const words = ['policy', 'update', 'Standard', '--file', '-', '--data', data];
  const input = 'crsCore: {inboundAnomalyScoreThreshold: 7}';
  execFileSync(process.execPath, [command, ...words], { input, stdio: ['pipe', 'ignore', 'pipe'] });
}

await main();
