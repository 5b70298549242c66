/** Turns the bytes of one request on the wire into what the rules get. */

import { ChunkedDecoder } from '../../engine/http/chunked-decoder.ts';
import { BODY, SCAN } from '../../engine/http/head-scanner.ts';
import { RequestHeadParser } from '../../engine/http/request-head.ts';
import type { RequestSnapshot } from '../../engine/contract/message.ts';
import { makeConnection } from '../../engine/rules/oracle/conformance/exchange.ts';

/** The first request of the bytes, or why it was not taken. */
export type Wire =
  | { readonly request: RequestSnapshot; readonly body: Uint8Array | null }
  | { readonly refusal: string };

/** Head and body of the first request; a refusal when no head could be read. */
export function readWire(bytes: Uint8Array): Wire {
  const parser = new RequestHeadParser();
  parser.reset(0);
  const state = parser.execute(bytes, bytes.length);
  if (state !== SCAN.DONE) return { refusal: parser.refusal?.reason ?? 'incomplete' };
  const request: RequestSnapshot = {
    requestId: 'corpus',
    receivedAtMs: Date.now(),
    siteId: 'corpus',
    connection: makeConnection(),
    head: { bytes, spans: parser.spans.slice() },
  };
  return { request, body: readBody(parser, bytes) };
}

function readBody(parser: RequestHeadParser, bytes: Uint8Array): Uint8Array | null {
  const rest = bytes.subarray(parser.headEnd);
  if (parser.framing === BODY.LENGTH) return rest.subarray(0, parser.contentLength);
  if (parser.framing !== BODY.CHUNKED) return null;
  return readChunks(rest);
}

function readChunks(bytes: Uint8Array): Uint8Array {
  const decoded = Uint8Array.from(bytes);
  const decoder = new ChunkedDecoder();
  decoder.reset();
  decoder.decode(decoded, 0, decoded.length);
  return decoded.subarray(0, decoder.dataEnd);
}
