/**
 * What one stream of a node uploads: which evidence it announced, and what its messages do to the
 * store. A body that comes in one piece is kept at its commit; others are kept as they come, so
 * that a stream that broke can be continued by the next one.
 */

import { createHash } from 'node:crypto';
import { toBinary, toJson } from '@bufbuild/protobuf';
import {
  EvidenceManifestSchema,
  type EvidenceChunk,
  type EvidenceCommit,
  type EvidenceManifest,
  type EvidenceRecords,
} from '../../../proto/gen/waf/v1/evidence_upload_pb.ts';
import {
  RequestEvidenceHeaderSchema,
  RequestEvidenceMetadataSchema,
  type RequestEvidenceHeaderJson,
  type RequestEvidenceMetadataJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { crc32c } from '../../../base/crc32c.ts';
import {
  readEvidence,
  type PackedEvidence,
  type ReadEvidence,
} from '../../../base/evidence-layout.ts';
import { refusal } from '../../domain/errors.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';
import { isEvidenceId, type EvidenceStore } from '../../observe/evidence/evidence-store.ts';
import type {
  KeptAnswer,
  NewEvidence,
  UploadState,
} from '../../observe/evidence/evidence-uploads.ts';
import type { AdmittedNode } from '../nodes/admit-node.ts';

/** Evidence that was announced and not committed yet. */
interface OpenUpload {
  readonly evidence: NewEvidence;
  /** The whole body, where it came in one piece. */
  body: Uint8Array | null;
  /** The node knows how it ended: what else comes of it, up to the commit, has no answer. */
  over: boolean;
}

const nothing = new Uint8Array();
const done = (state: UploadState): Promise<UploadState> => Promise.resolve(state);
const refused = (reason: string): Promise<UploadState> => done({ kind: 'refused', reason });

/** What became of a message of records; `fault` says why none of them could be read. */
export interface RecordsResult {
  readonly refused: number;
  readonly fault: string;
}

/** The uploads of one stream. Its methods reject when the disk does not take it. */
export class UploadSession {
  readonly #node: Pick<AdmittedNode, 'id' | 'tenantId'>;
  readonly #store: EvidenceStore;
  readonly #open = new Map<string, OpenUpload>();

  constructor(node: Pick<AdmittedNode, 'id' | 'tenantId'>, store: EvidenceStore) {
    this.#node = node;
    this.#store = store;
  }

  /**
   * Takes an announcement. Null where there is no body, so that nothing of it can be kept already:
   * the commit has the answer. Errors: resource_exhausted.
   */
  announce(manifest: EvidenceManifest): Promise<UploadState> | null {
    const evidenceId = manifest.metadata?.evidenceId ?? '';
    this.#forget(evidenceId);
    const bytes = toBinary(EvidenceManifestSchema, manifest);
    const fault = faultOf(manifest, bytes.length);
    if (fault !== '') return refused(fault);
    if (this.#open.size >= evidenceStoreLimits.openUploadsMax) {
      throw refusal('resource_exhausted', 'manifest: too many uploads are open; commit some first');
    }
    const digest = createHash('sha256').update(bytes).digest('hex');
    const evidence = evidenceOf(manifest, this.#node, digest);
    const upload = { evidence, body: null, over: false };
    this.#open.set(evidenceId, upload);
    if (evidence.bodySize === 0) return null;
    return this.#told(upload, this.#store.begin(evidence));
  }

  /** Takes a piece of a body. Null where there is nothing to answer. */
  add({ evidenceId, offset, data, crc32c: sum }: EvidenceChunk): Promise<UploadState> | null {
    const upload = this.#open.get(evidenceId);
    if (upload === undefined || upload.over) return null;
    const { evidence } = upload;
    if (crc32c(data) !== sum) {
      upload.over = true;
      return refused('crc32c: differs');
    }
    const { wholeBodyBytesMax } = evidenceStoreLimits;
    const whole = offset === 0n && data.length === evidence.bodySize;
    if (whole && data.length <= wholeBodyBytesMax) {
      this.#hold(upload, data);
      return null;
    }
    return this.#told(upload, this.#store.append(evidence, Number(offset), data));
  }

  /** Ends an upload. Null where the node knows its end. */
  commit({ evidenceId, totalBytes, bodyCrc32c }: EvidenceCommit): Promise<UploadState> | null {
    const upload = this.#open.get(evidenceId);
    if (upload === undefined) return refused('manifest: is missing');
    const { evidence, body, over } = upload;
    this.#forget(evidenceId);
    if (over) return null;
    if (totalBytes !== BigInt(evidence.bodySize)) return refused('totalBytes: is not bodySize');
    if (bodyCrc32c !== evidence.bodyCrc32c) return refused('bodyCrc32c: is not that of before');
    if (body !== null) return this.#store.put(evidence, body);
    return this.#store.complete(evidence);
  }

  /** Takes records, each whole. Those that nobody could keep are counted as refused. */
  async take({ data, crc32c: sum }: EvidenceRecords): Promise<RecordsResult> {
    if (data.length > evidenceStoreLimits.recordsBytesMax) return faulty('data: is too large');
    if (crc32c(data) !== sum) return faulty('crc32c: differs');
    const records: ReadEvidence[] = [];
    let refused = 0;
    for (let at = 0; at < data.length;) {
      const read = readEvidence(data, at);
      if (read === null) return faulty('data: holds no record of this layout');
      at = read.end;
      if (canBeKept(read.record)) records.push(read);
      else refused++;
    }
    const owner = { agentId: this.#node.id, tenantId: this.#node.tenantId };
    const state = await this.#store.putRecords(owner, records);
    return { refused: refused + state.refused, fault: '' };
  }

  /** Notes whether an answer ends the upload. */
  async #told(upload: OpenUpload, answer: Promise<UploadState>): Promise<UploadState> {
    const state = await answer;
    if (state.kind !== 'open') upload.over = true;
    return state;
  }

  /** Gives up what waits in memory. */
  close(): void {
    for (const evidenceId of [...this.#open.keys()]) this.#forget(evidenceId);
  }

  #hold(upload: OpenUpload, data: Uint8Array): void {
    this.#store.stage(data.length - (upload.body ?? nothing).length);
    upload.body = data;
  }

  #forget(evidenceId: string): void {
    const upload = this.#open.get(evidenceId);
    if (upload === undefined) return;
    this.#open.delete(evidenceId);
    this.#store.stage(-(upload.body ?? nothing).length);
  }
}

/** The last moment that a Timestamp can say. */
const timeMsMax = Date.parse('9999-12-31T23:59:59.999Z');
const faulty = (fault: string): RecordsResult => ({ refused: 0, fault });

/** As announcements are checked. */
function canBeKept(record: PackedEvidence): boolean {
  const { id, requestId, headers, answer, answerBody, body } = record;
  const { answerBodyBytesMax, bodyPieceBytes, manifestBytesMax } = evidenceStoreLimits;
  const told = requestId.length + headers.length + (answer?.headers.length ?? 0);
  return (
    isEvidenceId(id) &&
    Math.max(record.receivedAtMs, record.completedAtMs) <= timeMsMax &&
    requestId.length <= evidenceStoreLimits.requestIdCharsMax &&
    told <= manifestBytesMax &&
    (answerBody?.bytes.length ?? 0) <= answerBodyBytesMax &&
    /^[a-z_]{0,32}$/.test(answerBody?.lack ?? '') &&
    body.length <= bodyPieceBytes
  );
}

function faultOf(manifest: EvidenceManifest, bytes: number): string {
  const { answerBodyBytesMax, bodyBytesMax, headerFieldsMax, manifestBytesMax } =
    evidenceStoreLimits;
  if (!isEvidenceId(manifest.metadata?.evidenceId ?? '')) return 'evidenceId: is not one of a node';
  if (manifest.bodySize > BigInt(bodyBytesMax)) return 'bodySize: is too large';
  if (manifest.headers.length > headerFieldsMax) return 'headers: there are too many';
  if ((manifest.answer?.headers.length ?? 0) > headerFieldsMax) {
    return 'answer.headers: there are too many';
  }
  const answerBody = manifest.answer?.body?.data ?? nothing;
  if (answerBody.length > answerBodyBytesMax) return 'answer.body.data: is too large';
  return bytes > manifestBytesMax ? 'manifest: is too large' : '';
}

function evidenceOf(
  manifest: EvidenceManifest,
  { id, tenantId }: Pick<AdmittedNode, 'id' | 'tenantId'>,
  digest: string,
): NewEvidence {
  const { metadata, headers, bodySize, bodyCrc32c } = manifest;
  const json = toJson(RequestEvidenceMetadataSchema, metadata!) as RequestEvidenceMetadataJson;
  return {
    evidenceId: metadata!.evidenceId,
    agentId: id,
    digest,
    metadata: { ...json, agentId: id, tenantId },
    headers: fieldsOf(headers),
    answer: answerOf(manifest),
    answerBody: manifest.answer?.body?.data ?? nothing,
    bodySize: Number(bodySize),
    bodyCrc32c,
  };
}

/** Null for a node that says nothing of answers. */
function answerOf({ answer }: EvidenceManifest): KeptAnswer | null {
  if (answer === undefined) return null;
  const { status, headerTruncated: truncated, body } = answer;
  const kept = { status, headers: fieldsOf(answer.headers), truncated };
  return body === undefined ? kept : { ...kept, bodyLack: lackOf(body.lack) };
}

/** One of the reasons that are known, else `unknown`. */
function lackOf(lack: string): string {
  return /^[a-z_]{0,32}$/.test(lack) ? lack : 'unknown';
}

function fieldsOf(headers: EvidenceManifest['headers']): RequestEvidenceHeaderJson[] {
  return headers.map(
    (one) => toJson(RequestEvidenceHeaderSchema, one) as RequestEvidenceHeaderJson,
  );
}
