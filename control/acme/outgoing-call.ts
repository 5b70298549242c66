/**
 * One HTTPS call to an authority or a DNS provider: an address that may be asked, bounded in size
 * and time, no redirects, JSON or text back. Failures say why in words of ours.
 */

import { request as httpsRequest } from 'node:https';
import { request as httpRequest } from 'node:http';
import { rootCertificates } from 'node:tls';
import { AppError } from '../../base/errors.ts';
import { withinTime } from '../../base/time-limit.ts';
import { acmeLimits } from '../limits/acme-limits.ts';
import { checkedLookup } from '../access/outgoing.ts';

/** Where calls may go, and whom they trust. */
export interface CallSettings {
  /** Networks that may be asked although they are special, in CIDR form. */
  readonly allowedNetworks: readonly string[];
  /** Authorities that are trusted beside the system's, PEM; '' for none. */
  readonly caPem: string;
  /** Plain HTTP may be spoken; stubs of tests only. */
  readonly plain?: boolean;
}

/** One call. */
export interface OutgoingCall {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What came back. */
export interface CallAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Errors: AppError acme_unreachable, FetchError. */
export function callOut(call: OutgoingCall, settings: CallSettings): Promise<CallAnswer> {
  return withinTime(acmeLimits.callTimeoutMs, [], (signal) => ask(call, settings, signal));
}

async function ask(
  call: OutgoingCall,
  settings: CallSettings,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const url = new URL(call.url);
  const plain = url.protocol === 'http:' && settings.plain === true;
  if (url.protocol !== 'https:' && !plain) throw failed(url, 'its address must begin with https');
  const lookup = await checkedLookup(url.hostname, settings.allowedNetworks);
  const body = call.body === undefined ? undefined : Buffer.from(call.body);
  const options = {
    method: call.method,
    agent: false,
    lookup,
    signal,
    headers: {
      'user-agent': 'waf-acme/1',
      ...(body === undefined ? {} : { 'content-length': String(body.length) }),
      ...call.headers,
    },
    ...(settings.caPem === '' ? {} : { ca: [...rootCertificatesAnd(settings.caPem)] }),
  };
  return new Promise((resolve, reject) => {
    const send = plain ? httpRequest : httpsRequest;
    const asked = send(url, options, (response) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes > acmeLimits.answerBytesMax) {
          response.destroy(failed(url, 'its answer is larger than the limit'));
        }
      });
      response.on('error', (cause) => reject(explain(url, cause)));
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    asked.on('error', (cause) => reject(explain(url, cause)));
    asked.end(body);
  });
}

function* rootCertificatesAnd(pem: string): Generator<string> {
  yield* rootCertificates;
  yield pem;
}

function failed(url: URL, why: string, cause?: unknown): AppError {
  const message = `${url.host} could not be asked: ${why}`;
  return new AppError('acme_unreachable', message, { source: 'upstream', retryable: true, cause });
}

function explain(url: URL, cause: Error & { code?: string }): AppError {
  if (cause instanceof AppError) return cause;
  const { code = cause.name } = cause;
  const tls = /^(CERT_|ERR_TLS|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_SSL)/.test(code);
  if (tls) return failed(url, 'its certificate is not trusted', cause);
  if (code === 'ABORT_ERR' || code === 'TimeoutError')
    return failed(url, 'it took too long', cause);
  return failed(url, code, cause);
}
