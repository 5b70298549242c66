/**
 * Owns the step from HTTP to RPC: finds the method, refuses early what is too large, not signed in
 * or no valid request, and hands the rest to the RPC library.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { JsonValue } from '@bufbuild/protobuf';
import {
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
import type { AppError } from '../../engine/base/errors.ts';
import { checkJson } from './check-json.ts';
import { answerEarly } from './early-answer.ts';
import { codingOf, readJson, tooLarge } from './read-json.ts';

const envelopeBytes = 5;

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
  /** What speaks against the request before anything else is looked at. */
  readonly refuse: (request: NodeRequest) => AppError | null;
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
      answerEarly(request, response, options.toError(thrown, where));
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
  if (request.method === 'POST') {
    const wrong = options.refuse(request);
    if (wrong !== null) throw wrong;
    refuseDeclaredSize(options, handler, request);
    await options.authorize(handler, request, values);
    if (request.headers.expect !== undefined) (response as ServerResponse).writeContinue();
    if (isUnaryJson(handler, request)) {
      body = await readJson(request, options.requestBytesMax);
      const misfit = checkJson(handler.method.input, body);
      if (misfit !== null) throw misfit;
    }
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

/** A unary message that says itself that it is too large; envelopes add five bytes. */
function refuseDeclaredSize(
  { requestBytesMax }: AdapterOptions,
  { method }: UniversalHandler,
  request: NodeRequest,
): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (method.methodKind === 'unary' && declared > requestBytesMax + envelopeBytes) {
    throw tooLarge(requestBytesMax);
  }
}

/** What scripts, browsers and the command line send. */
function isUnaryJson(handler: UniversalHandler, request: NodeRequest): boolean {
  const type = String(request.headers['content-type'] ?? '');
  return (
    handler.method.methodKind === 'unary' &&
    /^application\/json\s*(?:;|$)/i.test(type) &&
    codingOf(request) !== null
  );
}
