/** PCRE2 patterns over bytes, with JIT and limits. Never chooses between engines. */
import { addon } from './load-addon.ts';
import type { ByteString, NativePcre, Value } from './load-addon.ts';

/** How a pattern is read. */
export interface PcreFlags {
  readonly caseless?: boolean;
  readonly multiline?: boolean;
  readonly dotall?: boolean;
  /** `$` matches at the very end only, not before a last newline. */
  readonly dollarEndOnly?: boolean;
  readonly extended?: boolean;
  readonly anchored?: boolean;
  readonly ungreedy?: boolean;
}

/** PCRE2's own counts; 0 or absent leaves the library's default. */
export interface PcreLimits {
  readonly matchLimit?: number;
  readonly depthLimit?: number;
}

/** What exec and test give when a limit stopped the search: no answer, neither yes nor no. */
export const LIMIT_EXCEEDED = -1;

/**
 * One compiled pattern, byte mode, no UTF. For one thread.
 * Errors: the constructor throws code `pcre_compile` with `offset`; later calls throw code
 * `closed` after close().
 */
export class Pcre {
  readonly #native: NativePcre;
  readonly captureCount: number;

  constructor(pattern: ByteString, flags: PcreFlags = {}, limits: PcreLimits = {}) {
    this.#native = new addon.Pcre(pattern, flags, limits);
    this.captureCount = this.#native.captureCount();
  }

  /**
   * The first match at or after byte offset `start`.
   * Shape: pairs [start, end) of byte offsets, the whole match first, -1 for an unset capture;
   * null for no match; LIMIT_EXCEEDED when a limit (match, depth, stack) stopped the search.
   */
  exec(value: Value, start = 0): Int32Array | null | typeof LIMIT_EXCEEDED {
    return this.#native.exec(value, start) as Int32Array | null | typeof LIMIT_EXCEEDED;
  }

  /** As exec without captures; a limit gives LIMIT_EXCEEDED. */
  test(value: Value): boolean | typeof LIMIT_EXCEEDED {
    const answer = this.#native.test(value, 0);
    return answer === LIMIT_EXCEEDED ? LIMIT_EXCEEDED : answer === 1;
  }

  close(): void {
    this.#native.close();
  }
}

/** PCRE2's version and the date of its release. */
export function pcreVersion(): string {
  return addon.pcreVersion();
}
