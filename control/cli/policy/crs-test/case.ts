/** What one test case of a rule set's regression suite is, whatever file it came from. */

/** What must be true after a stage; every part that is given must hold. */
export interface Expectation {
  readonly ids: readonly number[];
  readonly noIds: readonly number[];
  readonly noIdsAtAll: boolean;
  readonly statuses: readonly number[];
  /** No HTTP answer at all. */
  readonly error: boolean;
  /** Looked for in the log lines of matches, in ModSecurity's wording. */
  readonly logRegex: string | null;
  readonly noLogRegex: string | null;
  readonly retryOnce: boolean;
}

/** One request of a case. */
export interface Stage {
  /** The exact bytes to send. */
  readonly wire: Buffer;
  readonly expect: Expectation;
}

/** One case: it passes when all its stages do. */
export interface TestCase {
  /** Unique in its suite, for example `920100-1`. */
  readonly title: string;
  readonly family: string;
  readonly stages: readonly Stage[];
  /** Why it cannot run; null when it can. */
  readonly skip: string | null;
}

/** An expectation that asks for nothing. */
export const noExpectation: Expectation = {
  ids: [],
  noIds: [],
  noIdsAtAll: false,
  statuses: [],
  error: false,
  logRegex: null,
  noLogRegex: null,
  retryOnce: false,
};

/** Numbers of a value that may be one number, a list or absent; others are left out. */
export function numberList(value: unknown): number[] {
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  return list.map(Number).filter((one) => Number.isInteger(one) && one > 0);
}

/** A text, or null for anything else and the empty text. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A record, or an empty one for anything else. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** What YAML may write without quotes, as text; '' for anything that is no scalar. */
export function scalarText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : '';
}
