/**
 * Owns the load generator: prepares one script for a workload, runs wrk once against one address
 * and reads what it counted. Never decides whether a run is good.
 */

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  /** Command words in front of wrk, for example to pin it. */
  readonly prefix: readonly string[];
}

/** What wrk counted in one run. */
export interface LoadReport {
  readonly requests: number;
  readonly durationUs: number;
  readonly p50Us: number;
  readonly p99Us: number;
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

/** Writes the script with its requests into `folder`. */
export function writeScript(folder: string, workload: Workload): LoadScript {
  const file = join(folder, `${workload.name}.lua`);
  const data = join(folder, `${workload.name}.requests`);
  writeFileSync(data, Buffer.concat(workload.requests.map(({ bytes }) => bytes)));
  const lengths = workload.requests.map(({ bytes }) => bytes.length).join(',');
  const sources = workload.requests.map(({ source }) => source).join(',');
  writeFileSync(file, script(data, lengths, sources));
  return { file, workload };
}

/** The threads of one run start at different places of the list, so that they do not march in step. */
function script(data: string, lengths: string, sources: string): string {
  return `local lengths = {${lengths}}
local sources = {${sources}}
local requests, threads, made = {}, {}, 0
local ffi = require('ffi')
ffi.cdef 'typedef struct { long s; long us; } bench_time; int gettimeofday(bench_time *, void *);'
local time = ffi.new('bench_time')

local function now()
  ffi.C.gettimeofday(time, nil)
  return tonumber(time.s) + tonumber(time.us) / 1e6
end

function setup(thread)
  thread:set('number', made)
  made = made + 1
  table.insert(threads, thread)
end

-- Arguments: count or fast, number of threads, seconds after which to drain (0: never).
function init(args)
  local counting, share, seconds = args[1] == 'count', tonumber(args[2]), tonumber(args[3])
  statuses, sent, open, probes = {}, {}, 0, number == 0 and 1 or 0
  local file = assert(io.open(${JSON.stringify(data)}, 'rb'))
  for i, length in ipairs(lengths) do requests[i] = file:read(length) end
  file:close()
  at = math.floor(number * #lengths / share)
  began = now()
  ending = began + seconds
  if seconds == 0 then delay = nil end
  if not counting then
    response = nil
    request = function()
      at = at % #requests + 1
      return requests[at]
    end
  end
end

function request()
  at = at % #requests + 1
  if probes > 0 then
    -- The load generator looks at one request before it starts.
    probes = probes - 1
    return requests[at]
  end
  local source = tostring(sources[at])
  sent[source] = (sent[source] or 0) + 1
  open = open + 1
  return requests[at]
end

function delay()
  if now() < ending then return 0 end
  return 3600000
end

function response(status)
  local name = tostring(status)
  statuses[name] = (statuses[name] or 0) + 1
  open = open - 1
  if delay and open == 0 and now() >= ending then
    io.write(string.format('DRAINED %d\\n', (now() - began) * 1e6))
    io.flush()
  end
end

local function object(name)
  local sums, parts = {}, {}
  for _, thread in ipairs(threads) do
    for key, value in pairs(thread:get(name) or {}) do sums[key] = (sums[key] or 0) + value end
  end
  for key, value in pairs(sums) do parts[#parts + 1] = string.format('"%s":%d', key, value) end
  return '{' .. table.concat(parts, ',') .. '}'
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format('\\nREPORT {"requests":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99)))
  io.write(string.format(
    '"errors":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d},',
    e.connect, e.read, e.write, e.timeout, e.status))
  io.write('"statuses":' .. object('statuses') .. ',"sent":' .. object('sent') .. '}\\n')
end
`;
}

/** Runs wrk to its end. Errors: rejects when wrk fails or prints no report. */
export async function runLoad(load: LoadScript, options: LoadOptions): Promise<LoadReport> {
  const { host, port, connections, threads, seconds, drain, prefix } = options;
  const words = [
    ...prefix,
    'wrk',
    ...['-t', String(threads), '-c', String(Math.max(connections, threads))],
    ...['-d', `${drain ? seconds + drainSecondsMax : seconds}s`],
    ...['--timeout', `${answerTimeoutSeconds}s`, '--latency'],
    ...['-s', load.file, `http://${host}:${port}/`, '--'],
    ...[drain || options.countStatuses ? 'count' : 'fast', String(threads)],
    drain ? String(seconds) : '0',
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
