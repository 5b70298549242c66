/**
 * Reports faults in reporting requests: one error event and one line in the log for a part
 * and a while, with a count, however often it fails.
 */

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { errorLineLimits } from '../base/observation-limits.ts';
import type { FactFault, FactPart } from '../contract/fact-fault.ts';
import type { RequestError } from '../contract/request-error.ts';

/** What is lost where a part fails; the requests themselves were served. */
const losses: Readonly<Record<FactPart, string>> = {
  event: 'An event could not be made or packed',
  counts: 'A request could not be counted whole',
  log_policy: 'The log policy could not choose what is kept',
  evidence: 'Evidence could not be kept',
  delivery: 'What a thread counted or packed could not be handed on',
};

/** Reports what threads note. */
export class FactFaultReport {
  private readonly clock: Clock;
  private readonly log: Logger;
  private readonly tell: (error: RequestError) => void;
  private readonly silent = new Map<FactPart, { untilUs: number; count: number }>();

  constructor(clock: Clock, log: Logger, tell: (error: RequestError) => void) {
    this.clock = clock;
    this.log = log;
    this.tell = tell;
  }

  /** Takes what one thread noted since it last told. */
  take(faults: readonly FactFault[]): void {
    for (const fault of faults) this.takeOne(fault);
  }

  private takeOne({ part, count, message }: FactFault): void {
    const nowUs = this.clock.monotonicUs();
    const waiting = this.silent.get(part);
    const all = count + (waiting?.count ?? 0);
    if (waiting !== undefined && nowUs < waiting.untilUs) {
      waiting.count = all;
      return;
    }
    this.silent.set(part, { untilUs: nowUs + errorLineLimits.periodMs * 1000, count: 0 });
    this.log.error('logging of requests failed; the requests were served', {
      ...{ part, count: all, reason: message },
    });
    this.tell({
      level: 'error',
      logger: 'engine',
      reason: `logging_fault_${part}`,
      message: `${losses[part]} (${all} times); the requests were served. See the node's log.`,
    });
  }
}
