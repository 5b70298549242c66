/**
 * The points of detectors and rules: a versioned data file for each ruleset, made by
 * `bench/detect`. Reads and checks one; never chooses.
 */

/** The three named thresholds of a score. */
export interface Thresholds {
  readonly watch: number;
  readonly challenge: number;
  readonly block: number;
}

/** Points by detector and rule. */
export interface Weights {
  /** Stands in every event. */
  readonly version: string;
  /** For example `4.28.0`; '' for none. */
  readonly ruleset: string;
  readonly points: ReadonlyMap<number, number>;
  /** By detector: where a rule of its family matched on the same piece. */
  readonly pairs: ReadonlyMap<number, number>;
  readonly thresholds: Thresholds;
}

/** A data file of weights; `training` is for people. */
export interface WeightsFile {
  readonly version: string;
  readonly ruleset: string;
  readonly thresholds: Thresholds;
  readonly points: Readonly<Record<string, number>>;
  readonly pairs: Readonly<Record<string, number>>;
  readonly training: unknown;
}

/** Reads a data file. Errors: points below 0, thresholds out of order. */
export function readWeights(file: WeightsFile): Weights {
  const { version, ruleset, thresholds } = file;
  const { watch, challenge, block } = thresholds;
  if (!(watch > 0 && watch <= challenge && challenge <= block && block <= 100)) {
    throw new Error(`weights ${version}: expected 0 < watch <= challenge <= block <= 100`);
  }
  return {
    ...{ version, ruleset, thresholds },
    points: numbered(file.points, version),
    pairs: numbered(file.pairs, version),
  };
}

function numbered(record: Readonly<Record<string, number>>, version: string): Map<number, number> {
  const rows = Object.entries(record).map(([id, points]): [number, number] => {
    if (!(points >= 0)) throw new Error(`weights ${version}: ${id} has points below 0`);
    return [Number(id), points];
  });
  return new Map(rows);
}
