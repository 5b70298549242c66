/** Puts the counts of a lane under the names of the contract. Pure. */

import type { LaneField, LaneTimes, ObservationLane, ObservationPipeline } from './pipeline.ts';

/** Every lane with its name for people. */
const lanes: readonly (readonly [ObservationLane, string])[] = [
  ['security_fact', 'Security events'],
  ['metric', 'Exact counts'],
  ['access_detail', 'Access events'],
  ['access_sample', 'Sampled access events'],
  ['access_export', 'Access events for other systems'],
  ['error_detail', 'Error events'],
  ['other', 'Streams that are not understood'],
];

/**
 * Counts of a lane, in batches; what a node gave up is counted in items, and what a killed node had
 * counted and not stored in requests.
 */
export interface LaneFields {
  readonly attempted: number;
  readonly admitted: number;
  readonly written: number;
  readonly dropped: number;
  readonly retried: number;
}

/** One lane. */
export interface LaneStats extends LaneTimes {
  readonly name: ObservationLane;
  readonly displayName: string;
  readonly fields: LaneFields;
  /** Batches that could not be read. */
  readonly invalid: number;
}

/** Every lane, also those on which nothing came. */
export function laneStats(pipeline: ObservationPipeline): LaneStats[] {
  const counts = new Map(
    pipeline.list().map(({ lane, field, count }) => [`${lane} ${field}`, count]),
  );
  return lanes.map(([name, displayName]) => {
    const of = (field: LaneField): number => counts.get(`${name} ${field}`) ?? 0;
    const written = of('batches_stored');
    const retried = of('batches_failed');
    const repeated = of('batches_repeated');
    const invalid = of('batches_damaged') + of('batches_not_understood');
    const fields = {
      attempted: written + repeated + invalid + retried,
      admitted: written + repeated + retried,
      written,
      dropped: of('items_lost') + invalid,
      retried,
    };
    return { name, displayName, fields, invalid, ...pipeline.times(name) };
  });
}
