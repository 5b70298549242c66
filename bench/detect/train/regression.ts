/**
 * Logistic regression with weights that are never negative, and an L1 penalty, over sparse rows of
 * bits. Pure and deterministic: full gradients, fixed steps.
 */

/** One row: the columns that are 1. */
export interface Example {
  readonly columns: readonly number[];
  /** 1 for an attack, 0 for none. */
  readonly label: 0 | 1;
  /** How much it counts. */
  readonly weight: number;
}

/** What was learned. */
export interface Model {
  readonly weights: Float64Array;
  readonly bias: number;
}

/** How to learn. */
export interface Fit {
  readonly columns: number;
  readonly penalty: number;
  readonly steps: number;
}

/**
 * Fits by proximal gradient with momentum. Source: Beck and Teboulle, A Fast Iterative
 * Shrinkage-Thresholding Algorithm, SIAM J. Imaging Sciences 2 (2009); the proximal step of an L1
 * penalty on weights from 0 on is a subtraction cut at 0.
 */
export function fit(examples: readonly Example[], { columns, penalty, steps }: Fit): Model {
  const total = examples.reduce((sum, { weight }) => sum + weight, 0);
  const longest = examples.reduce((most, one) => Math.max(most, one.columns.length), 1);
  // A bound of the gradient's change: a quarter of the squared length of the longest row.
  const step = 4 / (longest + 1);
  let weights = new Float64Array(columns);
  let bias = 0;
  let ahead = Float64Array.from(weights);
  let biasAhead = 0;
  let momentum = 1;
  const slope = new Float64Array(columns);
  for (let round = 0; round < steps; round++) {
    slope.fill(0);
    const biasSlope = gradient(examples, { weights: ahead, bias: biasAhead }, slope) / total;
    const next = new Float64Array(columns);
    for (let at = 0; at < columns; at++) {
      next[at] = Math.max(0, ahead[at]! - step * (slope[at]! / total + penalty));
    }
    const nextBias = biasAhead - step * biasSlope;
    const nextMomentum = (1 + Math.sqrt(1 + 4 * momentum * momentum)) / 2;
    const share = (momentum - 1) / nextMomentum;
    ahead = next.map((value, at) => value + share * (value - weights[at]!));
    biasAhead = nextBias + share * (nextBias - bias);
    weights = next;
    bias = nextBias;
    momentum = nextMomentum;
  }
  return { weights, bias };
}

/** Adds the gradient of the loss to `slope`; returns that of the bias. */
function gradient(examples: readonly Example[], model: Model, slope: Float64Array): number {
  let biasSlope = 0;
  for (const { columns, label, weight } of examples) {
    const error = weight * (probability(columns, model) - label);
    biasSlope += error;
    for (const column of columns) slope[column]! += error;
  }
  return biasSlope;
}

/** How likely an attack is, by the model. */
export function probability(columns: readonly number[], { weights, bias }: Model): number {
  let sum = bias;
  for (const column of columns) sum += weights[column]!;
  return 1 / (1 + Math.exp(-sum));
}
