/**
 * One POST to an address that an operator named: only where outgoing calls may go, bounded in time
 * and size, no redirects. Failures say why in words of ours; nothing of an answer is shown.
 */

import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { AppError } from '../../base/errors.ts';
import { startTimeLimit } from '../../base/time-limit.ts';
import { checkedLookup, FetchError } from '../access/outgoing.ts';
import { alertLimits } from '../limits/alert-limits.ts';

/** A message that did not arrive. Its text is ours and may be shown. */
export class SendError extends AppError {
  /** Whether another attempt can succeed. */
  readonly again: boolean;

  constructor(message: string, again: boolean, cause?: unknown) {
    super('send_failed', message, { source: 'upstream', retryable: again, cause });
    this.again = again;
  }
}

/** Where messages may go, and for how long one is tried. */
export interface SendBounds {
  /** Networks that may be asked although they are special, in CIDR form. */
  readonly allowedNetworks: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What came back. */
export interface PostAnswer {
  readonly status: number;
  readonly text: string;
}

/** Errors: SendError. */
export async function post(
  to: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  bounds: SendBounds,
): Promise<PostAnswer> {
  const url = new URL(to);
  const { signal, end } = startTimeLimit(bounds.timeoutMs, bounds.signal);
  try {
    const lookup = await checkedLookup(url.hostname, bounds.allowedNetworks);
    const bytes = Buffer.from(body);
    const options = {
      ...{ method: 'POST', agent: false, lookup, signal },
      headers: {
        'user-agent': 'waf-alert/1',
        'content-type': 'application/json',
        ...headers,
        'content-length': String(bytes.length),
      },
    };
    return await new Promise((resolve, reject) => {
      const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
      const asked = send(url, options, (response) => {
        const pieces: Buffer[] = [];
        let size = 0;
        response.on('data', (piece: Buffer) => {
          size += piece.length;
          if (size > alertLimits.answerBytesMax) {
            response.destroy(new SendError('its answer is too large', false));
          } else pieces.push(piece);
        });
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(pieces).toString('utf8');
          resolve({ status: response.statusCode ?? 0, text });
        });
      });
      asked.on('error', reject);
      asked.end(bytes);
    });
  } catch (error) {
    throw explainSend(error);
  } finally {
    end();
  }
}

/** Errors: SendError for a status that is no success. */
export function requireSuccess({ status }: PostAnswer): void {
  if (status >= 200 && status < 300) return;
  const again = status === 408 || status === 429 || status >= 500;
  throw new SendError(`it answered with status ${status}`, again);
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refuses connections',
  ECONNRESET: 'it closed the connection',
  ESOCKET: 'the connection to it failed',
  ECONNECTION: 'the connection to it failed',
  ETIMEDOUT: 'it took too long',
  EHOSTUNREACH: 'it cannot be reached',
  ENETUNREACH: 'it cannot be reached',
  ABORT_ERR: 'it took too long',
};

/** Our words for a failure of the network. */
export function explainSend(error: unknown): SendError {
  if (error instanceof SendError) return error;
  if (error instanceof FetchError) return explainLookup(error);
  const { code = '', name = '' } = error as { readonly code?: string; readonly name?: string };
  const isTls = /^(CERT_|ERR_TLS|ETLS|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_SSL|EPROTO)/.test(code);
  const tls = 'it has no valid certificate for its name';
  const late = name === 'TimeoutError' || name === 'AbortError' ? 'it took too long' : '';
  const reason = reasons[code] ?? (isTls ? tls : late || 'it could not be sent to');
  return new SendError(reason, true, error);
}

/** The check of addresses speaks of sources. */
function explainLookup(error: FetchError): SendError {
  if (error.resultCode !== 'blocked_address') {
    return new SendError('its name cannot be resolved', true, error);
  }
  const reason =
    'it leads to a loopback, link-local, private or reserved address; allow its network in the ' +
    'setting outgoing.allowed_networks';
  return new SendError(reason, true, error);
}
