/** Intervals of shares. Pure. */

/** A share with its 95 % interval, all from 0 to 1. */
export interface Share {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

const z = 1.959964;

/** Source: E. B. Wilson, Probable inference, JASA 22 (1927). `total` 0: everything is possible. */
export function wilson(hits: number, total: number): Share {
  if (total === 0) return { share: Number.NaN, low: 0, high: 1 };
  const share = hits / total;
  const spread = z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total));
  const middle = share + (z * z) / (2 * total);
  const scale = 1 + (z * z) / total;
  const low = hits === 0 ? 0 : (middle - spread) / scale;
  return { share, low, high: hits === total ? 1 : (middle + spread) / scale };
}

/** For people: `1.23 % (0.98 to 1.52)`. */
export function formatShare({ share, low, high }: Share): string {
  if (Number.isNaN(share)) return '–';
  return `${percent(share)} % (${percent(low)} to ${percent(high)})`;
}

function percent(share: number): string {
  return (100 * share).toFixed(share < 0.1 ? 2 : 1);
}
