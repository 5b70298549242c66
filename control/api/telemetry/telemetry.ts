/**
 * Serves `/api/v1/telemetry/*`: JSON with snake_case fields; errors are {error: {code, message}}.
 * Finds the caller, checks permissions, then asks.
 */

import type { ServerResponse } from 'node:http';
import { codeToHttpStatus, errorToJson } from '@connectrpc/connect/protocol-connect';
import { originKey } from '../../auth/origin-key.ts';
import { requirePermission, type Caller, type PermissionRule } from '../../auth/permissions.ts';
import { localAdministrator } from '../../auth/sessions.ts';
import { refusal } from '../../domain/errors.ts';
import { defaultTenantId } from '../../domain/records.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { bearerCaller } from '../authorize.ts';
import type { ApiParts, Uses, Entrance } from '../context.ts';
import { toConnectError } from '../errors.ts';
import type { NodeRequest, NodeResponse } from '../listener/node-http.ts';
import { parseJson, readBytes } from '../listener/read-body.ts';
import { apiTreeAction } from './action.ts';
import { apiTree, qps, series, topk, type TelemetryQuestion } from './answers.ts';

const prefix = '/api/v1/telemetry/';

const reads: Readonly<Record<string, (question: TelemetryQuestion) => unknown>> = {
  qps,
  series,
  topk,
  apitree: apiTree,
};
const readRule: PermissionRule = {
  public: false,
  anyPermission: ['telemetry:read'],
  allPermission: [],
};
const actionRule: PermissionRule = {
  public: false,
  anyPermission: [],
  allPermission: ['api_inventory:write', 'site:read'],
};

/** Answers a telemetry request; false when the path is none. */
export function answerTelemetry(
  parts: ApiParts,
  entrance: Entrance,
  request: NodeRequest,
  response: NodeResponse,
): boolean {
  const target = request.url ?? '';
  const path = target.split('?', 1)[0] ?? '';
  if (!path.startsWith(prefix)) return false;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const query = new URLSearchParams(target.slice(path.length));
  answer(parts, entrance, request, { name: path.slice(prefix.length), query, signal: gone.signal })
    .then((body) => send(response, 200, body))
    .catch((thrown: unknown) => {
      const failure = toConnectError(thrown, parts.logger, 'telemetry');
      const error = errorToJson(failure, undefined);
      send(response, codeToHttpStatus(failure.code), { error });
    })
    .catch(() => response.destroy());
  return true;
}

interface Asked {
  readonly name: string;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}

async function answer(
  parts: ApiParts,
  entrance: Entrance,
  request: NodeRequest,
  { name, query, signal }: Asked,
): Promise<unknown> {
  const acts = name === 'apitree/action';
  const read = Object.hasOwn(reads, name) ? reads[name] : undefined;
  const known = acts ? request.method === 'POST' : read !== undefined && request.method === 'GET';
  if (!known) throw refusal('not_found', 'Unknown path or method.');
  const caller = await callerOf(parts, entrance, request);
  requirePermission(acts ? actionRule : readRule, caller);
  if (!acts) return read!({ parts, caller, query, signal });
  const body = parseJson(await readBytes(request, callLimits.telemetryBodyBytesMax));
  return apiTreeAction(parts, caller, body);
}

async function callerOf(
  parts: Uses<'sessions'>,
  entrance: Entrance,
  request: NodeRequest,
): Promise<Caller> {
  if (entrance === 'socket') return localAdministrator(defaultTenantId);
  const address = originKey(request.socket.remoteAddress ?? '');
  const header = request.headers.authorization ?? null;
  const caller = await bearerCaller(parts.sessions, header, address);
  if (caller === null) throw refusal('unauthenticated', 'send a valid bearer token');
  if ((caller.token?.siteIds ?? null) !== null) {
    throw refusal('permission_denied', 'this API token is for single sites');
  }
  return caller;
}

function send(response: NodeResponse, status: number, body: unknown): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.setHeader('cache-control', 'no-store');
  response.setHeader('x-content-type-options', 'nosniff');
  (response as ServerResponse).end(JSON.stringify(body));
}
