/** Settings of policies and logs, in combinations that cover every pair of values. Plain data. */

/** The settings of a policy and the values that are walked. */
export const settings = {
  ruleset: ['CRS 3.3.4', 'CRS 4.28.0'],
  decision: ['CRS', 'SCORE', 'BOTH'],
  engine: ['OFF', 'DETECTION_ONLY', 'ON'],
  sampling: [0, 50, 100],
  reporting: [0, 4, 5],
} as const;

/** Modes of the log policy, for access events and for security events. */
export const modes = ['NONE', 'EXEMPLARS', 'ALL'] as const;
type Mode = (typeof modes)[number];

/** One value of each setting of a policy. */
export type Combination = {
  readonly [Name in keyof typeof settings]: (typeof settings)[Name][number];
};

const rows = [
  ['CRS 4.28.0', 'CRS', 'OFF', 0, 0],
  ['CRS 3.3.4', 'CRS', 'DETECTION_ONLY', 50, 5],
  ['CRS 4.28.0', 'CRS', 'ON', 100, 4],
  ['CRS 3.3.4', 'SCORE', 'OFF', 50, 4],
  ['CRS 3.3.4', 'SCORE', 'DETECTION_ONLY', 100, 0],
  ['CRS 3.3.4', 'SCORE', 'ON', 0, 5],
  ['CRS 3.3.4', 'BOTH', 'OFF', 100, 5],
  ['CRS 4.28.0', 'BOTH', 'DETECTION_ONLY', 0, 4],
  ['CRS 4.28.0', 'BOTH', 'ON', 50, 0],
  // Each decision refuses all attacks somewhere.
  ['CRS 4.28.0', 'SCORE', 'ON', 100, 0],
  ['CRS 4.28.0', 'BOTH', 'ON', 100, 5],
] as const;

/** The rows of the array. */
export const combinations: readonly Combination[] = rows.map(
  ([ruleset, decision, engine, sampling, reporting]) => {
    return { ruleset, decision, engine, sampling, reporting };
  },
);

/** A site: a policy with each mode of both kinds once, in other pairs from policy to policy. */
export type WalkedSite = Combination & {
  readonly policy: number;
  readonly access: Mode;
  readonly security: Mode;
};

/** The sites that are walked. */
export const walkedSites: readonly WalkedSite[] = combinations.flatMap((one, policy) =>
  modes.map((access, at) => {
    return { ...one, policy, access, security: modes[(at + policy) % modes.length]! };
  }),
);

/** Pairs of values that no row has. */
export function missingPairs(
  values: Readonly<Record<string, readonly unknown[]>>,
  array: readonly Readonly<Record<string, unknown>>[],
): string[] {
  const names = Object.keys(values);
  return names.flatMap((one, at) =>
    names
      .slice(at + 1)
      .flatMap((other) =>
        values[one]!.flatMap((left) =>
          values[other]!.flatMap((right) =>
            array.some((row) => row[one] === left && row[other] === right)
              ? []
              : [`${one} ${String(left)}, ${other} ${String(right)}`],
          ),
        ),
      ),
  );
}
