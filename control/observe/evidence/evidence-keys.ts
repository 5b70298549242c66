/** How evidence lies in its store: keys, values as JSON or records, and the count of bytes. */

import type { RequestEvidenceMetadataJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import { prefixRange, type KvReader, type KvWriter } from '../../store/kv.ts';
import { metadataOfRecord, recordOfValue } from './evidence-records.ts';

/** Stands between the parts of a key. */
export const separator = '\u0000';
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const useKey = `u${separator}bytes`;

/**
 * First parts of the keys under which content lies: metadata, header fields, answers and bodies.
 * Others hold ids and counts only.
 */
export const contentPrefixes: ReadonlySet<string> = new Set(['m', 'h', 'a', 'ab', 'b']);

/** What is kept of one request beside its header fields and body. */
export interface StoredMetadata {
  /** Of all that is kept of it. */
  readonly bytes: number;
  readonly metadata: RequestEvidenceMetadataJson;
  /** SHA-256 of what announced it, hex; absent where it came as a record. */
  readonly digest?: string;
}

/** A key of parts. */
export function key(...parts: readonly string[]): string {
  return parts.join(separator);
}

/** Where a piece of a body lies. */
export function pieceKey(id: string, at: number): string {
  return key('b', id, String(at).padStart(6, '0'));
}

/** Removes the body of evidence. */
export function removePieces(writer: KvWriter, id: string): void {
  const pieces = prefixRange(key('b', id, ''));
  for (const piece of [...writer.range({ ...pieces, keysOnly: true })]) writer.remove(piece.key);
}

/** What is known of evidence; null for none. */
export function readMetadata(reader: KvReader, id: string): StoredMetadata | null {
  const value = reader.get(key('m', id));
  return value === undefined ? null : metadataOfValue(value);
}

/** What a value says of evidence. */
export function metadataOfValue(value: Uint8Array): StoredMetadata {
  const kept = recordOfValue(value);
  if (kept === null) return decode<StoredMetadata>(value);
  return { bytes: value.length, metadata: metadataOfRecord(kept) };
}

/** Bytes of all evidence, also of bodies that are not complete. */
export function readUse(reader: KvReader): number {
  return readJson<number>(reader, useKey) ?? 0;
}

/** Counts bytes that came or, below 0, went. */
export function addUse(writer: KvWriter, bytes: number): void {
  writer.put(useKey, encode(Math.max(0, readUse(writer) + bytes)));
}

/** A value that was encoded as JSON. */
export function readJson<T>(reader: KvReader, at: string): T | undefined {
  const bytes = reader.get(at);
  return bytes === undefined ? undefined : decode<T>(bytes);
}

/** Reads a value. */
export function decode<T>(bytes: Uint8Array): T {
  return JSON.parse(decoder.decode(bytes)) as T;
}

/** A value as it is kept. */
export function encode(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}
