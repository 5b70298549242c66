/**
 * Evidence that came as a record: kept as one value, the record's bytes after its owner, and read
 * from there when somebody asks. Nothing of it is decoded to be kept.
 */

import { create, toJson } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  RequestEvidenceMetadataSchema,
  type RequestEvidenceMetadataJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { describeEvidence, evidenceFields } from '../../../base/evidence-fields.ts';
import {
  EvidenceWriter,
  readEvidence,
  type PackedEvidence,
  type ReadEvidence,
} from '../../../base/evidence-layout.ts';

/** Whose evidence it is. */
export interface EvidenceOwner {
  readonly agentId: string;
  readonly tenantId: string;
}

/** A value as it is kept. */
export interface KeptRecord {
  readonly owner: EvidenceOwner;
  readonly record: PackedEvidence;
  /** Bytes of the record. */
  readonly bytes: Uint8Array;
}

/** Earlier values are JSON, which does not begin so. */
const mark = 1;
const frontBytes = 3;
const nothing = new Uint8Array();
const bareWriter = new EvidenceWriter();

/** The value of a record. */
export function valueOfRecord({ agentId, tenantId }: EvidenceOwner, bytes: Uint8Array): Uint8Array {
  const owner = Buffer.from(`${agentId}\0${tenantId}`);
  const value = Buffer.allocUnsafeSlow(frontBytes + owner.length + bytes.length);
  value[0] = mark;
  value.writeUInt16LE(owner.length, 1);
  value.set(owner, frontBytes);
  value.set(bytes, frontBytes + owner.length);
  return value;
}

/** The record that a value holds; null for a value of another kind. */
export function recordOfValue(value: Uint8Array): KeptRecord | null {
  if (value[0] !== mark) return null;
  const view = Buffer.from(value.buffer, value.byteOffset, value.length);
  const end = frontBytes + view.readUInt16LE(1);
  const [agentId = '', tenantId = ''] = view.toString('utf8', frontBytes, end).split('\0');
  const read = readEvidence(value, end);
  if (read === null) return null;
  return { owner: { agentId, tenantId }, record: read.record, bytes: read.bytes };
}

/** The bytes that say only that the content of a record is missing, for want of room. */
export function withoutContent({ record }: ReadEvidence): Uint8Array {
  const { answerBody: _, ...rest } = record;
  const bare = { headers: nothing, body: nothing, answer: null, lack: 'quota' };
  bareWriter.add({ ...rest, ...bare });
  return bareWriter.take();
}

/** What is known of kept evidence, as it is answered. */
export function metadataOfRecord({ owner, record }: KeptRecord): RequestEvidenceMetadataJson {
  const metadata = create(RequestEvidenceMetadataSchema, {
    ...describeEvidence(record, evidenceFields(record.headers)),
    startedAt: timestampFromMs(record.receivedAtMs),
    completedAt: timestampFromMs(record.completedAtMs),
  });
  const json = toJson(RequestEvidenceMetadataSchema, metadata) as RequestEvidenceMetadataJson;
  return { ...json, ...owner };
}
