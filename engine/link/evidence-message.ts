/** Evidence as it travels to control: a manifest, pieces of the body, a commit. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type {
  EvidenceManifestSchema,
  UploadRequestSchema,
} from '../../proto/gen/waf/v1/evidence_upload_pb.ts';
import { crc32c } from '../../base/crc32c.ts';
import { evidenceLimits } from '../base/observation-limits.ts';
import type { AnswerBody, EvidenceRecord } from '../contract/evidence.ts';

/** A header field with its values in their order; decoded texts. */
interface Field {
  readonly name: string;
  readonly values: string[];
}

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
  const { headers, headerBytes, body, bodyBytes, lack } = record;
  const fields = fieldsOf(headers);
  const valuesOf = (name: string): readonly string[] =>
    fields.filter((field) => field.name.toLowerCase() === name).flatMap(({ values }) => values);
  const length = valuesOf('content-length')[0] ?? '';
  return {
    metadata: {
      evidenceId: record.id,
      available: headers.length + body.length > 0,
      headerOriginalBytes: BigInt(headerBytes),
      headerCapturedBytes: BigInt(headers.length),
      bodyOriginalBytes: BigInt(bodyBytes),
      bodyCapturedBytes: BigInt(body.length),
      headerTruncated: headers.length < headerBytes,
      bodyTruncated: body.length < bodyBytes,
      unavailableReason: lack,
      requestId: record.requestId,
      siteId: record.siteId,
      agentId,
      startedAt: timestampFromMs(record.receivedAtMs),
      completedAt: timestampFromMs(record.completedAtMs),
      reason: record.reason,
      method: textOf(record.method),
      host: textOf(record.host),
      requestTarget: textOf(record.target),
      contentType: valuesOf('content-type')[0] ?? '',
      contentEncoding: valuesOf('content-encoding').join(', '),
      transferEncodings: [...valuesOf('transfer-encoding')],
      clientIp: record.clientIp,
      httpVersion: record.httpVersion,
      contentLength: /^\d{1,15}$/.test(length) ? BigInt(length) : 0n,
    },
    headers: fields,
    bodySize: BigInt(body.length),
    bodyCrc32c,
    answer: {
      status: record.answer.status,
      headers: fieldsOf(record.answer.headers),
      headerTruncated: record.answer.truncated,
      ...(record.answerBody && { body: answerBodyOf(record.answerBody) }),
    },
    retention: { securityAnchor: record.reason === 'security' },
  };
}

function answerBodyOf({ bytes, lack }: AnswerBody) {
  return { data: new Uint8Array(bytes), lack };
}

/** Header fields of lines as they came; a line that continues the one before belongs to it. */
export function fieldsOf(lines: Uint8Array): Field[] {
  const fields = new Map<string, Field>();
  let last: Field | null = null;
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString('latin1');
  for (const line of text.split('\n')) {
    const whole = textOf(line.replace(/\r$/, ''));
    if (whole === '') continue;
    if (/^[ \t]/.test(whole) && last !== null) {
      last.values.push(`${last.values.pop() ?? ''} ${whole.trim()}`);
      continue;
    }
    const colon = whole.indexOf(':');
    const name = colon < 0 ? whole : whole.slice(0, colon);
    const key = name.toLowerCase();
    last = fields.get(key) ?? { name, values: [] };
    fields.set(key, last);
    last.values.push(colon < 0 ? '' : whole.slice(colon + 1).trim());
  }
  return [...fields.values()];
}

/** UTF-8 where it is that, else each byte a character: no byte is lost. */
function textOf(bytes: string): string {
  if (!/[\u0080-\u00ff]/.test(bytes)) return bytes;
  const decoded = Buffer.from(bytes, 'latin1').toString('utf8');
  return decoded.includes('\ufffd') ? bytes : decoded;
}
