/**
 * What each message of an upload does to the store of evidence, in one transaction: evidence is
 * kept once, its body by and by, and belongs to the node that announced it first. Without room only
 * that it is missing is kept.
 */

import type {
  RequestEvidenceHeaderJson,
  RequestEvidenceMetadataJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { crc32c } from '../../../base/crc32c.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';
import type { KvWriter } from '../../store/kv.ts';
import {
  addUse,
  encode,
  key,
  metadataOfValue,
  readUse,
  type StoredMetadata,
} from './evidence-keys.ts';
import { isMissing, sealBytes } from './evidence-label.ts';
import { writePieces, type PartialEvidence, type UploadClaim } from './partial-evidence.ts';

/** What is kept of an answer, its body apart. */
export interface KeptAnswer {
  /** 0 where none was sent. */
  readonly status: number;
  readonly headers: readonly RequestEvidenceHeaderJson[];
  readonly truncated: boolean;
  /** Why its body is not there, or not whole, '' for a whole one; absent: nobody asked for it. */
  readonly bodyLack?: string;
}

/** Evidence that a node announced. */
export interface NewEvidence extends UploadClaim {
  /** `evidenceId`, `agentId` and `requestId` are set. */
  readonly metadata: RequestEvidenceMetadataJson;
  readonly headers: readonly RequestEvidenceHeaderJson[];
  /** Null where the node says nothing of it. */
  readonly answer: KeptAnswer | null;
  /** What came of the answer's body; empty for nothing. */
  readonly answerBody: Uint8Array;
  readonly bodySize: number;
  readonly bodyCrc32c: number;
}

/** How an upload stands. */
export type UploadState =
  /** All of it is kept; `rejected`: there was no room, so only that it is missing was kept now. */
  | { readonly kind: 'stored'; readonly rejected: boolean }
  /** `bytes` of the body are kept; the rest is to come. */
  | { readonly kind: 'open'; readonly bytes: number }
  /** What was kept is gone: the upload begins again. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'refused'; readonly reason: string };

/** Where an upload is kept. */
export interface Uploads {
  readonly writer: KvWriter;
  readonly partials: PartialEvidence;
  readonly quota: number;
  readonly nowMs: number;
}

/** How the upload of announced evidence stands. */
export function beginUpload(uploads: Uploads, evidence: NewEvidence): UploadState {
  const { writer, partials, nowMs } = uploads;
  const known = knownState(uploads, evidence);
  if (known !== null) return known;
  const partial = partials.get(evidence.evidenceId);
  if (partial === null) return { kind: 'open', bytes: 0 };
  // The write makes the answer wait until the disk has what it tells.
  partials.touch(writer, partial, nowMs);
  return { kind: 'open', bytes: partial.bytes };
}

/** Adds to a body. */
export function appendToUpload(
  uploads: Uploads,
  evidence: NewEvidence,
  offset: number,
  data: Uint8Array,
): UploadState {
  const { writer, partials, nowMs } = uploads;
  const known = knownState(uploads, evidence);
  if (known !== null) return known;
  const { bytes } = partials.get(evidence.evidenceId) ?? { bytes: 0 };
  if (bytes === 0 && offset > 0) return { kind: 'lost' };
  const fault = faultOfPart(evidence, bytes, offset, data);
  if (fault !== '') {
    partials.drop(writer, evidence.evidenceId);
    return { kind: 'refused', reason: fault };
  }
  if (!fits(uploads, evidence, data.length)) return keepMissing(uploads, evidence);
  return { kind: 'open', bytes: partials.append(writer, evidence, data, nowMs).bytes };
}

/** Ends an upload whose body was added. */
export function completeUpload(uploads: Uploads, evidence: NewEvidence): UploadState {
  const { writer, partials } = uploads;
  const { evidenceId, bodySize, bodyCrc32c } = evidence;
  if (bodySize === 0) return putWhole(uploads, evidence, new Uint8Array());
  const known = knownState(uploads, evidence);
  if (known !== null) return known;
  const partial = partials.get(evidenceId);
  if (partial === null) return { kind: 'lost' };
  const whole = partial.bytes === bodySize;
  if (!whole || partial.sum !== bodyCrc32c) {
    partials.drop(writer, evidenceId);
    const reason = whole ? 'bodyCrc32c: differs' : 'commit: the body is not complete';
    return { kind: 'refused', reason };
  }
  if (!fits(uploads, evidence, 0)) return keepMissing(uploads, evidence);
  partials.complete(writer, evidenceId);
  keep(uploads, evidence, evidence.metadata, bodySize);
  return { kind: 'stored', rejected: false };
}

/** Keeps evidence whose whole body is at hand. */
export function putWhole(uploads: Uploads, evidence: NewEvidence, body: Uint8Array): UploadState {
  const { writer, partials } = uploads;
  const { evidenceId, bodySize, bodyCrc32c } = evidence;
  const known = knownState(uploads, evidence);
  if (known !== null) return known;
  if (body.length !== bodySize) {
    return { kind: 'refused', reason: 'commit: the body is not complete' };
  }
  if (crc32c(body) !== bodyCrc32c) return { kind: 'refused', reason: 'bodyCrc32c: differs' };
  partials.drop(writer, evidenceId);
  if (!fits(uploads, evidence, body.length)) return keepMissing(uploads, evidence);
  writePieces(writer, evidenceId, 0, body);
  addUse(writer, body.length);
  keep(uploads, evidence, evidence.metadata, body.length);
  return { kind: 'stored', rejected: false };
}

/** What is decided already: evidence that is kept, or that is not this node's or not the same. */
function knownState({ writer, partials }: Uploads, evidence: NewEvidence): UploadState | null {
  const { evidenceId, agentId, digest } = evidence;
  const value = writer.get(key('m', evidenceId));
  const stored = value === undefined ? null : metadataOfValue(value);
  const partial = partials.get(evidenceId);
  const owner = stored?.metadata.agentId ?? partial?.agentId ?? agentId;
  if (owner !== agentId) return { kind: 'refused', reason: 'evidenceId: is of another node' };
  const announced = stored === null ? partial?.digest : stored.digest;
  if ((announced ?? digest) !== digest) {
    return { kind: 'refused', reason: 'evidenceId: was announced with other content' };
  }
  if (value === undefined) return null;
  if (isMissing(value)) return { kind: 'stored', rejected: false };
  // Written again, so that the answer waits for the disk where the first write still does.
  writer.put(key('m', evidenceId), value);
  return { kind: 'stored', rejected: false };
}

function faultOfPart(
  { bodySize }: NewEvidence,
  bytes: number,
  offset: number,
  data: Uint8Array,
): string {
  if (offset !== bytes) return 'offset: leaves a gap';
  const end = bytes + data.length;
  if (end > bodySize) return 'data: is longer than bodySize';
  const short = data.length < evidenceStoreLimits.bodyPieceBytes && end < bodySize;
  return short ? 'data: is too short' : '';
}

/** Whether there is room for evidence and `more` bytes of its body that are not counted yet. */
function fits({ writer, quota }: Uploads, evidence: NewEvidence, more: number) {
  const { metadata, headers, answer, answerBody } = evidence;
  const about =
    sealBytes + JSON.stringify(metadata).length + JSON.stringify([headers, answer]).length;
  return readUse(writer) + about + answerBody.length + more <= quota;
}

/** Keeps that evidence is missing, which has a share of its own. */
function keepMissing(uploads: Uploads, evidence: NewEvidence): UploadState {
  const { writer, partials, quota } = uploads;
  partials.drop(writer, evidence.evidenceId);
  if (readUse(writer) <= quota * 1.05) {
    const bare = { ...evidence, headers: [], answer: null, answerBody: new Uint8Array() };
    keep(uploads, bare, withoutContent(evidence.metadata), 0);
  }
  return { kind: 'stored', rejected: true };
}

function keep(
  { writer }: Uploads,
  { evidenceId, digest, headers, answer, answerBody }: NewEvidence,
  metadata: RequestEvidenceMetadataJson,
  bodyBytes: number,
): void {
  const fields = encode(headers);
  const answered = answer === null ? null : encode(answer);
  const heads = (headers.length > 0 ? fields.length : 0) + (answered?.length ?? 0);
  const content = heads + answerBody.length;
  const own = JSON.stringify(metadata).length + content + sealBytes;
  const stored: StoredMetadata = { bytes: own + bodyBytes, metadata, digest };
  writer.put(key('m', evidenceId), encode(stored));
  writer.put(key('r', metadata.requestId ?? '', evidenceId), new Uint8Array());
  if (headers.length > 0) writer.put(key('h', evidenceId), fields);
  if (answered !== null) writer.put(key('a', evidenceId), answered);
  if (answerBody.length > 0) writer.put(key('ab', evidenceId), answerBody);
  addUse(writer, own);
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
