/** How series over time name their rows: parts that sort by time. Knows no series. */

/** Stands in a key for all sites of a tenant. */
export const everySite = '*';
/** Between the parts of a key; no part holds it. */
export const separator = '\u0000';

const timeDigits = 14;

/** A time in milliseconds as text that sorts as numbers do. */
export function timeText(atMs: number): string {
  return String(Math.max(0, Math.floor(atMs))).padStart(timeDigits, '0');
}
