/**
 * What the run before this one had counted and not stored when it ended: a gap of each stream that
 * lacks it. A run that stopped in order leaves nothing to say.
 */

import type { CounterBatch } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { RequestError } from '../contract/request-error.ts';
import type { RunTally } from '../contract/run-tally.ts';
import { RunLedger, type LedgerNote } from './run-ledger.ts';

/** What is missing; `unknown` where nobody can say any more. */
export type EarlierLoss =
  { readonly requests: number; readonly blocked: number; readonly facts: number } | 'unknown';

/** A stream with a ledger. */
export interface AccountedStream {
  readonly earlierRun: LedgerNote | null;
  /** Begins this run's account; what the earlier one lacks is a gap from then on. */
  settleEarlierRun(missing: number): void;
}

/** Settles both streams with the tally of the run before; null where nothing is missing. */
export function settleEarlierRun(
  counters: AccountedStream,
  facts: AccountedStream,
  tally: RunTally,
): EarlierLoss | null {
  const counted = missingOf(counters.earlierRun, tally, ['requests', 'blocked']);
  const told = missingOf(facts.earlierRun, tally, ['facts']);
  counters.settleEarlierRun(counted?.[0] ?? 0);
  facts.settleEarlierRun(told?.[0] ?? 0);
  tally.forgetEarlier();
  if (counted === null || told === null) return 'unknown';
  const loss = { requests: counted[0]!, blocked: counted[1]!, facts: told[0]! };
  return loss.requests === 0 && loss.blocked === 0 && loss.facts === 0 ? null : loss;
}

/** Null where the stream has an account and the tally of its run is gone. */
function missingOf(
  note: LedgerNote | null,
  tally: RunTally,
  fields: readonly ('requests' | 'blocked' | 'facts')[],
): readonly number[] | null {
  if (note === null) return fields.map(() => 0);
  const counts = tally.earlier(note.run);
  if (counts === null) return null;
  return fields.map((field, at) => Math.max(0, counts[field] - (note.sums[at] ?? 0)));
}

/** The fault that tells of it. */
export function lossFault(loss: EarlierLoss): RequestError {
  const shared = { level: 'error', logger: 'engine', reason: 'observations_lost' } as const;
  if (loss === 'unknown') {
    const message =
      'The engine ended without storing all counts; how many are missing is not known.';
    return { ...shared, message };
  }
  const { requests, blocked, facts } = loss;
  const message =
    `The engine ended before it stored the counts of ${requests} requests ` +
    `(${blocked} of them blocked) and ${facts} security events.`;
  return { ...shared, message };
}

/** The ledgers of both streams in this run. */
export class RunAccount {
  readonly counters: RunLedger<CounterBatch>;
  readonly facts: RunLedger<unknown>;
  readonly #tally: RunTally;

  constructor(tally: RunTally) {
    this.#tally = tally;
    this.counters = new RunLedger(tally.run, [0, 0], countsOf);
    this.facts = new RunLedger(tally.run, [0], () => [1]);
  }

  /** True when the streams have all that front threads counted. */
  get complete(): boolean {
    const { requests, blocked, facts } = this.#tally.current();
    const [counted, countedBlocked] = this.counters.sums;
    return counted === requests && countedBlocked === blocked && this.facts.sums[0] === facts;
  }
}

/** Finished requests of a batch, and blocked ones among them. */
function countsOf({ deltas }: CounterBatch): readonly [number, number] {
  let requests = 0;
  let blocked = 0;
  for (const delta of deltas) {
    requests += Number(delta.requests);
    for (const { family, key, count } of delta.entries) {
      if (family === 'outcome' && key === 'blocked') blocked += Number(count);
    }
  }
  return [requests, blocked];
}
