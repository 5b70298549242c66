/** The steps of charts over time: bars of one width, a scale of round numbers. Pure. */

/** What happened from a time on. */
export interface Amount {
  readonly atMs: number;
  readonly total: number;
  readonly blocked: number;
}

/** Amounts of steps of one length that follow each other, and the top of their scale. */
export interface Steps {
  readonly stepMs: number;
  readonly startMs: number;
  readonly steps: readonly Amount[];
  readonly top: number;
}

const minuteMs = 60_000;
/** Lengths that people read with ease, in minutes. */
const lengths = [1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440] as const;
/** Bars that a chart has at most: narrower ones look like one. */
const stepsMax = 61;

/**
 * Adds amounts up in steps from `startMs` to `endMs`; a step is at least `leastMs`, for amounts
 * that stand for as much themselves. Amounts outside are left out.
 */
export function stepsOf(
  amounts: readonly Amount[],
  startMs: number,
  endMs: number,
  leastMs = 0,
): Steps {
  const wantedMs = Math.max((endMs - startMs) / stepsMax, leastMs);
  const minutes = lengths.find((one) => one * minuteMs >= wantedMs);
  const stepMs =
    minutes === undefined
      ? Math.ceil(wantedMs / (1440 * minuteMs)) * 1440 * minuteMs
      : minutes * minuteMs;
  const first = Math.floor(startMs / stepMs);
  const count = Math.max(1, Math.ceil(endMs / stepMs) - first);
  const steps = Array.from({ length: count }, (_, index) => ({
    atMs: (first + index) * stepMs,
    total: 0,
    blocked: 0,
  }));
  for (const { atMs, total, blocked } of amounts) {
    const step = steps[Math.floor(atMs / stepMs) - first];
    if (step === undefined) continue;
    step.total += total;
    step.blocked += blocked;
  }
  const most = steps.reduce((found, { total }) => Math.max(found, total), 0);
  return { stepMs, startMs: first * stepMs, steps, top: roundTop(most) };
}

/** The least round number that is not below `most`: even beyond 1, so that its half is whole. */
export function roundTop(most: number): number {
  if (most <= 1) return 1;
  const unit = 10 ** Math.floor(Math.log10(most));
  const found = [1, 2, 4, 6, 8, 10].map((one) => one * unit).find((one) => one >= most);
  return found ?? 10 * unit;
}
