/** Counts what became of observations on their way in, since this process began. */

/** Streams as metrics name them. */
export type ObservationLane =
  | 'security_fact'
  | 'metric'
  | 'access_detail'
  | 'access_sample'
  | 'access_export'
  | 'error_detail'
  | 'other';

/** What is counted of a lane. */
export type LaneField =
  | 'batches_stored'
  | 'batches_repeated'
  | 'batches_damaged'
  | 'batches_not_understood'
  | 'batches_failed'
  | 'gaps'
  | 'items_lost';

/** When a lane last worked and failed, milliseconds, and why; 0 and '' for never. */
export interface LaneTimes {
  readonly lastSuccessMs: number;
  readonly lastErrorMs: number;
  /** Empty after a success. */
  readonly lastError: string;
}

const never: LaneTimes = { lastSuccessMs: 0, lastErrorMs: 0, lastError: '' };

/** Counts by lane and field. */
export class ObservationPipeline {
  readonly #counts = new Map<ObservationLane, Map<LaneField, number>>();
  readonly #times = new Map<ObservationLane, LaneTimes>();

  add(lane: ObservationLane, field: LaneField, count = 1): void {
    let fields = this.#counts.get(lane);
    if (fields === undefined) this.#counts.set(lane, (fields = new Map()));
    fields.set(field, (fields.get(field) ?? 0) + count);
  }

  /** A batch was kept (`error` is '') or was not. */
  note(lane: ObservationLane, atMs: number, error: string): void {
    const before = this.times(lane);
    const change = error === '' ? { lastSuccessMs: atMs } : { lastErrorMs: atMs };
    this.#times.set(lane, { ...before, ...change, lastError: error });
  }

  times(lane: ObservationLane): LaneTimes {
    return this.#times.get(lane) ?? never;
  }

  /** All counts that are not zero. */
  list(): { readonly lane: ObservationLane; readonly field: LaneField; readonly count: number }[] {
    return [...this.#counts].flatMap(([lane, fields]) => {
      return [...fields].map(([field, count]) => ({ lane, field, count }));
    });
  }
}
