/**
 * What one request teaches: decided by its head, taken from its held body, counted when it ended
 * well. Holds names and types, never bytes.
 */

import { learningLimits } from '../../base/learning-limits.ts';
import type { LearningGap } from '../../contract/api-learning.ts';
import type { RequestEvent } from '../../contract/events.ts';
import type { BodySnapshot } from '../../contract/message.ts';
import type { RequestView } from '../../guard/request-view.ts';
import { readMediaType } from '../media-type.ts';
import { structureOf, type BodyStructure } from './body-structure.ts';
import type { FieldCounts } from './field-counts.ts';

/** Where held bytes come from. */
export interface HeldBody {
  takeBody(limitBytes: number): BodySnapshot | null;
}

/** What a thread may still look at in this interval. */
export interface LookBudget {
  bodies: number;
  bytes: number;
}

/** One request of an endpoint that learns. */
export class LearningRun {
  private readonly counts: FieldCounts;
  private readonly budget: LookBudget;
  private found: BodyStructure | LearningGap;

  constructor(counts: FieldCounts, budget: LookBudget, found: LearningGap) {
    this.counts = counts;
    this.budget = budget;
    this.found = found;
  }

  /** Looks at what is held of the body; not `whole`: more may follow. */
  take(held: HeldBody, heldBytes: number, whole: boolean): void {
    if (this.found !== 'not_held') return;
    if (!whole || heldBytes > learningLimits.bodyBytesMax) this.found = 'too_long';
    else if (heldBytes === 0) this.found = 'no_body';
    else if (!this.spend(heldBytes)) this.found = 'not_sampled';
    else this.look(held.takeBody(learningLimits.bodyBytesMax));
  }

  /** Counts the request. */
  end({ outcome, status, transaction }: RequestEvent): void {
    const { found, counts } = this;
    const flagged = transaction?.detectionOnly === true || transaction?.failure !== undefined;
    const successful = outcome === 'served' && status >= 200 && status <= 299;
    if (!successful) counts.miss('not_successful');
    else if (typeof found === 'string') counts.miss(found);
    else if (flagged) counts.miss('flagged');
    else counts.learn(found);
    this.found = 'no_body';
  }

  private look(body: BodySnapshot | null): void {
    if (body === null) return;
    const { buffer, byteOffset, byteLength } = body.bytes;
    this.found = structureOf(Buffer.from(buffer, byteOffset, byteLength));
  }

  private spend(bytes: number): boolean {
    const { budget, counts } = this;
    if (budget.bodies <= 0 || budget.bytes < bytes) return false;
    if (counts.looked >= learningLimits.bodiesPerEndpoint) return false;
    budget.bodies--;
    budget.bytes -= bytes;
    counts.looked++;
    return true;
  }
}

/** What the head says: why nothing can be learned, or `not_held` until the body was seen. */
export function gapOfHead(view: RequestView, hasBody: boolean): LearningGap {
  if (!hasBody) return 'no_body';
  const fields = view.fields('content-type');
  const media = fields.length === 1 ? readMediaType(fields[0]!) : null;
  if (media === null || !/^application\/(?:[^/]+\+)?json$/.test(media.type)) return 'other_media';
  const coding = view.header('content-encoding');
  return coding === null || coding.toLowerCase() === 'identity' ? 'not_held' : 'encoded';
}
