/**
 * Keeps evidence of requests: what is known of one, its header fields, and its body in pieces that
 * are read by range. Keys sort by time, so that whole days go in order. Never decides who may read.
 */

import type {
  RequestEvidenceHeaderJson,
  RequestEvidenceMetadataJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';
import { prefixRange, type Kv, type KvReader, type KvWriter } from '../../store/kv.ts';

/** Evidence that is to be kept. */
export interface NewEvidence {
  /** `evidenceId` and `requestId` are set. */
  readonly metadata: RequestEvidenceMetadataJson;
  readonly headers: readonly RequestEvidenceHeaderJson[];
  readonly body: Uint8Array;
}

/** What became of evidence; `quota`: only that it is missing was kept. */
export type EvidenceResult = 'stored' | 'repeated' | 'quota';

/** How much there is. */
export interface EvidenceUse {
  readonly storedBytes: number;
  /** Of uploads that are not complete. */
  readonly stagedBytes: number;
  readonly quotaBytes: number;
  /** Since the start. */
  readonly quotaRejected: number;
  readonly writeFailed: number;
}

/** Evidence that is kept. */
export interface EvidenceStore {
  /** Keeps evidence once, however often it comes. Rejects when the disk does not take it. */
  put(evidence: NewEvidence): Promise<EvidenceResult>;
  metadata(evidenceId: string): RequestEvidenceMetadataJson | null;
  /** Evidence of a request, the newest first; ids of requests may come again. */
  ofRequest(requestId: string): Iterable<RequestEvidenceMetadataJson>;
  /** Evidence of requests that came in a time, the newest first. */
  between(fromMs: number, toMs: number): Iterable<RequestEvidenceMetadataJson>;
  headers(evidenceId: string): readonly RequestEvidenceHeaderJson[];
  /** Bytes of a body from `offset` on, one piece at most; empty past its end. */
  readBody(evidenceId: string, offset: number): Uint8Array;
  /** Removes what came before a time. */
  forget(beforeMs: number): Promise<void>;
  use(): EvidenceUse;
  /** Notes bytes of uploads that come (or, below 0, go). */
  stage(bytes: number): void;
  close(): Promise<void>;
}

const separator = '\u0000';
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const useKey = `u${separator}bytes`;
const { bodyPieceBytes, quotaBytes, forgottenPerWrite } = evidenceStoreLimits;

/** True for ids that nodes make: `ev-`, milliseconds, a random part. */
export function isEvidenceId(id: string): boolean {
  return /^ev-\d{14}-[0-9a-f]{1,64}$/.test(id);
}

interface StoredMetadata {
  readonly bytes: number;
  readonly metadata: RequestEvidenceMetadataJson;
}

/** Opens the evidence in `kv`. */
export function openEvidenceStore(kv: Kv, quota: number = quotaBytes): EvidenceStore {
  const counts = { quotaRejected: 0, writeFailed: 0, stagedBytes: 0 };
  return {
    put: async (evidence) => {
      try {
        const result = await kv.write((writer) => putEvidence(writer, evidence, quota));
        if (result === 'quota') counts.quotaRejected++;
        return result;
      } catch (error) {
        counts.writeFailed++;
        throw error;
      }
    },
    metadata: (id) => readMetadata(kv, id)?.metadata ?? null,
    ofRequest: (requestId) => ofRequest(kv, requestId),
    between: (fromMs, toMs) => between(kv, fromMs, toMs),
    headers: (id) => readJson<RequestEvidenceHeaderJson[]>(kv, key('h', id)) ?? [],
    readBody: (id, offset) => {
      const piece = kv.get(pieceKey(id, Math.floor(offset / bodyPieceBytes)));
      return piece?.subarray(offset % bodyPieceBytes) ?? new Uint8Array();
    },
    forget: async (beforeMs) => {
      const end = keyAt(beforeMs);
      while ((await kv.write((writer) => forgetSome(writer, end))) > 0) continue;
    },
    use: () => ({ storedBytes: readUse(kv), quotaBytes: quota, ...counts }),
    stage: (bytes) => {
      counts.stagedBytes += bytes;
    },
    close: () => kv.close(),
  };
}

function putEvidence(
  writer: KvWriter,
  { metadata, headers, body }: NewEvidence,
  quota: number,
): EvidenceResult {
  const { evidenceId = '', requestId = '' } = metadata;
  if (writer.get(key('m', evidenceId)) !== undefined) return 'repeated';
  const fields = encode(headers);
  const content = fields.length + body.length;
  const used = readUse(writer);
  const fits = used + content + JSON.stringify(metadata).length <= quota;
  // What says that evidence is missing has a share of its own.
  if (!fits && used > quota * 1.05) return 'quota';
  const kept = fits ? metadata : withoutContent(metadata);
  const bytes = JSON.stringify(kept).length + (fits ? content : 0);
  writer.put(key('m', evidenceId), encode({ bytes, metadata: kept } satisfies StoredMetadata));
  writer.put(key('r', requestId, evidenceId), new Uint8Array());
  putUse(writer, used + bytes);
  if (!fits) return 'quota';
  writer.put(key('h', evidenceId), fields);
  for (let at = 0; at * bodyPieceBytes < body.length; at++) {
    const piece = body.slice(at * bodyPieceBytes, (at + 1) * bodyPieceBytes);
    writer.put(pieceKey(evidenceId, at), piece);
  }
  return 'stored';
}

function withoutContent(metadata: RequestEvidenceMetadataJson): RequestEvidenceMetadataJson {
  return {
    ...metadata,
    available: false,
    headerCapturedBytes: '0',
    bodyCapturedBytes: '0',
    headerTruncated: Number(metadata.headerOriginalBytes ?? 0) > 0,
    bodyTruncated: Number(metadata.bodyOriginalBytes ?? 0) > 0,
    unavailableReason: 'quota',
  };
}

function* ofRequest(kv: Kv, requestId: string): Generator<RequestEvidenceMetadataJson> {
  const range = prefixRange(key('r', requestId, ''));
  for (const entry of kv.range({ ...range, reverse: true, keysOnly: true })) {
    const id = entry.key.slice(entry.key.lastIndexOf(separator) + 1);
    const found = readMetadata(kv, id);
    if (found !== null) yield found.metadata;
  }
}

function* between(kv: Kv, fromMs: number, toMs: number): Generator<RequestEvidenceMetadataJson> {
  const range = { start: keyAt(fromMs), end: keyAt(toMs), reverse: true };
  for (const entry of kv.range(range)) {
    yield (JSON.parse(decoder.decode(entry.value)) as StoredMetadata).metadata;
  }
}

/** Where evidence of a time begins. */
function keyAt(ms: number): string {
  return key('m', `ev-${String(Math.max(0, Math.floor(ms))).padStart(14, '0')}`);
}

function forgetSome(writer: KvWriter, end: string): number {
  const { start } = prefixRange(key('m', ''));
  const old = [...writer.range({ start, end, limit: forgottenPerWrite, keysOnly: true })];
  let freed = 0;
  for (const entry of old) {
    const id = entry.key.slice(entry.key.lastIndexOf(separator) + 1);
    const stored = readMetadata(writer, id);
    freed += stored?.bytes ?? 0;
    writer.remove(entry.key);
    writer.remove(key('h', id));
    writer.remove(key('r', stored?.metadata.requestId ?? '', id));
    const pieces = prefixRange(key('b', id, ''));
    for (const piece of [...writer.range({ ...pieces, keysOnly: true })]) writer.remove(piece.key);
  }
  if (old.length > 0) putUse(writer, Math.max(0, readUse(writer) - freed));
  return old.length;
}

function readMetadata(reader: KvReader, id: string): StoredMetadata | null {
  return readJson<StoredMetadata>(reader, key('m', id)) ?? null;
}

function readUse(reader: KvReader): number {
  return readJson<number>(reader, useKey) ?? 0;
}

function putUse(writer: KvWriter, bytes: number): void {
  writer.put(useKey, encode(bytes));
}

function readJson<T>(reader: KvReader, at: string): T | undefined {
  const bytes = reader.get(at);
  return bytes === undefined ? undefined : (JSON.parse(decoder.decode(bytes)) as T);
}

function encode(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

function pieceKey(id: string, at: number): string {
  return key('b', id, String(at).padStart(6, '0'));
}

function key(...parts: readonly string[]): string {
  return parts.join(separator);
}
