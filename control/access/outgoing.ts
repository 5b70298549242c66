/**
 * Fetches from addresses that operators name: http(s) only, never to loopback, link-local, private
 * or otherwise special addresses unless they are allowed, also not by a redirect or by a name that
 * changes between check and use; bounded in size, time and redirects. Failures say why in words of
 * ours.
 */

import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { rootCertificates } from 'node:tls';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { checkedAddress } from '../../base/checked-address.ts';
import { AppError } from '../../base/errors.ts';
import { isLate, startTimeLimit } from '../../base/time-limit.ts';
import { accessLimits } from '../limits/access-limits.ts';

/** Why a fetch failed; the codes of sync runs. */
export type FetchFailure = 'http_error' | 'parse_error' | 'too_many' | 'blocked_address';

/** A failed fetch. Its message is ours and may be shown. */
export class FetchError extends AppError {
  readonly resultCode: FetchFailure;
  /** 0 when no answer came. */
  readonly httpStatus: number;

  constructor(resultCode: FetchFailure, message: string, httpStatus = 0, cause?: unknown) {
    super('fetch_failed', message, { source: 'upstream', retryable: true, cause });
    this.resultCode = resultCode;
    this.httpStatus = httpStatus;
  }
}

/** What to fetch. */
export interface OutgoingRequest {
  readonly url: string;
  /** Sent to the named origin only, never after a redirect to another. */
  readonly headers: Readonly<Record<string, string>>;
  /** Validators of what is known; '' for none. */
  readonly etag: string;
  readonly lastModified: string;
  /** Networks that may be asked although they are special, in CIDR form. */
  readonly allowedNetworks: readonly string[];
  /** Authorities of the named origin beside the usual ones, in PEM; '' for none. */
  readonly caPem?: string;
  readonly limits?: Partial<OutgoingLimits>;
  /** Ends the fetch early. */
  readonly signal?: AbortSignal;
}

