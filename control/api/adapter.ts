/**
 * Owns the step from HTTP to RPC: finds the method, refuses early what is too large, not signed in
 * or no valid request, and hands the rest to the RPC library.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { JsonValue } from '@bufbuild/protobuf';
import {
  Code,
  createConnectRouter,
  type ConnectError,
  type ConnectRouter,
  type ContextValues,
  type Interceptor,
} from '@connectrpc/connect';
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from '@connectrpc/connect-node';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { codeToHttpStatus, errorToJson } from '@connectrpc/connect/protocol-connect';
import { refusal } from '../domain/errors.ts';
import { checkJson } from './check-json.ts';

/** A request of either version of HTTP. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;
/** A response of either version of HTTP. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** What the adapter is made of. */
export interface AdapterOptions {
  readonly routes: (router: ConnectRouter) => void;
  readonly interceptors: Interceptor[];
  /** Largest request message, bytes. */
  readonly requestBytesMax: number;
  /** Makes the values of a call; knows where it came in. */
  readonly contextValues: (request: NodeRequest) => ContextValues;
  /** Rejects callers that may not call the method, before the body is read. */
  readonly authorize: (
    handler: UniversalHandler,
    request: NodeRequest,
    values: ContextValues,
  ) => Promise<void>;
  /** Turns anything thrown into what the client gets. */
  readonly toError: (thrown: unknown, where: string) => ConnectError;
  /** Answers what is no RPC. */
  readonly fallback: (request: NodeRequest, response: NodeResponse) => void;
}

/** A listener for both versions of HTTP. */
export function createAdapter(
  options: AdapterOptions,
): (request: NodeRequest, response: NodeResponse) => void {
  const router = createConnectRouter({
    acceptCompression: [compressionGzip, compressionBrotli],
    interceptors: options.interceptors,
    jsonOptions: { ignoreUnknownFields: false },
    readMaxBytes: options.requestBytesMax,
  });
  options.routes(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    const handler = handlers.get((request.url ?? '').split('?', 1)[0] ?? '');
    if (handler === undefined) {
      options.fallback(request, response);
      return;
    }
    serve(options, handler, request, response).catch((thrown: unknown) => {
      const where = `${handler.service.typeName}/${handler.method.name}`;
      answerError(response, options.toError(thrown, where));
    });
  };
}

async function serve(
  options: AdapterOptions,
  handler: UniversalHandler,
  request: NodeRequest,
  response: NodeResponse,
): Promise<void> {
  const values = options.contextValues(request);
  let body: JsonValue | undefined;
  if (isPlainJson(handler, request)) {
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > options.requestBytesMax) throw tooLarge(options.requestBytesMax);
    await options.authorize(handler, request, values);
    body = parseJson(await readBody(request, options.requestBytesMax));
    const wrong = checkJson(handler.method.input, body);
    if (wrong !== null) throw wrong;
  }
  const universal = universalRequestFromNodeRequest(
    request,
    response as ServerResponse,
    body,
    values,
  );
  const answer = await handler(universal);
  await universalResponseToNodeResponse(answer, response as ServerResponse).catch(() => undefined);
}

/** Unary JSON without compression: what scripts, browsers and the command line send. */
function isPlainJson(handler: UniversalHandler, request: NodeRequest): boolean {
  const type = String(request.headers['content-type'] ?? '');
  const coding = String(request.headers['content-encoding'] ?? 'identity');
  return (
    request.method === 'POST' &&
    handler.method.methodKind === 'unary' &&
    /^application\/json\s*(?:;|$)/i.test(type) &&
    coding === 'identity'
  );
}

async function readBody(request: NodeRequest, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw refusal('invalid_argument', 'request: is not valid JSON');
  }
}

function tooLarge(bytesMax: number): Error {
  return refusal('resource_exhausted', `request: is larger than ${bytesMax} bytes`);
}

function answerError(response: NodeResponse, error: ConnectError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = JSON.stringify(errorToJson(error, undefined));
  response.statusCode = codeToHttpStatus(error.code);
  response.setHeader('content-type', 'application/json');
  if (error.code === Code.ResourceExhausted) response.setHeader('connection', 'close');
  (response as ServerResponse).end(body);
}
