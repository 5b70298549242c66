/**
 * How changes of persistent values add up, so that requests that change one collection at the same
 * time lose nothing of each other. Stores nothing.
 */

/** One stored value of a persistent collection; bytes as text. */
export interface StoredText {
  readonly value: string;
  /** Milliseconds since the epoch; 0 = never. */
  readonly expiresAtMs: number;
}

/** What was done to one value. */
export interface StoredChange {
  /** What it starts from: what is stored by then, nothing, or `value`. */
  readonly from: 'stored' | 'nothing' | 'value';
  readonly value: string;
  /** Added afterwards; null: nothing is added, so that a value that is not stored stays so. */
  readonly added: number | null;
  /** When the value ends; null: as stored. */
  readonly expiresAtMs: number | null;
}

/** The value is `value` from now on. */
export function changeTo(value: string): StoredChange {
  return { from: 'value', value, added: null, expiresAtMs: null };
}

/** The value, read as a whole number, grows by `added`. */
export function changeBy(added: number): StoredChange {
  return { from: 'stored', value: '', added, expiresAtMs: null };
}

/** The value is no more. */
export const removal: StoredChange = { from: 'nothing', value: '', added: null, expiresAtMs: 0 };

/** The value, should there be one, ends at `expiresAtMs`. */
export function changeOfExpiry(expiresAtMs: number): StoredChange {
  return { from: 'stored', value: '', added: null, expiresAtMs };
}

/** The one change that does what `first` and then `second` do. */
export function joinChanges(first: StoredChange | undefined, second: StoredChange): StoredChange {
  if (first === undefined) return second;
  const expiresAtMs = second.expiresAtMs ?? first.expiresAtMs;
  if (second.from !== 'stored') return { ...second, expiresAtMs };
  const added = second.added === null ? first.added : (first.added ?? 0) + second.added;
  return { from: first.from, value: first.value, added, expiresAtMs };
}

/** What `change` makes of a value; undefined for none, before and after. */
export function applyChange(
  old: StoredText | undefined,
  { from, value, added, expiresAtMs }: StoredChange,
): StoredText | undefined {
  const before = from === 'value' ? value : from === 'stored' ? old?.value : undefined;
  const after = added === null ? before : addCount(before ?? '', added);
  if (after === undefined) return undefined;
  return { value: after, expiresAtMs: expiresAtMs ?? old?.expiresAtMs ?? 0 };
}

/** Reads as C's `atoi` does; what is no number counts as 0. Bounded by the safe integers. */
function addCount(text: string, added: number): string {
  const sum = (Number.parseInt(text, 10) || 0) + added;
  const bounded = Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, sum));
  return String(bounded);
}
