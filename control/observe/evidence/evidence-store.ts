/**
 * Keeps evidence of requests: what is known of one, its header fields, and its body in pieces that
 * are read by range. Keys sort by time, so that whole days go in order. Never decides who may read.
 */

import type {
  RequestEvidenceHeaderJson,
  RequestEvidenceMetadataJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import type { Clock } from '../../../base/clock.ts';
import { evidenceFields } from '../../../base/evidence-fields.ts';
import type { ReadEvidence } from '../../../base/evidence-layout.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';
import { prefixRange, type Kv, type KvWriter } from '../../store/kv.ts';
import {
  addUse,
  key,
  metadataOfValue,
  pieceKey,
  readJson,
  readMetadata,
  readUse,
  removePieces,
  separator,
} from './evidence-keys.ts';
import {
  appendToUpload,
  beginUpload,
  completeUpload,
  putWhole,
  type KeptAnswer,
  type NewEvidence,
  type UploadState,
  type Uploads,
} from './evidence-uploads.ts';
import { sealBytes } from './evidence-label.ts';
import { recordOfValue, type EvidenceOwner, type KeptRecord } from './evidence-records.ts';
import { PartialEvidence, type PartialBounds } from './partial-evidence.ts';
import { keepRecords, type RecordsState } from './record-uploads.ts';

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
  /**
   * What is there of evidence that a node announces. Like the three below it resolves when the disk
   * has what it tells, and rejects when the disk does not take it.
   */
  begin(evidence: NewEvidence): Promise<UploadState>;
  /** Adds to a body at `offset`. */
  append(evidence: NewEvidence, offset: number, data: Uint8Array): Promise<UploadState>;
  /** Ends an upload whose body was added. */
  complete(evidence: NewEvidence): Promise<UploadState>;
  /** Keeps evidence whose whole body is at hand, once, however often it comes. */
  put(evidence: NewEvidence, body: Uint8Array): Promise<UploadState>;
  /** Keeps records of a node, each once; resolves and rejects like the four above. */
  putRecords(owner: EvidenceOwner, records: readonly ReadEvidence[]): Promise<RecordsState>;
  metadata(evidenceId: string): RequestEvidenceMetadataJson | null;
  /** Evidence of a request, the newest first; ids of requests may come again. */
  ofRequest(requestId: string): Iterable<RequestEvidenceMetadataJson>;
  /** Evidence of requests that came in a time, the newest first. */
  between(fromMs: number, toMs: number): Iterable<RequestEvidenceMetadataJson>;
  headers(evidenceId: string): readonly RequestEvidenceHeaderJson[];
  /** What was answered; null where it is not kept. */
  answer(evidenceId: string): KeptAnswer | null;
  /** What is kept of the answer's body; empty for nothing. */
  answerBody(evidenceId: string): Uint8Array;
  /** Bytes of a body from `offset` on, one piece at most; empty past its end. */
  readBody(evidenceId: string, offset: number): Uint8Array;
  /** Removes what came before a time. */
  forget(beforeMs: number): Promise<void>;
  /** Removes the begin of bodies that nobody continued since a time. */
  forgetPartial(beforeMs: number): Promise<void>;
  use(): EvidenceUse;
  /** Notes bytes of uploads that come into memory (or, below 0, go). */
  stage(bytes: number): void;
  close(): Promise<void>;
}

const { bodyPieceBytes, quotaBytes, forgottenPerWrite } = evidenceStoreLimits;

/** True for ids that nodes make: `ev-`, milliseconds, a random part. */
export function isEvidenceId(id: string): boolean {
  return /^ev-\d{14}-[0-9a-f]{1,64}$/.test(id);
}

