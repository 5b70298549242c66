/**
 * Loads the compiled addon, and declares the shape of its exports. Never checks arguments beyond
 * what the addon does itself: that is the work of the files beside it.
 */
import { loadAddonFile, requireAddonFile } from './load/load-addon.ts';

/** Bytes as a string whose char codes are 0..255; the same as the engine's ByteString. */
export type ByteString = string;

/** One value: a byte string, or bytes in ordinary or shared memory. */
export type Value = ByteString | Uint8Array;

/** The addon's own database object; `HsDatabase` wraps it. */
export interface NativeDatabase {
  serialize(): Uint8Array;
  scan(value: Value): Int32Array;
  info(): string;
  size(): number;
  close(): void;
}

/** A stream scan as the addon offers it. */
export interface NativeStream {
  write(value: Value): Int32Array;
  close(): Int32Array;
}

/** A scan program as the addon offers it. */
export interface NativeScanProgram {
  scan(slab: Uint8Array, rows: Int32Array, rowCount: number, hits: Int32Array): number;
  attach(
    id: number,
    slab: Uint8Array,
    source: Uint8Array,
    keyStart: Int32Array,
    keyEnd: Int32Array,
    start: Int32Array,
    end: Int32Array,
  ): void;
  bindHits(hits: Int32Array): void;
  scanRows(id: number, from: number, to: number, onlyClass: number): number;
  stats(): Record<string, number>;
  close(): void;
}

/** A PCRE2 pattern as the addon offers it. */
export interface NativePcre {
  exec(value: Value, start: number): Int32Array | number | null;
  test(value: Value, start: number): number;
  captureCount(): number;
  close(): void;
}

/** An HTTP/2 session as the addon offers it. */
export interface NativeHttp2Session {
  receive(bytes: Uint8Array, length: number): number;
  events(): Int32Array | null;
  heads(): Uint8Array;
  respond(stream: number, bytes: Uint8Array, start: number, end: number, last: boolean): boolean;
  data(stream: number, bytes: Uint8Array, start: number, end: number, last: boolean): boolean;
  trailers(stream: number, bytes: Uint8Array, start: number, end: number): void;
  pull(target: Uint8Array): number;
  consume(stream: number, bytes: number): void;
  reset(stream: number, code: number): void;
  shutdown(): void;
  terminate(code: number): void;
  glitches(): number;
  finished(): boolean;
  close(): void;
}

/** The addon's own queue of compilations; `HsCompileQueue` wraps it. */
export interface NativeCompileQueue {
  submit(id: number, expressions: readonly object[]): void;
  next(): {
    readonly id: number;
    readonly bytes?: Uint8Array;
    readonly message?: string;
    readonly expression?: number;
  } | null;
  close(): void;
}

/** What build/Release/waf_native.node exports. */
export interface NativeAddon {
  transform<T extends Value>(ids: number | Uint8Array, value: T, unicodeMap?: Uint8Array): T;
  setUnicodeMap(map: Uint8Array | null): void;
  transformationNames(): string[];
  transformationTriggers(): number[];
  byteClasses(): Uint8Array;
  detectSqli(value: Value): string | null;
  detectXss(value: Value): boolean;
  outsideByteRange(value: Value, allowed: Uint8Array): boolean;
  badUrlEncoding(value: Value): boolean;
  badUtf8(value: Value): boolean;
  hsCompile(expressions: readonly object[], stream: boolean): NativeDatabase;
  hsCheckExpression(pattern: string, flags: number, compile: boolean): Record<string, unknown>;
  hsVersion(): string;
  injectionVersion(): string;
  pcreVersion(): string;
  hsPlatformFeatures(): number;
  hsPlatformTune(): number;
  hsDeserialize(bytes: Uint8Array): NativeDatabase;
  hsSerializedSize(bytes: Uint8Array): number;
  hsDeserializeInto(bytes: Uint8Array, target: Uint8Array): void;
  hsAttach(memory: Uint8Array): NativeDatabase;
  readonly HsCompileQueue: new (threads: number) => NativeCompileQueue;
  readonly HsStream: new (database: NativeDatabase) => NativeStream;
  readonly ScanProgram: new (
    spec: object,
    arenaBytesMax: number,
    memoEntries: number,
    memoEntriesMax: number,
  ) => NativeScanProgram;
  readonly Pcre: new (pattern: string, flags: object, limits: object) => NativePcre;
  readonly Http2Session: new (settings: object) => NativeHttp2Session;
  mapFile(path: string, bytes: number): ArrayBuffer;
  easeHeap(): boolean;
  trimHeap(): boolean;
  threadCpuUs(): number;
  decodeZstd(bytes: Uint8Array, bytesMax: number): Buffer | null;
  acceptClients(fd: number, owned: Int32Array, onClient: (fd: number) => void): () => void;
}

/** Where the addon lies. */
export const addonFile = requireAddonFile('waf_native');

/** The addon, loaded once for each thread that imports this file. */
export const addon = loadAddonFile<NativeAddon>(addonFile);
