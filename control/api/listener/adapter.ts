/**
 * The step from HTTP to RPC: finds the method, refuses early what is too large, not signed in or no
 * valid request, and hands the rest to the RPC library.
 */

import type { ServerResponse } from 'node:http';
import { fromBinary, type DescMethod, type JsonValue } from '@bufbuild/protobuf';
import {
  createConnectRouter,
  type ConnectError,
  type ContextValues,
  type Interceptor,
  type MethodImpl,
} from '@connectrpc/connect';
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from '@connectrpc/connect-node';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import type { AppError } from '../../../base/errors.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { originKey } from '../../auth/origin-key.ts';
import { refusal } from '../../domain/errors.ts';
import { CallRate } from './call-rate.ts';
import { checkJson } from './check-json.ts';
import type { RequestPeer } from './connections.ts';
import { addressKey, callerKey } from '../context.ts';
import { answerEarly } from './early-answer.ts';
import type { NodeRequest, NodeResponse } from './node-http.ts';
import { requestBytesMaxOf } from './request-size.ts';
import { codingOf, parseJson, readBytes, tooLarge } from './read-body.ts';

const envelopeBytes = 5;

/** A method and what answers it. */
export interface Route {
  readonly method: DescMethod;
  readonly implementation: MethodImpl<DescMethod>;
}

/** What the adapter is made of. */
export interface AdapterOptions {
  readonly routes: readonly Route[];
  readonly interceptors: Interceptor[];
  /** Makes the values of a call; knows where it came in. */
  readonly contextValues: (request: NodeRequest, peer: RequestPeer) => ContextValues;
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
  readonly fallback: (request: NodeRequest, response: NodeResponse, peer: RequestPeer) => void;
}

/** A listener for both versions of HTTP. */
export function createAdapter(
  options: AdapterOptions,
): (request: NodeRequest, response: NodeResponse, peer: RequestPeer) => void {
  const rate = new CallRate(() => performance.now());
  const find = handlersOf(options);
  return (request, response, peer) => {
    const handler = find((request.url ?? '').split('?', 1)[0] ?? '');
    if (handler === undefined) {
      options.fallback(request, response, peer);
      return;
    }
    serve(options, rate, handler, request, response, peer).catch((thrown: unknown) => {
      const where = `${handler.service.typeName}/${handler.method.name}`;
      answerEarly(request, response, options.toError(thrown, where));
    });
  };
}

/** Handlers are made when a method is first called: those of all are 10 MB. */
function handlersOf(options: AdapterOptions): (path: string) => UniversalHandler | undefined {
  const routes = new Map(
    options.routes.map((route) => [`/${route.method.parent.typeName}/${route.method.name}`, route]),
  );
  const made = new Map<string, UniversalHandler>();
  return (path) => {
    const found = made.get(path);
    const route = routes.get(path);
    if (found !== undefined || route === undefined) return found;
    const handler = makeHandler(options, route);
    made.set(path, handler);
    return handler;
  };
}

function makeHandler(options: AdapterOptions, { method, implementation }: Route): UniversalHandler {
  const router = createConnectRouter({
    acceptCompression: [compressionGzip, compressionBrotli],
    interceptors: options.interceptors,
    jsonOptions: { ignoreUnknownFields: false },
  });
  router.rpc(method, implementation, { readMaxBytes: requestBytesMaxOf(method) });
  const [handler] = router.handlers;
  if (handler === undefined) throw new Error(`${method.name} has no handler`);
  return handler;
}

async function serve(
  options: AdapterOptions,
  rate: CallRate,
  handler: UniversalHandler,
  request: NodeRequest,
  response: NodeResponse,
  peer: RequestPeer,
): Promise<void> {
  const values = options.contextValues(request, peer);
  let body: JsonValue | AsyncIterable<Uint8Array> | undefined;
  if (request.method === 'POST') {
    const wrong = options.refuse(request);
    if (wrong !== null) throw wrong;
    refuseDeclaredSize(handler, request);
    await options.authorize(handler, request, values);
    if (values.get(callerKey) !== null) peer.prove();
    refuseTooOften(rate, values);
    if (request.headers.expect !== undefined) (response as ServerResponse).writeContinue();
    const form = unaryForm(handler, request);
    if (form !== null) {
      const bytes = await readBytes(request, requestBytesMaxOf(handler.method));
      body = form === 'json' ? parseChecked(handler, bytes) : checkBinary(handler, bytes);
    }
  }
  const universal = universalRequestFromNodeRequest(
    request,
    response as ServerResponse,
    undefined,
    values,
  );
  // What we have read is unpacked.
  if (body !== undefined) universal.header.delete('content-encoding');
  if (body !== undefined) universal.header.delete('content-length');
  const answer = await handler(body === undefined ? universal : { ...universal, body });
  await universalResponseToNodeResponse(answer, response as ServerResponse).catch(() => undefined);
}

/** Sessions, and callers without one by their address; the socket is not counted. */
function refuseTooOften(rate: CallRate, values: ContextValues): void {
  const session = values.get(callerKey)?.sessionId ?? '';
  const key = session === '' ? originKey(values.get(addressKey)) : `session ${session}`;
  if (key === '' || rate.take(key)) return;
  const { callsPerSecond } = callLimits;
  throw refusal(
    'resource_exhausted',
    `more than ${callsPerSecond} calls a second: slow down and try again`,
  );
}

/** A unary message that says itself that it is too large; envelopes add five bytes. */
function refuseDeclaredSize({ method }: UniversalHandler, request: NodeRequest): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  const bytesMax = requestBytesMaxOf(method);
  if (method.methodKind === 'unary' && declared > bytesMax + envelopeBytes) {
    throw tooLarge(bytesMax);
  }
}

/** The form of a unary message in Connect's own protocol; null for all others. */
function unaryForm(handler: UniversalHandler, request: NodeRequest): 'json' | 'binary' | null {
  if (handler.method.methodKind !== 'unary' || codingOf(request) === null) return null;
  const type = String(request.headers['content-type'] ?? '');
  const found = /^application\/(json|proto)\s*(?:;|$)/i.exec(type)?.[1];
  if (found === undefined) return null;
  return found.toLowerCase() === 'json' ? 'json' : 'binary';
}

function parseChecked({ method }: UniversalHandler, bytes: Uint8Array): JsonValue {
  const value = parseJson(bytes);
  const misfit = checkJson(method.input, value);
  if (misfit !== null) throw misfit;
  return value;
}

/** The library would call bytes that are no message an internal error. */
function checkBinary({ method }: UniversalHandler, bytes: Uint8Array): AsyncIterable<Uint8Array> {
  try {
    fromBinary(method.input, bytes);
  } catch {
    throw refusal('invalid_argument', `request: is not a ${method.input.name} in binary form`);
  }
  return (async function* () {
    yield await Promise.resolve(bytes);
  })();
}