/** Opens the evidence in `kv`, whose writes are on disk when they resolve. */
export function openEvidenceStore(
  kv: Kv,
  clock: Clock,
  quota: number = quotaBytes,
  bounds: PartialBounds = evidenceStoreLimits,
): EvidenceStore {
  const counts = { quotaRejected: 0, writeFailed: 0 };
  let heldBytes = 0;
  const partials = new PartialEvidence(kv, bounds);
  const written = async <T>(change: (uploads: Uploads) => T): Promise<T> => {
    try {
      const nowMs = clock.nowMs();
      return await kv.write((writer) => change({ writer, partials, quota, nowMs }));
    } catch (error) {
      counts.writeFailed++;
      partials.reload();
      throw error;
    }
  };
  const write = async (change: (uploads: Uploads) => UploadState): Promise<UploadState> => {
    const state = await written(change);
    if (state.kind === 'stored' && state.rejected) counts.quotaRejected++;
    return state;
  };
  return {
    begin: (evidence) => write((uploads) => beginUpload(uploads, evidence)),
    append: (evidence, offset, data) =>
      write((uploads) => appendToUpload(uploads, evidence, offset, data)),
    complete: (evidence) => write((uploads) => completeUpload(uploads, evidence)),
    put: (evidence, body) => write((uploads) => putWhole(uploads, evidence, body)),
    putRecords: async (owner, records) => {
      const state = await written((uploads) => keepRecords(uploads, owner, records));
      counts.quotaRejected += state.rejected;
      return state;
    },
    ...readerOf(kv, partials),
    forget: async (beforeMs) => {
      const end = keyAt(beforeMs);
      while ((await kv.write((writer) => forgetSome(writer, end))) > 0) continue;
    },
    forgetPartial: async (beforeMs) => {
      while ((await kv.write((writer) => partials.dropOld(writer, beforeMs))) > 0) continue;
    },
    use: () => ({
      storedBytes: Math.max(0, readUse(kv) - partials.bytes),
      stagedBytes: heldBytes + partials.bytes,
      quotaBytes: quota,
      ...counts,
    }),
    stage: (bytes) => {
      heldBytes += bytes;
    },
    close: () => kv.close(),
  };
}

/** What is asked of evidence that is kept. */
type EvidenceReader = Pick<
  EvidenceStore,
  'metadata' | 'ofRequest' | 'between' | 'headers' | 'answer' | 'answerBody' | 'readBody'
>;

function readerOf(kv: Kv, partials: PartialEvidence): EvidenceReader {
  const recordOf = (id: string): KeptRecord | null => {
    const value = kv.get(key('m', id));
    return value === undefined ? null : recordOfValue(value);
  };
  return {
    metadata: (id) => readMetadata(kv, id)?.metadata ?? null,
    ofRequest: (requestId) => ofRequest(kv, requestId),
    between: (fromMs, toMs) => between(kv, fromMs, toMs),
    headers: (id) => {
      const kept = recordOf(id);
      if (kept !== null) return evidenceFields(kept.record.headers);
      return readJson<RequestEvidenceHeaderJson[]>(kv, key('h', id)) ?? [];
    },
    answer: (id) => {
      const kept = recordOf(id);
      return kept === null ? (readJson<KeptAnswer>(kv, key('a', id)) ?? null) : answerOf(kept);
    },
    answerBody: (id) => {
      const kept = recordOf(id)?.record;
      return kept?.answerBody?.bytes ?? kv.get(key('ab', id)) ?? new Uint8Array();
    },
    readBody: (id, offset) => {
      if (partials.get(id) !== null) return new Uint8Array();
      const kept = recordOf(id);
      // All of it is one piece.
      if (kept !== null) return kept.record.body.subarray(offset);
      const piece = kv.get(pieceKey(id, Math.floor(offset / bodyPieceBytes)));
      return piece?.subarray(offset % bodyPieceBytes) ?? new Uint8Array();
    },
  };
}

function answerOf({ record: { answer, answerBody } }: KeptRecord): KeptAnswer | null {
  if (answer === null) return null;
  const { status, headers, truncated } = answer;
  const kept = { status, headers: evidenceFields(headers), truncated };
  return answerBody === undefined ? kept : { ...kept, bodyLack: answerBody.lack };
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
    yield metadataOfValue(entry.value).metadata;
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
    const value = writer.get(entry.key);
    if (value === undefined) continue;
    const kept = recordOfValue(value);
    const stored = kept === null ? metadataOfValue(value) : null;
    freed += stored?.bytes ?? value.length + sealBytes;
    writer.remove(entry.key);
    const requestId = kept?.record.requestId ?? stored?.metadata.requestId ?? '';
    writer.remove(key('r', requestId, id));
    // A record is one value.
    if (kept === null) removeParts(writer, id);
  }
  if (old.length > 0) addUse(writer, -freed);
  return old.length;
}

function removeParts(writer: KvWriter, id: string): void {
  for (const part of ['h', 'a', 'ab']) writer.remove(key(part, id));
  removePieces(writer, id);
}
