/**
 * Takes evidence of requests from nodes: hello, then for each request a manifest, pieces of its
 * body and a commit. Each is acknowledged once it is kept, or never will be.
 */

import { toJson, type MessageInitShape } from '@bufbuild/protobuf';
import {
  EvidenceAckStatus,
  type EvidenceChunk,
  type EvidenceCommit,
  type EvidenceManifest,
  type EvidenceUploadService,
  type UploadResponseSchema,
} from '../../../proto/gen/waf/v1/evidence_upload_pb.ts';
import {
  RequestEvidenceHeaderSchema,
  RequestEvidenceMetadataSchema,
  type RequestEvidenceHeaderJson,
  type RequestEvidenceMetadataJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { crc32c } from '../../../engine/base/crc32c.ts';
import { refusal } from '../../domain/errors.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';
import { isEvidenceId, type EvidenceStore } from '../../observe/evidence/evidence-store.ts';
import { peerKey, type ApiParts } from '../context.ts';
import { admitNode, type AdmittedNode } from '../enrolled-nodes/admit-node.ts';
import type { Method } from '../method.ts';

/** One stream of one node. */
export function upload(parts: ApiParts): Method<typeof EvidenceUploadService, 'upload'> {
  return async function* (requests, context) {
    let staged: StagedEvidence | null = null;
    let node: AdmittedNode | null = null;
    let leave = (): unknown => undefined;
    let ended = '';
    try {
      for await (const { message } of requests) {
        if (node === null) {
          if (message.case !== 'hello') throw refusal('invalid_argument', 'hello: must come first');
          node = admitNode(parts, message.value, context);
          context.values.get(peerKey)?.endless();
          leave = parts.streams.enter(node.id, 'evidence', (reason) => (ended = reason));
          continue;
        }
        if (ended !== '') throw refusal('unavailable', `stream: ${ended}`);
        if (message.case === 'manifest') {
          staged?.drop();
          staged = new StagedEvidence(message.value, node, parts.evidence);
        } else if (message.case === 'chunk') staged?.add(message.value);
        else if (message.case === 'commit') {
          yield await commit(parts, staged, message.value, node.id);
          staged?.drop();
          staged = null;
        } else throw refusal('invalid_argument', 'message: manifest, chunk or commit is expected');
      }
    } finally {
      leave();
      staged?.drop();
    }
  };
}

/** Evidence of which some is there. */
class StagedEvidence {
  readonly id: string;
  private readonly manifest: EvidenceManifest;
  private readonly node: AdmittedNode;
  private readonly store: EvidenceStore;
  private readonly pieces: Uint8Array[] = [];
  private bytes = 0;
  private fault = '';

  constructor(manifest: EvidenceManifest, node: AdmittedNode, store: EvidenceStore) {
    this.store = store;
    this.manifest = manifest;
    this.node = node;
    this.id = manifest.metadata?.evidenceId ?? '';
    const { bodyBytesMax, headerFieldsMax } = evidenceStoreLimits;
    if (!isEvidenceId(this.id)) this.fault = 'evidenceId: is not one of a node';
    else if (manifest.bodySize > BigInt(bodyBytesMax)) this.fault = 'bodySize: is too large';
    else if (manifest.headers.length > headerFieldsMax) this.fault = 'headers: there are too many';
  }

  add({ evidenceId, offset, data, crc32c: sum }: EvidenceChunk): void {
    if (this.fault !== '') return;
    const size = Number(this.manifest.bodySize);
    if (evidenceId !== this.id || offset !== BigInt(this.bytes))
      this.fault = 'offset: leaves a gap';
    else if (crc32c(data) !== sum) this.fault = 'crc32c: differs';
    else if (this.bytes + data.length > size) this.fault = 'data: is longer than bodySize';
    if (this.fault !== '') return;
    this.pieces.push(data);
    this.bytes += data.length;
    this.store.stage(data.length);
  }

  /** Gives up what is there. */
  drop(): void {
    this.store.stage(-this.bytes);
    this.pieces.length = 0;
    this.bytes = 0;
  }

  /** Keeps it. Gives what is wrong with it; '' for nothing. */
  async keep({ evidenceId, totalBytes }: EvidenceCommit): Promise<string> {
    const { manifest } = this;
    if (this.fault !== '') return this.fault;
    const whole = BigInt(this.bytes) === manifest.bodySize && totalBytes === manifest.bodySize;
    if (evidenceId !== this.id || !whole) return 'commit: the body is not complete';
    const body = Buffer.concat(this.pieces);
    if (crc32c(body) !== manifest.bodyCrc32c) return 'bodyCrc32c: differs';
    await this.store.put({ metadata: this.metadata(), headers: headersOf(manifest), body });
    return '';
  }

  private metadata(): RequestEvidenceMetadataJson {
    const { metadata } = this.manifest;
    const json = toJson(RequestEvidenceMetadataSchema, metadata!) as RequestEvidenceMetadataJson;
    return { ...json, agentId: this.node.id, tenantId: this.node.tenantId };
  }
}

function headersOf({ headers }: EvidenceManifest): RequestEvidenceHeaderJson[] {
  return headers.map(
    (one) => toJson(RequestEvidenceHeaderSchema, one) as RequestEvidenceHeaderJson,
  );
}

async function commit(
  parts: ApiParts,
  staged: StagedEvidence | null,
  message: EvidenceCommit,
  nodeId: string,
): Promise<MessageInitShape<typeof UploadResponseSchema>> {
  const { evidenceId } = message;
  try {
    const error = staged === null ? 'manifest: is missing' : await staged.keep(message);
    const status = error === '' ? EvidenceAckStatus.DURABLE : EvidenceAckStatus.FATAL;
    const durableThroughOffset = error === '' ? message.totalBytes : 0n;
    return { durableAck: { evidenceId, status, durableThroughOffset, error } };
  } catch {
    parts.logger.error('evidence could not be kept', { node: nodeId });
    const error = 'the disk does not take it';
    return { durableAck: { evidenceId, status: EvidenceAckStatus.RETRYABLE, error } };
  }
}
