/**
 * One probe of one address: a request of its own connection, its status and, where asked for, a
 * text in its body. Follows redirects on the same address only. Never throws.
 */

import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import type { ProbeFinding } from '../contract/health.ts';
import type { HealthCheckConfig, UpstreamConfig } from '../contract/site.ts';
import { upstreamLimits } from '../../base/delivery-limits.ts';
import { startTimeLimit } from '../../base/time-limit.ts';
import { connectFailure, failureText } from './connect-failure.ts';
import { endpointName } from './endpoint-pool.ts';
import { ORIGIN_FAILURE, type OriginFailure } from './origin-sink.ts';
import { tlsOptions } from './upstream.ts';

/** The request of a probe: health checks are some, first pages are read by one. */
export interface ProbeRequest {
  readonly method: string;
  readonly path: string;
  /** Empty for the name of the address. */
  readonly host: string;
  readonly followRedirects: boolean;
  /** Whether the body is read, as far as it is looked at. */
  readonly wantsBody: boolean;
}

/** What an address answered. */
export interface ProbeAnswer {
  readonly status: number;
  readonly fields: http.IncomingHttpHeaders;
  readonly body: string;
}

const well: ProbeFinding = { healthy: true, code: '', error: '' };

/** What the address named `name` answers to `check`, within its time. */
export async function probeAddress(
  upstream: UpstreamConfig,
  name: string,
  check: HealthCheckConfig,
): Promise<ProbeFinding> {
  const limit = startTimeLimit(check.timeoutSeconds * 1000);
  const { signal } = limit;
  try {
    const request = { ...check, wantsBody: check.expectedBody !== '' };
    const answer = await askAddress(upstream, name, request, signal);
    if (answer !== null) return judge(answer, check);
    return wrong('probe_redirects', 'the probe is redirected too often');
  } catch (error) {
    return failed(reasonOf(error, signal, upstream));
  } finally {
    limit.end();
  }
}

/**
 * Asks the address named `name`, and follows its redirects on that address; null where there are
 * too many. Errors: those of the connection, of the parser, and AbortError.
 */
export async function askAddress(
  upstream: UpstreamConfig,
  name: string,
  request: ProbeRequest,
  signal: AbortSignal,
): Promise<ProbeAnswer | null> {
  let { path } = request;
  for (let hop = 0; hop <= upstreamLimits.probeRedirectsMax; hop++) {
    const answer = await ask(upstream, name, { ...request, path }, signal);
    const next = request.followRedirects ? redirectPath(answer, upstream, name, path) : null;
    if (next === null) return answer;
    path = next;
  }
  return null;
}

/** Whether the address named `name` can be connected to at all, TLS included. */
export async function connectAddress(
  upstream: UpstreamConfig,
  name: string,
  timeoutMs: number,
): Promise<ProbeFinding> {
  const endpoint = upstream.endpoints.find((one) => endpointName(one) === name);
  if (endpoint === undefined) return failed(ORIGIN_FAILURE.noEndpoint);
  const { host, port } = endpoint;
  const secure = tlsOptions(upstream, endpoint);
  return new Promise((resolve) => {
    const end = (finding: ProbeFinding): void => {
      socket.destroy();
      resolve(finding);
    };
    const opened = (): void => end(well);
    const socket =
      secure === null
        ? net.connect({ host, port }, opened)
        : tls.connect({ ...secure, host, port }, opened);
    socket.setTimeout(timeoutMs, () => end(failed(ORIGIN_FAILURE.connectTimeout)));
    socket.on('error', (error) => end(failed(connectFailure(error, secure !== null))));
  });
}

function judge(answer: ProbeAnswer, check: HealthCheckConfig): ProbeFinding {
  if (answer.status !== check.expectedStatus) {
    const text = `the probe got status ${answer.status} instead of ${check.expectedStatus}`;
    return wrong('probe_status', text);
  }
  if (answer.body.includes(check.expectedBody)) return well;
  return wrong('probe_body', 'the answer to the probe lacks the expected text');
}

function reasonOf(error: unknown, signal: AbortSignal, upstream: UpstreamConfig): OriginFailure {
  if (signal.aborted) return ORIGIN_FAILURE.firstByteTimeout;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code.startsWith('HPE_')) return ORIGIN_FAILURE.badResponse;
  if (code === 'ECONNRESET') return ORIGIN_FAILURE.closed;
  return connectFailure(error, upstream.scheme === 'https');
}

function failed({ code }: OriginFailure): ProbeFinding {
  return wrong(code, failureText(code));
}

function wrong(code: string, error: string): ProbeFinding {
  return { healthy: false, code, error };
}

/** The path that an answer points to on the same address; null when it points nowhere there. */
function redirectPath(
  { status, fields: { location = '' } }: ProbeAnswer,
  { scheme }: UpstreamConfig,
  name: string,
  path: string,
): string | null {
  if (status < 300 || status > 399 || location === '') return null;
  const base = `${scheme}://${name}`;
  const url = URL.canParse(location, base + path) ? new URL(location, base + path) : null;
  return url !== null && url.origin === new URL(base).origin ? url.pathname + url.search : null;
}

function ask(
  upstream: UpstreamConfig,
  name: string,
  { method, path, host: asked, wantsBody }: ProbeRequest,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const endpoint = upstream.endpoints.find((one) => endpointName(one) === name);
  if (endpoint === undefined) return Promise.reject(new Error('no such address'));
  const { host, port } = endpoint;
  const headers = { host: asked || name, 'user-agent': 'waf-health-check', accept: '*/*' };
  const secure = tlsOptions(upstream, endpoint);
  const options = { host, port, path, method, headers, agent: false, signal };
  return new Promise((resolve, reject) => {
    const request = secure ? https.request({ ...secure, ...options }) : http.request(options);
    request.on('error', reject);
    request.on('response', (response) => {
      response.on('error', reject);
      readBody(response, wantsBody, (body) => {
        const { statusCode: status = 0, headers: fields } = response;
        resolve({ status, fields, body });
        request.destroy();
      });
    });
    request.end();
  });
}

/** The body as far as it is looked at; none is waited for where nobody wants it. */
function readBody(
  response: http.IncomingMessage,
  wanted: boolean,
  done: (body: string) => void,
): void {
  if (!wanted) return done('');
  const parts: Buffer[] = [];
  let size = 0;
  const end = (): void => done(Buffer.concat(parts).toString('utf8'));
  response.on('data', (part: Buffer) => {
    parts.push(part);
    size += part.length;
    if (size >= upstreamLimits.probeBodyBytesMax) end();
  });
  response.on('end', end);
}
