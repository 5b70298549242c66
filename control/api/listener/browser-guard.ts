/**
 * Protects the API from browsers: headers of every response, and the refusal of
 * calls that another site's page makes. Cookies alone never decide; see the cookies' SameSite.
 */

import type { AppError } from '../../../base/errors.ts';
import { refusal } from '../../domain/errors.ts';
import type { NodeRequest, NodeResponse } from './node-http.ts';

const always: readonly (readonly [name: string, value: string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cache-control', 'no-store'],
];
/** Two years, the usual span; without subdomains, which are not ours to decide on. */
const strictTransport = 'max-age=63072000';

/** Sets the headers that every answer of the API carries. */
export function setSecureHeaders(response: NodeResponse, overTls: boolean): void {
  for (const [name, value] of always) response.setHeader(name, value);
  if (overTls) response.setHeader('strict-transport-security', strictTransport);
}

/**
 * The refusal of a call from another site's page; null when there is nothing against it. Programs
 * send no Origin; browsers always send it with POST. Source: OWASP, Verifying Origin.
 */
export function foreignOrigin(request: NodeRequest): AppError | null {
  const { origin, host } = request.headers;
  const authority = request.headers[':authority'];
  const ownHost = typeof authority === 'string' ? authority : host;
  const site = request.headers['sec-fetch-site'];
  const foreign =
    (origin !== undefined && hostOf(origin) !== ownHost?.toLowerCase()) ||
    (site !== undefined && site !== 'same-origin' && site !== 'none');
  return foreign
    ? refusal('permission_denied', 'calls from pages of other sites are refused')
    : null;
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}
