/**
 * One front thread's slot of the run's tally: counts that outlive a killed process. Written without
 * system calls; never read here.
 */

import { isSecurity } from './log-sampler.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { tallyFields, tallySlotLength, type TallyPlace } from '../../contract/run-tally.ts';
import { mapFile } from '../../system/memory.ts';

const requestsAt = tallyFields.indexOf('requests');
const blockedAt = tallyFields.indexOf('blocked');
const factsAt = tallyFields.indexOf('facts');

/** Counts of one thread; a thread in place of one that died continues where that one ended. */
export class TallySlot {
  readonly #counts: Float64Array;

  /** Without a place, or where the file cannot be mapped, it counts for nobody. */
  constructor(place: TallyPlace | null) {
    this.#counts = place === null ? new Float64Array(tallySlotLength) : mapSlot(place);
  }

  /** A request has ended. */
  requestEnded({ outcome }: RequestEvent): void {
    this.#counts[requestsAt]!++;
    if (outcome === 'blocked') this.#counts[blockedAt]!++;
  }

  /** An event was handed to the main thread. */
  eventTold(event: RequestEvent): void {
    if (isSecurity(event)) this.#counts[factsAt]!++;
  }
}

/** The header of the file is as long as a slot. */
function mapSlot({ path, slot }: TallyPlace): Float64Array {
  const start = (slot + 1) * tallySlotLength;
  const bytes = (start + tallySlotLength) * Float64Array.BYTES_PER_ELEMENT;
  try {
    return new Float64Array(mapFile(path, bytes)).subarray(start);
  } catch {
    return new Float64Array(tallySlotLength);
  }
}
