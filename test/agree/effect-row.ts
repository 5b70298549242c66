/** The form of a row of the table of what settings do. Plain data. */

/** What a row says of an answer. */
export interface Expected {
  /** Status of the refusal; 200 when it passes. */
  readonly status: number;
  /** Rules that must have matched, and must not have. */
  readonly with?: readonly number[];
  readonly without?: readonly number[];
  readonly score?: number;
}

/** A request as TestPolicy takes it; the body as text. */
export interface RowRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly protocol?: string;
  readonly clientIp?: string;
}

/**
 * One call; `$policy` and `$revision` stand for the row's own policy, `$list` for the IP list that
 * an earlier call of the row made.
 */
export interface RowCall {
  readonly rpc: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One row. */
export interface EffectRow {
  readonly name: string;
  readonly changes: readonly RowCall[];
  readonly request: RowRequest;
  readonly before: Expected;
  readonly after: Expected;
  /** The one ruleset under which the row holds. */
  readonly only?: string;
  /** A second request that the change must leave alone. */
  readonly other?: RowRequest & { readonly expected: Expected };
}
