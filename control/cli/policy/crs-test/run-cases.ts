/** Runs cases against a live proxy: lanes side by side, each case's stages in order. */

import type { Stage, TestCase } from './case.ts';
import type { EventTail } from './event-tail.ts';
import { exchange } from './exchange.ts';
import { judge, type Judgement } from './judge.ts';
import type { CaseResult } from './summary.ts';

/** Where and how to run. */
export interface RunOptions {
  readonly port: number;
  readonly events: EventTail;
  /** Connections at a time. */
  readonly lanes: number;
  /** Longest wait for an answer and, apart from that, for the event. */
  readonly timeoutMs: number;
  /** The proxy's events do not name the client's port: every request has an address of its own. */
  readonly ownAddresses: boolean;
  /** Called when a case ended. */
  readonly onResult: (done: number, result: CaseResult) => void;
}

/** Runs all cases; results come back in the cases' order. */
export async function runCases(
  cases: readonly TestCase[],
  options: RunOptions,
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  let next = 0;
  let done = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < cases.length; index = next++) {
      const one = cases[index];
      if (one === undefined) return;
      const result = await runCase(one, options);
      results[index] = result;
      done += 1;
      options.onResult(done, result);
    }
  };
  await Promise.all(Array.from({ length: options.lanes }, lane));
  return results;
}

async function runCase(one: TestCase, options: RunOptions): Promise<CaseResult> {
  const { title, family } = one;
  if (one.skip !== null) {
    const reasons = [one.skip];
    return { title, family, result: 'skip', reasons, refusal: null, withheld: false };
  }
  const judgements: Judgement[] = [];
  for (const stage of one.stages) {
    let judgement = await runStage(stage, options);
    if (!judgement.passed && stage.expect.retryOnce) judgement = await runStage(stage, options);
    judgements.push(judgement);
  }
  return {
    title,
    family,
    result: judgements.every(({ passed }) => passed) ? 'pass' : 'fail',
    reasons: judgements.flatMap(({ reasons }, index) =>
      judgements.length === 1 ? reasons : reasons.map((why) => `stage ${index + 1}: ${why}`),
    ),
    refusal: judgements.find(({ refusal }) => refusal !== null)?.refusal ?? null,
    withheld: judgements.some(({ withheld }) => withheld),
  };
}

async function runStage(stage: Stage, options: RunOptions): Promise<Judgement> {
  const { events, port, timeoutMs } = options;
  const from = options.ownAddresses ? nextAddress() : null;
  const answer = await exchange(port, stage.wire, timeoutMs, from, (client) =>
    events.watch(client),
  );
  // What uWebSockets.js answers by itself leaves no event.
  const waitMs = from !== null && answer.status === 505 ? 0 : timeoutMs;
  const event = await events.next(answer.client, waitMs);
  events.unwatch(answer.client);
  return judge(stage.expect, { status: answer.status, event });
}

let addresses = 0;

/** The next of sixteen million loopback addresses. */
function nextAddress(): string {
  const number = ++addresses;
  return `127.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
}
