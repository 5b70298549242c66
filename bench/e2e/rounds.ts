/**
 * The order of a measurement: checks first, a warm-up, then rounds. A machine that changes its pace
 * must hit all targets alike: they take turns within a round, or have their load at once.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { readTree } from './process-tree.ts';
import { checkStatuses, faultsOfRun, type StatusCheck } from './status-check.ts';
import type { HalfLoad, RunRecord } from './summary.ts';
import type { Target } from './target.ts';
import type { Workload } from './workload.ts';
import { runLoad, writeScript, type LoadOptions, type LoadScript } from './wrk.ts';

/** How the rounds are run. */
export interface RoundOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  /** Uncounted load before each counted run. */
  readonly turnWarmupSeconds: number;
  readonly connections: number;
  readonly loadThreads: number;
  readonly prefix: readonly string[];
  /** A folder for the load generator's scripts. */
  readonly folder: string;
  /** Text of load.lua. */
  readonly program: string;
  readonly say: (text: string) => void;
  /** Sends the load at half of saturation, too. */
  readonly half: boolean;
  /**
   * All targets have their load at once, on the same CPUs: each costs more than alone, but what a
   * second of the machine does to one it does to all. Between turns of seconds one process was seen
   * to cost 72 and 170 us a request; of processes of one build under load at once, the medians of
   * twelve rounds were 0.3 % apart. For ratios; latencies are those of a crowded CPU.
   */
  readonly together: boolean;
}

/** Answers that a slow target should give in one run, so that the figure means something. */
const requestsMin = 40;
/** No run is made longer than this for a slow target. */
const secondsMax = 20;
/** With fewer answers than this by connection, those that are open at the end weigh too much. */
const answersPerConnectionMin = 100;
/**
 * Connections of a run at half of saturation, by those at full load: most of them wait between two
 * requests, and pauses of whole milliseconds must be long beside an answer.
 */
const halfConnections = 4;

/** With fewer answers at full load, half of them are too few to have a p99.9. */
const tailAnswersMin = 4000;

/** Pause before each run, so that work that the last run left over is finished. */
const settleMs = 300;

interface Entry {
  readonly target: Target;
  readonly check: StatusCheck;
  readonly seconds: number;
  readonly drain: boolean;
}

/** Runs one workload against all targets. */
export async function runWorkload(
  workload: Workload,
  targets: readonly Target[],
  options: RoundOptions,
): Promise<RunRecord[]> {
  const script = writeScript(options.folder, workload, options.program);
  const records: RunRecord[] = [];
  const entries: Entry[] = [];
  for (const target of targets) {
    const check = await checkStatuses(target, workload);
    if (check.faults.length > 0) {
      options.say(`${workload.name}  ${target.name}: not measured: ${check.faults.join('; ')}`);
      records.push(notRun(workload, target, check.faults));
      continue;
    }
    entries.push({ target, check, ...pace(check, options) });
  }
  const warm = (entry: Entry, seconds: number): Promise<unknown> =>
    runLoad(script, load(entry, options, seconds));
  if (options.warmupSeconds > 0) {
    await inTurn(entries, options, (entry) => warm(entry, options.warmupSeconds));
  }
  for (let round = 1; round <= options.rounds; round++) {
    // Each round begins with another target, so that none always follows the same one.
    const order = entries.map((_, i) => entries[(i + round - 1) % entries.length]!);
    await inTurn(order, options, async (entry) => {
      if (options.warmupSeconds > 0 && options.turnWarmupSeconds > 0) {
        await warm(entry, options.turnWarmupSeconds);
      }
      let record = await runOnce(script, entry, round, options);
      if (options.half && record.requests >= tailAnswersMin && record.faults.length === 0) {
        record = { ...record, half: await runHalf(script, entry, record, options) };
      }
      records.push(record);
      options.say(progress(record, round, options.rounds));
    });
  }
  return records;
}

/** One target after the other, or all at once. */
export async function inTurn<T>(
  entries: readonly T[],
  { together }: Pick<RoundOptions, 'together'>,
  run: (entry: T) => Promise<unknown>,
): Promise<void> {
  if (together) {
    await Promise.all(entries.map(run));
    return;
  }
  for (const entry of entries) await run(entry);
}

