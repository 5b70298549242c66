/**
 * The load generator: prepares one script for a workload, runs wrk once against one address and
 * reads what it counted. Never decides whether a run is good.
 */

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adopt } from './child-process.ts';
import type { Workload } from './workload.ts';

/** A script on disk, made once per workload. */
export interface LoadScript {
  readonly file: string;
  readonly workload: Workload;
}

/** How hard and how long. */
export interface LoadOptions {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly threads: number;
  readonly seconds: number;
  /** How many requests of each kind were sent and which statuses came; costs wrk some CPU. */
  readonly countStatuses: boolean;
  /**
   * Sends for `seconds`, then only waits for the answers that are open. For slow targets: what they
   * spent on requests that were never answered would count among the few that were.
   */
  readonly drain: boolean;
  /** Mean pause of a connection between an answer and its next request; 0: none. */
  readonly pauseMs: number;
  /** Command words in front of wrk, for example to pin it. */
  readonly prefix: readonly string[];
}

/** What wrk counted in one run. */
export interface LoadReport {
  readonly requests: number;
  readonly durationUs: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  /** Socket errors and time-outs, and answers above 399. */
  readonly errors: {
    readonly connect: number;
    readonly read: number;
    readonly write: number;
    readonly timeout: number;
    readonly status: number;
  };
  /** Answers by status; empty unless asked for. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests sent, by the index of their source in the workload; empty unless asked for. */
  readonly sent: Readonly<Record<string, number>>;
}

/** An answer slower than this counts as an error. */
const answerTimeoutSeconds = 60;
/** How long open answers are waited for at the end of a run that drains. */
const drainSecondsMax = 120;
/** wrk's own report and our line; far more than it prints. */
const outputBytesMax = 1024 * 1024;

/** Writes the script with its requests into `folder`; `program` is the text of load.lua. */
export function writeScript(folder: string, workload: Workload, program: string): LoadScript {
  const file = join(folder, `${workload.name}.lua`);
  const data = join(folder, `${workload.name}.requests`);
  writeFileSync(data, Buffer.concat(workload.requests.map(({ bytes }) => bytes)));
  const lengths = workload.requests.map(({ bytes }) => bytes.length).join(',');
  const sources = workload.requests.map(({ source }) => source).join(',');
  const tables = `local lengths = {${lengths}}\nlocal sources = {${sources}}\n`;
  writeFileSync(file, `local file_name = ${JSON.stringify(data)}\n${tables}${program}`);
  return { file, workload };
}

/** Runs wrk to its end. Errors: rejects when wrk fails or prints no report. */
export async function runLoad(load: LoadScript, options: LoadOptions): Promise<LoadReport> {
  const { host, port, connections, threads, seconds, drain, pauseMs, prefix } = options;
  const words = [
    ...prefix,
    'wrk',
    ...['-t', String(threads), '-c', String(Math.max(connections, threads))],
    ...['-d', `${drain ? seconds + drainSecondsMax : seconds}s`],
    ...['--timeout', `${answerTimeoutSeconds}s`, '--latency'],
    ...['-s', load.file, `http://${host}:${port}/`, '--'],
    ...[drain || options.countStatuses ? 'count' : 'fast', String(threads)],
    drain ? String(seconds) : '0',
    String(pauseMs),
  ];
  const { code, output, drainedUs } = await collect(words, drain ? threads : 0);
  const line = /^REPORT (\{.*\})$/m.exec(output);
  if (code !== 0 || !line) throw new Error(`wrk failed (${code}): ${output.slice(-500)}`);
  const report = JSON.parse(line[1]!) as LoadReport;
  return drainedUs > 0 ? { ...report, durationUs: drainedUs } : report;
}

interface Collected {
  readonly code: number | null;
  readonly output: string;
  /** When the last thread had all its answers; 0 when that was not asked for or did not happen. */
  readonly drainedUs: number;
}

/** Runs a command; `drainers` threads must say that they drained, then it is asked to end. */
function collect(words: readonly string[], drainers: number): Promise<Collected> {
  return new Promise((resolve, reject) => {
    const child = spawn(words[0]!, words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
    adopt(child);
    let output = '';
    let drainedUs = 0;
    const take = (chunk: Buffer): void => {
      if (output.length < outputBytesMax) output += chunk.toString('latin1');
      if (drainers === 0 || drainedUs > 0) return;
      const times = [...output.matchAll(/^DRAINED (\d+)$/gm)].map((found) => Number(found[1]));
      if (times.length < drainers) return;
      drainedUs = Math.max(...times);
      child.kill('SIGINT');
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output, drainedUs }));
  });
}
