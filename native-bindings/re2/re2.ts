/**
 * RE2 patterns, and the small addon that runs them; control loads it, too. Never chooses between
 * engines.
 */
import { loadAddonFile, requireAddonFile } from '../load/load-addon.ts';

/** `bytes`: strings hold one byte a character; `text`: they are read as UTF-8. */
export type Re2Reading = 'bytes' | 'text';

interface NativeRe2 {
  test(value: string | Uint8Array): boolean;
  exec(value: string | Uint8Array, start: number, places: Int32Array): number;
}

interface Re2Addon {
  readonly Re2: new (pattern: string, isText: boolean) => NativeRe2;
}

/** Code of the error for a pattern that RE2 does not take. */
export const re2CompileCode = 're2_compile';

/** Loaded at once: without it no pattern of RE2's may look like one that RE2 does not take. */
const addon = loadAddonFile<Re2Addon>(requireAddonFile('waf_re2'));

/**
 * One compiled pattern of RE2's syntax. For one thread. Values are strings, or the bytes that RE2
 * reads of them.
 * Errors: the constructor throws code `re2_compile`.
 * Cost: compiling takes microseconds to milliseconds; a search is linear in the value.
 */
export class Re2 {
  readonly #native: NativeRe2;

  constructor(pattern: string, reading: Re2Reading) {
    this.#native = new addon.Re2(pattern, reading === 'text');
  }

  test(value: string | Uint8Array): boolean {
    return this.#native.test(value);
  }

  /**
   * The first match at or after byte offset `start`: its pairs [start, end) of byte offsets are
   * written to `places`, the whole match first, -1 for an unset capture.
   * The number of pairs, 0 for no match; as many as `places` has room for, 16 at most.
   */
  exec(value: string | Uint8Array, start: number, places: Int32Array): number {
    return this.#native.exec(value, start, places);
  }
}
