/**
 * Turns evidence back into the request that left it, or says why that cannot be done. Field names
 * and values are as they came; the order of fields with one name is kept, and HTTP/2 is tried as
 * HTTP/1.1. Pure.
 */

import type {
  RequestEvidenceHeaderJson,
  RequestEvidenceMetadataJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';

/** A request as an engine takes it. */
export interface ReplayableRequest {
  readonly head: Uint8Array;
  readonly clientIp: string;
  /** Bytes of the body, which follows the head. */
  readonly bodyBytes: number;
}

/** Why a request cannot be tried again. */
export type NotReplayable = 'unavailable' | 'headers_cut' | 'body_cut' | 'not_http';

/** Where the client is not known: evidence of earlier versions. An address of documentation. */
const unknownClient = '203.0.113.10';

/** The request of some evidence, or why there is none. */
export function toReplayable(
  metadata: RequestEvidenceMetadataJson,
  headers: readonly RequestEvidenceHeaderJson[],
  bodyBytesMax: number,
): ReplayableRequest | NotReplayable {
  const { method = '', requestTarget = '', host = '', httpVersion = '' } = metadata;
  if (metadata.available !== true) return 'unavailable';
  if (metadata.headerTruncated === true) return 'headers_cut';
  // They cannot be decrypted.
  if (headers.length === 0 && Number(metadata.headerCapturedBytes ?? 0) > 0) return 'unavailable';
  const bodyBytes = Number(metadata.bodyCapturedBytes ?? 0);
  if (metadata.bodyTruncated === true || bodyBytes > bodyBytesMax) return 'body_cut';
  const protocol = httpVersion === 'HTTP/1.0' ? httpVersion : 'HTTP/1.1';
  const lines = [`${method} ${requestTarget} ${protocol}`];
  const fields = headers.flatMap(({ name = '', values = [] }) =>
    values.map((value) => ({ name, value })),
  );
  const hasHost = fields.some(({ name }) => name.toLowerCase() === 'host');
  if (!hasHost && host !== '') lines.push(`Host: ${host}`);
  for (const { name, value } of fields) lines.push(`${name}: ${value}`);
  const isHttp = /^[^\s]+$/.test(method) && /^[^\s]+$/.test(requestTarget);
  if (!isHttp || lines.some((line) => /[\0\r\n]/.test(line))) return 'not_http';
  return {
    head: new Uint8Array(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)),
    clientIp: metadata.clientIp ?? unknownClient,
    bodyBytes,
  };
}
