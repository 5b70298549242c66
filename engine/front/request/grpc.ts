/** Which requests are gRPC, and so need HTTP/2 and trailers on their whole way. */

import { SPAN } from '../../contract/message.ts';
import { KIND_MASK } from '../../http/head-scanner.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import { FIELD } from '../../http/tables.ts';

/** `application/grpc` with a suffix or parameters; gRPC-Web is another type, and plain HTTP. */
const grpcType = /^application\/grpc(?:[+;\s]|$)/i;

/**
 * True for a gRPC request over HTTP/2. Source: gRPC over HTTP/2, Requests. Cost: nothing for
 * HTTP/1.x.
 */
export function isGrpc(bytes: Buffer, head: RequestHeadParser): boolean {
  if (head.version !== 20) return false;
  const { spans, kinds, fieldCount } = head;
  for (let i = 0; i < fieldCount; i++) {
    if ((kinds[i]! & KIND_MASK) !== FIELD.CONTENT_TYPE) continue;
    const at = SPAN.fields + 4 * i;
    return grpcType.test(bytes.toString('latin1', spans[at + 2]!, spans[at + 3]!));
  }
  return false;
}
