/**
 * Hyperscan databases and streams as objects with an explicit close(). Never picks patterns
 * or flags: what is compiled is the caller's choice.
 */
import { addon } from './load-addon.ts';
import type { ByteString, NativeDatabase, NativeStream, Value } from './load-addon.ts';

/** Hyperscan's expression flags, by their names in hs_compile.h. */
export const HS_FLAG = {
  caseless: 1,
  dotall: 2,
  multiline: 4,
  singleMatch: 8,
  allowEmpty: 16,
  utf8: 32,
  ucp: 64,
  prefilter: 128,
  somLeftmost: 256,
  combination: 512,
  quiet: 1024,
} as const;

/** One expression of a database; `literal` takes the pattern as plain bytes. */
export interface HsExpression {
  readonly pattern: ByteString;
  readonly flags: number;
  readonly id: number;
  readonly literal?: boolean;
}

/** A compile error; `expression` is the index in the given list, -1 when it is about all of it. */
export interface HsCompileError extends Error {
  readonly code: 'hs_compile';
  readonly expression: number;
}

/** What Hyperscan knows of one expression. */
export type ExpressionCheck =
  | {
      readonly ok: true;
      readonly minWidth: number;
      /** Infinity when unbounded. */
      readonly maxWidth: number;
      readonly matchesAtEnd: boolean;
      readonly matchesOnlyAtEnd: boolean;
      /** The size of a database of this one expression; only when it was compiled. */
      readonly sizeBytes?: number;
    }
  | { readonly ok: false; readonly message: string };

/** Facts about a database, as Hyperscan states them. */
export interface HsInfo {
  readonly version: string;
  readonly features: string;
  readonly mode: string;
}

const nativeOf = new WeakMap<HsDatabase, NativeDatabase>();

/** The addon's object of a database; for the files of this folder. */
export function nativeDatabaseOf(database: HsDatabase): NativeDatabase {
  const native = nativeOf.get(database);
  if (native === undefined) throw new TypeError('not a HsDatabase');
  return native;
}

/**
 * One compiled database. Owns its memory (or a view of shared memory) until close(); programs and
 * streams made from it keep what they need. Errors: code `closed` after close().
 */
export class HsDatabase {
  readonly #native: NativeDatabase;

  private constructor(native: NativeDatabase) {
    this.#native = native;
    nativeOf.set(this, native);
  }

  /**
   * Compiles expressions for this machine.
   * Errors: HsCompileError. Cost: milliseconds to tens of seconds, on the calling thread.
   */
  static compile(
    expressions: readonly HsExpression[],
    options: { readonly mode: 'block' | 'stream' },
  ): HsDatabase {
    return new HsDatabase(addon.hsCompile(expressions, options.mode === 'stream'));
  }

  /** Errors: code `hs_invalid` (corrupt), `hs_foreign` (another version or platform). */
  static deserialize(bytes: Uint8Array): HsDatabase {
    return new HsDatabase(addon.hsDeserialize(bytes));
  }

  /**
   * Unpacks serialized bytes into memory that threads can share; each thread attaches to it.
   * Errors: as deserialize.
   */
  static deserializeShared(bytes: Uint8Array): SharedArrayBuffer {
    const shared = new SharedArrayBuffer(addon.hsSerializedSize(bytes));
    addon.hsDeserializeInto(bytes, new Uint8Array(shared));
    return shared;
  }

  /** A database over memory from deserializeShared; it keeps the memory alive, copies nothing. */
  static attach(shared: SharedArrayBuffer): HsDatabase {
    return new HsDatabase(addon.hsAttach(new Uint8Array(shared)));
  }

  /** Bytes for a cache on disk, protected by Hyperscan's own checksum. */
  serialize(): Uint8Array {
    return this.#native.serialize();
  }

  /** The ids that match a value, ascending, each once; block mode only. Not for the hot path. */
  scan(value: Value): Int32Array {
    return this.#native.scan(value);
  }

  info(): HsInfo {
    const text = this.#native.info();
    const found = /^Version: (\S+) Features: (.*?) ?Mode: (\S+)$/.exec(text.trim());
    return { version: found?.[1] ?? '', features: found?.[2] ?? '', mode: found?.[3] ?? '' };
  }

  get sizeBytes(): number {
    return this.#native.size();
  }

  close(): void {
    this.#native.close();
  }
}

/**
 * Scans a value that arrives in pieces; matches across the borders count. The database must be in
 * stream mode. Cost: about the database's stream state (kilobytes) while open.
 */
export class HsStream {
  readonly #native: NativeStream;

  private constructor(native: NativeStream) {
    this.#native = native;
  }

  static open(database: HsDatabase): HsStream {
    return new HsStream(new addon.HsStream(nativeDatabaseOf(database)));
  }

  /** The ids that matched for the first time. */
  write(bytes: Value): Int32Array {
    return this.#native.write(bytes);
  }

  /** The ids that matched only at the end; frees the stream. A second close gives none. */
  close(): Int32Array {
    return this.#native.close();
  }
}

/** Asks Hyperscan about one expression; with `compile` also whether it compiles on its own. */
export function checkExpression(
  pattern: ByteString,
  flags: number,
  options: { readonly compile?: boolean } = {},
): ExpressionCheck {
  return addon.hsCheckExpression(pattern, flags, options.compile ?? false) as ExpressionCheck;
}

/** Hyperscan's version and build date. */
export function hyperscanVersion(): string {
  return addon.hsVersion();
}

/** Names what a serialized database depends on: library version, processor features, tuning. */
export function platformKey(): string {
  const features = addon.hsPlatformFeatures().toString(16);
  return `hs-${addon.hsVersion()}-${process.arch}-${features}-${addon.hsPlatformTune()}`;
}
