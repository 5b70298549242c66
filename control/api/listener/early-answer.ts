/**
 * Says no before a request was read: the answer in the words of the caller's protocol, and what
 * becomes of the body that is still coming.
 */

import type { ServerResponse } from 'node:http';
import { Http2ServerResponse } from 'node:http2';
import type { ConnectError } from '@connectrpc/connect';
import { encodeEnvelope } from '@connectrpc/connect/protocol';
import {
  codeToHttpStatus,
  endStreamFlag,
  endStreamToJson,
  errorToJson,
} from '@connectrpc/connect/protocol-connect';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { callLimits } from '../../limits/call-limits.ts';
import type { NodeRequest, NodeResponse } from './node-http.ts';

/** Sends an error for a request whose body may be unread. */
export function answerEarly(
  request: NodeRequest,
  response: NodeResponse,
  error: ConnectError,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers, body } = encode(String(request.headers['content-type'] ?? ''), error);
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (!request.readableEnded) discard(request, response);
  // gRPC wants an answer without a message to end with its header fields: no empty frame of data.
  if (body === '') response.end();
  else (response as ServerResponse).end(body);
}

interface Encoded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** gRPC and gRPC-Web carry errors in header fields, Connect streams in their last message. */
function encode(contentType: string, error: ConnectError): Encoded {
  if (/^application\/grpc/i.test(contentType)) {
    const status = setTrailerStatus(new Headers(), error);
    const headers = { 'content-type': contentType, ...Object.fromEntries(status) };
    return { status: 200, headers, body: '' };
  }
  if (/^application\/connect\+/i.test(contentType)) {
    const end = JSON.stringify(endStreamToJson(new Headers(), error, undefined));
    const body = encodeEnvelope(endStreamFlag, new TextEncoder().encode(end));
    return { status: 200, headers: { 'content-type': contentType }, body };
  }
  const body = JSON.stringify(errorToJson(error, undefined));
  const headers = { 'content-type': 'application/json' };
  return { status: codeToHttpStatus(error.code), headers, body };
}

/** Reads away what still comes, for a while, so that the client gets to read the answer. */
function discard(request: NodeRequest, response: NodeResponse): void {
  if (response instanceof Http2ServerResponse) {
    const { stream } = response;
    response.once('finish', () => stream.close());
    return;
  }
  // Node would end the connection of a client that wants it closed after this answer, and unread
  // bytes would cut the answer off. The client or our timer ends it instead.
  response.shouldKeepAlive = true;
  const { socket } = request;
  const timer = setTimeout(() => socket.destroy(), callLimits.lingerMs);
  timer.unref();
  for (const event of ['end', 'close']) request.once(event, () => clearTimeout(timer));
  request.resume();
}
