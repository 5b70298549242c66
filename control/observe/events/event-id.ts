/** Ids of events: they sort by time, then by arrival. */

const timeDigits = 14;
const numberDigits = 12;
const timeMax = 10 ** timeDigits - 1;

/** The id of the event that was the `number`-th to arrive. */
export function makeEventId(atMs: number, number: number): string {
  const clamped = Math.min(Math.max(0, Math.floor(atMs)), timeMax);
  return `${String(clamped).padStart(timeDigits, '0')}-${numberText(number)}`;
}

/** A count that sorts as numbers do. */
export function numberText(number: number): string {
  return String(number).padStart(numberDigits, '0');
}

/** When the event with this id happened, in milliseconds. */
export function timeOfEventId(id: string): number {
  return Number(id.slice(0, timeDigits));
}

/** True for what `makeEventId` gives. */
export function isEventId(id: string): boolean {
  return /^\d{14}-\d{12}$/.test(id);
}