/** Bounds of one fetch; defaults in `accessLimits`. */
export interface OutgoingLimits {
  readonly bytesMax: number;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** What came back. */
export interface OutgoingAnswer<T> {
  readonly httpStatus: number;
  readonly notModified: boolean;
  readonly etag: string;
  readonly lastModified: string;
  /** What `read` made of the body; null when it was not modified. */
  readonly result: T | null;
}

/** Fetches and hands the body to `read` as it comes. Errors: FetchError, or what `read` throws. */
export async function fetchOutgoing<T>(
  request: OutgoingRequest,
  read: (body: AsyncIterable<Buffer>) => Promise<T>,
): Promise<OutgoingAnswer<T>> {
  const limits: OutgoingLimits = {
    bytesMax: accessLimits.sourceBytesMax,
    timeoutMs: accessLimits.sourceTimeoutMs,
    idleTimeoutMs: accessLimits.sourceIdleTimeoutMs,
    ...request.limits,
  };
  const { signal, end } = startTimeLimit(limits.timeoutMs, request.signal);
  const late = (): FetchError =>
    new FetchError('http_error', `the source took longer than ${seconds(limits.timeoutMs)}`);
  try {
    return await follow(request, read, limits, signal);
  } catch (error) {
    if (error instanceof FetchError && error.resultCode !== 'http_error') throw error;
    throw isLate(signal) ? late() : error;
  } finally {
    end();
  }
}

async function follow<T>(
  request: OutgoingRequest,
  read: (body: AsyncIterable<Buffer>) => Promise<T>,
  limits: OutgoingLimits,
  signal: AbortSignal,
): Promise<OutgoingAnswer<T>> {
  let url = new URL(request.url);
  for (let hop = 0; hop <= accessLimits.redirectsMax; hop++) {
    const own = url.origin === new URL(request.url).origin;
    const from = own ? { ...request, headers: headersOf(request) } : strangerOf(request);
    const response = await ask(url, from, limits, signal);
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if (isRedirect(status) && location !== undefined) {
      response.destroy();
      url = nextUrl(url, location, status);
      continue;
    }
    const etag = headerText(response.headers.etag);
    const lastModified = headerText(response.headers['last-modified']);
    const facts = { httpStatus: status, etag, lastModified };
    if (status === 304 && (request.etag !== '' || request.lastModified !== '')) {
      response.destroy();
      return { ...facts, notModified: true, result: null };
    }
    if (status !== 200) {
      response.destroy();
      throw new FetchError('http_error', `the source answered with status ${status}`, status);
    }
    const result = await readBody(response, limits, signal, read);
    return { ...facts, notModified: false, result };
  }
  const most = accessLimits.redirectsMax;
  throw new FetchError('http_error', `the source redirects more than ${most} times`);
}

/** What another origin than the named one is asked with. */
function strangerOf(request: OutgoingRequest): OutgoingRequest {
  return { ...request, headers: {}, caPem: '' };
}

function headersOf(request: OutgoingRequest): Record<string, string> {
  return {
    ...request.headers,
    ...(request.etag === '' ? {} : { 'if-none-match': request.etag }),
    ...(request.lastModified === '' ? {} : { 'if-modified-since': request.lastModified }),
  };
}

/** Validators are kept and sent back: only what HTTP can carry, and of bounded length. */
function headerText(value: string | undefined): string {
  return value !== undefined && /^[\x20-\x7e]{1,512}$/.test(value) ? value : '';
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function nextUrl(from: URL, location: string, status: number): URL {
  let next: URL;
  try {
    next = new URL(location, from);
  } catch {
    throw new FetchError('http_error', 'the source redirects to something that is no URL', status);
  }
  const downgraded = from.protocol === 'https:' && next.protocol !== 'https:';
  if (downgraded || (next.protocol !== 'https:' && next.protocol !== 'http:')) {
    throw new FetchError('http_error', 'the source redirects away from http(s)', status);
  }
  next.username = '';
  next.password = '';
  return next;
}

/** One request to an address that was checked; the name is not resolved again. */
async function ask(
  url: URL,
  { headers, allowedNetworks, caPem = '' }: OutgoingRequest,
  limits: OutgoingLimits,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const lookup = await abortable(checkedLookup(url.hostname, allowedNetworks), signal);
  const options: RequestOptions & { readonly ca?: string[] } = {
    method: 'GET',
    ...(caPem === '' ? {} : { ca: [...rootCertificates, caPem] }),
    agent: false,
    lookup,
    signal,
    headers: {
      accept: '*/*',
      'accept-encoding': 'gzip, identity',
      'user-agent': 'waf-ip-list/1',
      ...headers,
    },
  };
  return new Promise((done, fail) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    let incoming: IncomingMessage | null = null;
    const outgoing = send(url, options, (response) => done((incoming = response)));
    outgoing.setTimeout(limits.idleTimeoutMs, () => {
      const silence = seconds(limits.idleTimeoutMs);
      const error = new FetchError('http_error', `the source was silent for ${silence}`);
      // An answer that has begun would otherwise say that its connection was closed.
      incoming?.destroy(error);
      outgoing.destroy(error);
    });
    outgoing.on('error', (error) => fail(explain(error)));
    outgoing.end();
  });
}

/**
 * Resolves a name once and gives the look-up that connects to what was checked. Errors: FetchError
 * for a name without an address, and for special addresses outside `allowedNetworks`.
 */
export async function checkedLookup(
  hostname: string,
  allowedNetworks: readonly string[],
): Promise<LookupFunction> {
  const checked = await checkedAddress(hostname, allowedNetworks);
  if (checked === 'unresolved') {
    throw new FetchError('http_error', 'the name of the source cannot be resolved');
  }
  if (checked === 'blocked') {
    throw new FetchError(
      'blocked_address',
      'the source leads to a loopback, link-local, private or reserved address, which is not allowed',
    );
  }
  return checked;
}

async function readBody<T>(
  response: IncomingMessage,
  limits: OutgoingLimits,
  signal: AbortSignal,
  read: (body: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const tooLarge = (): FetchError =>
    new FetchError('http_error', `the source sent more than ${limits.bytesMax} bytes`, 200);
  try {
    if (Number(response.headers['content-length'] ?? 0) > limits.bytesMax) throw tooLarge();
    const encoding = (response.headers['content-encoding'] ?? 'identity').toLowerCase();
    if (!['identity', 'gzip', 'x-gzip', ''].includes(encoding)) {
      throw new FetchError('http_error', 'the source uses a content coding that is not known', 200);
    }
    const packed = encoding.endsWith('gzip');
    return await throughPipe(response, packed, signal, (body) =>
      read(bounded(body, limits, tooLarge)),
    );
  } catch (error) {
    throw error instanceof FetchError ? error : explain(error);
  } finally {
    response.destroy();
  }
}

async function throughPipe<T>(
  response: IncomingMessage,
  packed: boolean,
  signal: AbortSignal,
  read: (body: Readable) => Promise<T>,
): Promise<T> {
  const body = packed ? createGunzip() : new PassThrough();
  const piped = pipeline(response, body, { signal });
  // A reader that stops early ends the pipe; then its own failure is the one that counts.
  piped.catch(() => undefined);
  try {
    const result = await read(body);
    await piped;
    return result;
  } finally {
    body.destroy();
  }
}

const bytesPerTurn = 131_072;

async function* bounded(
  body: Readable,
  { bytesMax }: OutgoingLimits,
  tooLarge: () => FetchError,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  let turnBytes = 0;
  for await (const chunk of body) {
    const piece = chunk as Buffer;
    bytes += piece.length;
    if (bytes > bytesMax) throw tooLarge();
    yield piece;
    // A fast source must not keep everyone else waiting.
    turnBytes += piece.length;
    if (turnBytes < bytesPerTurn) continue;
    turnBytes = 0;
    await nextTurn();
  }
}

function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, fail) => {
    const stop = (): void => fail(new FetchError('http_error', 'the source took too long'));
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(done, fail).finally(() => signal.removeEventListener('abort', stop));
  });
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the source refuses connections',
  ECONNRESET: 'the source closed the connection',
  ETIMEDOUT: 'the source cannot be reached',
  EHOSTUNREACH: 'the source cannot be reached',
  ENETUNREACH: 'the source cannot be reached',
  ABORT_ERR: 'the source took too long',
  ERR_STREAM_PREMATURE_CLOSE: 'the source ended its answer too early',
  Z_DATA_ERROR: 'the source sent damaged gzip data',
  Z_BUF_ERROR: 'the source ended its answer too early',
};

/** Our words for an error of the network; nothing of what it holds. */
function explain(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const code = (error as NodeJS.ErrnoException | null)?.code ?? '';
  const isTls = /^(CERT_|ERR_TLS|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_SSL|EPROTO)/.test(code);
  const tls = 'the source has no valid certificate for its name';
  const reason = reasons[code] ?? (isTls ? tls : 'the source could not be fetched');
  return new FetchError('http_error', reason, 0, error);
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
