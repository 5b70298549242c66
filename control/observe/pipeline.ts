/** Owns counting what became of observations on their way in, since this process began. */

/** Streams as metrics name them. */
export type ObservationLane = 'security_fact' | 'metric' | 'other';

/** What is counted of a lane. */
export type LaneField =
  | 'batches_stored'
  | 'batches_repeated'
  | 'batches_damaged'
  | 'batches_not_understood'
  | 'batches_failed'
  | 'gaps'
  | 'items_lost';

/** Counts by lane and field. */
export class ObservationPipeline {
  readonly #counts = new Map<ObservationLane, Map<LaneField, number>>();

  add(lane: ObservationLane, field: LaneField, count = 1): void {
    let fields = this.#counts.get(lane);
    if (fields === undefined) this.#counts.set(lane, (fields = new Map()));
    fields.set(field, (fields.get(field) ?? 0) + count);
  }

  /** All counts that are not zero. */
  list(): { readonly lane: ObservationLane; readonly field: LaneField; readonly count: number }[] {
    return [...this.#counts].flatMap(([lane, fields]) => {
      return [...fields].map(([field, count]) => ({ lane, field, count }));
    });
  }
}
