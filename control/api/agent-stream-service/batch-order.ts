/**
 * Which batches of a stream must wait: an acknowledgement covers all earlier batches of its run, so
 * none may be kept while an earlier one was refused and did not come again.
 */

import type {
  GapNotice,
  ObservationBatchHeader,
} from '../../../proto/gen/waf/v1/agent_stream_pb.ts';

/** Runs of one stream with a refused batch; batches of others wait then. */
const runsMax = 1_000;

/** What names a run of batches. */
type Run = Pick<ObservationBatchHeader, 'bootId' | 'streamKind'>;

/** The refused batches of one stream of one node. */
export class BatchOrder {
  /** The lowest refused number of each run. */
  readonly #refused = new Map<string, bigint>();

  /** True where an earlier batch of the run was refused. */
  mustWait(run: Run, batchSeq: bigint): boolean {
    const first = this.#refused.get(nameOf(run));
    if (first === undefined) return this.#refused.size >= runsMax;
    return batchSeq > first;
  }

  /** The batch could not be kept: the node sends it again. */
  refused(run: Run, batchSeq: bigint): void {
    if (!this.mustWait(run, batchSeq)) this.#refused.set(nameOf(run), batchSeq);
  }

  /** The batch is settled. */
  taken(run: Run, batchSeq: bigint): void {
    if (this.#refused.get(nameOf(run)) === batchSeq) this.#refused.delete(nameOf(run));
  }

  /** The node gave batches up: nobody waits for them. */
  givenUp(gap: GapNotice): void {
    const first = this.#refused.get(nameOf(gap));
    if (first !== undefined && first <= gap.lastBatchSeq) this.#refused.delete(nameOf(gap));
  }
}

function nameOf({ bootId, streamKind }: Run): string {
  return `${streamKind} ${Buffer.from(bootId).toString('hex')}`;
}
