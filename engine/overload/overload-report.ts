/** Says on the main thread what became of the node's overload: to the log, and to control. */

import type { Logger } from '../../base/log.ts';
import { notOverloaded, type OverloadStatus } from '../contract/overload.ts';
import type { RequestError } from '../contract/request-error.ts';

/** What is said of a cause. */
const causes: Readonly<Record<OverloadStatus['cause'], string>> = {
  '': 'nothing waits any more',
  event_loop: 'every request waits for its turn in a front thread',
  pool_queue: 'every inspection waits in the pool',
  held_bytes: 'bodies that wait use up the memory meant for them',
};

/** The overload of the node; see the header. */
export class OverloadReport {
  status: OverloadStatus = notOverloaded;
  private readonly log: Logger;
  /** Called for each change; with the fault where shedding began. */
  private readonly onChange: (fault: RequestError | null) => void;

  constructor(log: Logger, onChange: (fault: RequestError | null) => void) {
    this.log = log;
    this.onChange = onChange;
  }

  take(status: OverloadStatus): void {
    const before = this.status;
    this.status = status;
    const { state, probePercent, cause } = status;
    const begins = before.probePercent === 100 && probePercent < 100;
    const ends = before.probePercent < 100 && probePercent === 100;
    if (begins) this.log.warn('overloaded: inspection is shed', { probePercent, cause });
    else if (ends) this.log.info('no longer overloaded: every request is inspected');
    else this.log.debug('overload', { state, probePercent, cause });
    this.onChange(begins ? faultOf(status) : null);
  }
}

function faultOf({ probePercent, cause }: OverloadStatus): RequestError {
  return {
    level: 'warn',
    logger: 'engine',
    reason: 'overload',
    message:
      `The node is overloaded (${cause}: ${causes[cause]}): ${probePercent} percent of requests ` +
      'are inspected, the others follow the fail policy of their site. ' +
      'Add front threads or nodes, or send less.',
  };
}
