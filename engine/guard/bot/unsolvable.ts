/**
 * Which requests nobody can solve a challenge for: programs that a browser or a standard sends for
 * fixed things, without a body. They skip the challenge and nothing else. What origins may read as
 * another request is none of these.
 */

import { isPlainPath } from '../../../base/path-readings.ts';
import type { RequestView } from '../request-view.ts';

/** RFC 9309, the icon that browsers ask for by themselves, and RFC 8555 section 8.3. */
const fixedPath =
  /^\/(?:robots\.txt|favicon\.ico|\.well-known\/acme-challenge\/[A-Za-z0-9_-]{1,128})$/;

/** Fields by which frameworks take another method than the one that was sent. */
const methodFields = ['x-http-method-override', 'x-http-method', 'x-method-override'] as const;

/** True for a request that meets no challenge. */
export function isUnsolvable(view: RequestView): boolean {
  const { method } = view;
  const asked = method === 'OPTIONS' ? isPreflight(view) : isFixed(view, method);
  return asked && !hasBody(view) && !methodFields.some((name) => view.header(name) !== null);
}

/** Fetch section 3.2.2; browsers send it without credentials, and no page can answer it. */
function isPreflight(view: RequestView): boolean {
  return (
    (view.header('access-control-request-method') ?? '') !== '' &&
    (view.header('origin') ?? '') !== ''
  );
}

/** A query would be the path of some front controllers. */
function isFixed({ path, query }: RequestView, method: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  return query === '' && fixedPath.test(path) && isPlainPath(path);
}

function hasBody(view: RequestView): boolean {
  return (
    view.header('transfer-encoding') !== null || (view.header('content-length') ?? '0') !== '0'
  );
}