/** Slow targets get more time, and the answers that are open at its end are waited for. */
function pace(check: StatusCheck, options: RoundOptions): { seconds: number; drain: boolean } {
  const wanted = Math.ceil((requestsMin * check.meanMs) / 1000);
  const seconds = Math.max(options.seconds, Math.min(wanted, secondsMax));
  const answers = (seconds * 1000) / check.meanMs;
  return { seconds, drain: answers < answersPerConnectionMin * options.connections };
}

function load(
  { target, check, drain }: Entry,
  options: RoundOptions,
  seconds: number,
): LoadOptions {
  const { host, port } = target;
  const { connections, loadThreads: threads, prefix } = options;
  const pauseMs = 0;
  // Counting costs the load generator time, so it is left out where one status is expected.
  const countStatuses = new Set(check.statuses.values()).size > 1;
  return { host, port, connections, threads, seconds, countStatuses, drain, pauseMs, prefix };
}

async function runOnce(
  script: LoadScript,
  entry: Entry,
  round: number,
  options: RoundOptions,
): Promise<RunRecord> {
  const { target, check } = entry;
  await sleep(settleMs);
  const before = readTree(target.pid);
  const began = performance.now();
  const report = await runLoad(script, load(entry, options, entry.seconds));
  const wallUs = (performance.now() - began) * 1000;
  const after = readTree(target.pid);
  const cpuUs = after.cpuUs - before.cpuUs;
  const seconds = report.durationUs / 1_000_000;
  return {
    workload: script.workload.name,
    target: target.name,
    round,
    requests: report.requests,
    seconds,
    requestsPerSecond: report.requests / seconds,
    p50Us: report.p50Us,
    p99Us: report.p99Us,
    p999Us: report.p999Us,
    half: null,
    cpuUsPerRequest: report.requests > 0 ? cpuUs / report.requests : NaN,
    cpuBusy: cpuUs / wallUs,
    rssBytes: after.rssBytes,
    pssBytes: after.pssBytes,
    faults: faultsOfRun(report, check, options.connections),
  };
}

/** The same load at half the rate that the target reached in this round. */
async function runHalf(
  script: LoadScript,
  entry: Entry,
  { requestsPerSecond, p50Us }: RunRecord,
  options: RoundOptions,
): Promise<HalfLoad> {
  await sleep(settleMs);
  const connections = options.connections * halfConnections;
  const pauseMs = pauseFor(requestsPerSecond / 2, connections, p50Us / options.connections);
  const settings = { ...load(entry, options, entry.seconds), connections, pauseMs, drain: false };
  const report = await runLoad(script, settings);
  const rate = (report.requests * 1_000_000) / report.durationUs;
  return {
    share: rate / requestsPerSecond,
    p50Us: report.p50Us,
    p99Us: report.p99Us,
    p999Us: report.p999Us,
    faults: faultsOfRun(report, entry.check, connections),
  };
}

/** How long each connection rests, so that all together send `rate` requests a second. */
export function pauseFor(rate: number, connections: number, answerUs: number): number {
  return Math.max(0, (connections * 1000) / rate - answerUs / 1000);
}

function notRun(workload: Workload, target: Target, faults: readonly string[]): RunRecord {
  return {
    workload: workload.name,
    target: target.name,
    round: 0,
    requests: 0,
    seconds: 0,
    requestsPerSecond: NaN,
    p50Us: NaN,
    p99Us: NaN,
    p999Us: NaN,
    half: null,
    cpuUsPerRequest: NaN,
    cpuBusy: NaN,
    rssBytes: NaN,
    pssBytes: NaN,
    faults,
  };
}

function progress(record: RunRecord, round: number, rounds: number): string {
  const {
    workload,
    target,
    requestsPerSecond,
    cpuUsPerRequest,
    p50Us,
    p99Us,
    p999Us,
    half,
    faults,
  } = record;
  const figures =
    `${requestsPerSecond.toFixed(0).padStart(7)} requests/s  ` +
    `${cpuUsPerRequest.toFixed(1).padStart(9)} us CPU  ` +
    `p50 ${ms(p50Us)} p99 ${ms(p99Us)} p99.9 ${ms(p999Us)} ms`;
  const tail =
    half === null ? '' : `  at ${(half.share * 100).toFixed(0)} % p99.9 ${ms(half.p999Us)} ms`;
  const note = faults.length > 0 ? `  DOES NOT COUNT: ${faults.join('; ')}` : '';
  const where = `${workload.padEnd(18)} ${round}/${rounds}  ${target.padEnd(26)}`;
  return `${where} ${figures}${tail}${note}`;
}

function ms(us: number): string {
  return (us / 1000).toFixed(2);
}
