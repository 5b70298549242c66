/**
 * The question whether a target answers as it must: single requests before the load, and the counts
 * of a run after it. A target that answers wrongly is not measured.
 */

import { connect } from 'node:net';
import type { LoadReport } from './wrk.ts';
import type { Target } from './target.ts';
import type { WireRequest, Workload } from './workload.ts';

/** What a target answered to each request of a workload. */
export interface StatusCheck {
  /** Status by the request's index in the workload file. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Time of a single answer, milliseconds: best of some attempts, mean over the requests. */
  readonly meanMs: number;
  /** What was wrong; empty when all is well. */
  readonly faults: readonly string[];
}

const answerTimeoutMs = 120_000;
/** Each request is asked so often: the status must stay, the time must not be an accident. */
const attempts = 3;

/** Sends each different request and looks at the statuses. */
export async function checkStatuses(target: Target, workload: Workload): Promise<StatusCheck> {
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  const requests = firstOfEach(workload);
  let totalMs = 0;
  for (const { bytes, source, expect } of requests) {
    let bestMs = Infinity;
    for (let i = 0; i < attempts; i++) {
      const began = performance.now();
      const status = await askStatus(target, bytes).catch((error: Error) => {
        faults.push(`request ${source}: ${error.message}`);
        return 0;
      });
      bestMs = Math.min(bestMs, performance.now() - began);
      statuses.set(source, status);
      const fault = faultOf(target, status, expect);
      if (fault !== null) faults.push(`request ${source}: ${fault}`);
    }
    totalMs += bestMs;
  }
  return { statuses, meanMs: totalMs / requests.length, faults: [...new Set(faults)] };
}

/** What is wrong with an answer; null when nothing is. */
function faultOf(
  { expectation }: Target,
  status: number,
  expect: WireRequest['expect'],
): string | null {
  if (expectation !== null) {
    return status === expect[expectation] ? null : `${status} instead of ${expect[expectation]}`;
  }
  const passes = expect.waf === expect.plain;
  return passes && status !== expect.plain ? `${status} for a request that must pass` : null;
}

function firstOfEach(workload: Workload): Workload['requests'] {
  const seen = new Set<number>();
  return workload.requests.filter(({ source }) => {
    if (seen.has(source)) return false;
    seen.add(source);
    return true;
  });
}

/** Why a run does not count, from what the load generator saw; empty when it does. */
export function faultsOfRun(
  report: LoadReport,
  check: StatusCheck,
  connections: number,
): readonly string[] {
  const faults: string[] = [];
  if (report.requests === 0) faults.push('no answer at all');
  const { connect: refused, read, write, timeout, status } = report.errors;
  const broken = refused + read + write + timeout;
  if (broken > 0) faults.push(`${broken} connection errors or time-outs`);
  const wanted = new Set([...check.statuses.values()].map(String));
  if (Object.keys(report.statuses).length === 0) {
    // Statuses were not counted one by one: every answer must be below 400.
    if (status > 0) faults.push(`${status} answers above 399`);
    return faults;
  }
  for (const [name, count] of Object.entries(report.statuses)) {
    if (!wanted.has(name)) faults.push(`${count} answers ${name}`);
  }
  return [...faults, ...sharesOff(report, check, connections)];
}

/**
 * Each status must come as often as the requests that lead to it were sent, but for those in
 * flight.
 */
function sharesOff(report: LoadReport, check: StatusCheck, connections: number): string[] {
  const sent = new Map<string, number>();
  for (const [source, count] of Object.entries(report.sent)) {
    const status = String(check.statuses.get(Number(source)) ?? 0);
    sent.set(status, (sent.get(status) ?? 0) + count);
  }
  return [...sent].flatMap(([status, count]) => {
    const got = report.statuses[status] ?? 0;
    const off = Math.abs(count - got);
    return off > 2 * connections ? [`${got} answers ${status} to ${count} requests for it`] : [];
  });
}

/** Sends bytes on a connection of their own; resolves to the status of the first answer. */
export function askStatus(
  { host, port }: Pick<Target, 'host' | 'port'>,
  bytes: Buffer,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    let text = '';
    const end = (finish: () => void): void => {
      socket.destroy();
      finish();
    };
    socket.setTimeout(answerTimeoutMs, () => end(() => reject(new Error('no answer'))));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed without an answer')));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const found = /^HTTP\/1\.[01] (\d{3})/.exec(text);
      if (found) end(() => resolve(Number(found[1])));
    });
    socket.write(bytes);
  });
}
