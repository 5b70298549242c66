/** Evidence as it travels to control: a manifest, pieces of the body, a commit. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type {
  EvidenceManifestSchema,
  UploadRequestSchema,
} from '../../proto/gen/waf/v1/evidence_upload_pb.ts';
import { crc32c } from '../../base/crc32c.ts';
import { describeEvidence, evidenceFields } from '../../base/evidence-fields.ts';
import { evidenceLimits } from '../base/observation-limits.ts';
import type { AnswerBody, EvidenceRecord } from '../contract/evidence.ts';

/** A message of an upload. */
export type UploadMessage = NonNullable<MessageInitShape<typeof UploadRequestSchema>['message']>;

/** Announces the evidence of one request. */
export function manifestMessage(
  record: EvidenceRecord,
  agentId: string,
  bodyCrc32c: number,
): UploadMessage {
  return { case: 'manifest', value: manifestOf(record, agentId, bodyCrc32c) };
}

/** A piece of a body. */
export function chunkMessage({ id, body }: EvidenceRecord, offset: number): UploadMessage {
  const data = new Uint8Array(body.subarray(offset, offset + evidenceLimits.chunkBytesMax));
  const value = { evidenceId: id, offset: BigInt(offset), data, crc32c: crc32c(data) };
  return { case: 'chunk', value };
}

/** Ends an upload. */
export function commitMessage({ id, body }: EvidenceRecord, bodyCrc32c: number): UploadMessage {
  const value = { evidenceId: id, totalBytes: BigInt(body.length), bodyCrc32c };
  return { case: 'commit', value };
}

function manifestOf(
  record: EvidenceRecord,
  agentId: string,
  bodyCrc32c: number,
): MessageInitShape<typeof EvidenceManifestSchema> {
  const { body } = record;
  const fields = evidenceFields(record.headers);
  return {
    metadata: {
      ...describeEvidence(record, fields),
      agentId,
      startedAt: timestampFromMs(record.receivedAtMs),
      completedAt: timestampFromMs(record.completedAtMs),
    },
    headers: fields,
    bodySize: BigInt(body.length),
    bodyCrc32c,
    answer: {
      status: record.answer.status,
      headers: evidenceFields(record.answer.headers),
      headerTruncated: record.answer.truncated,
      ...(record.answerBody && { body: answerBodyOf(record.answerBody) }),
    },
    retention: { securityAnchor: record.reason === 'security' },
  };
}

function answerBodyOf({ bytes, lack }: AnswerBody) {
  return { data: new Uint8Array(bytes), lack };
}
