/**
 * Which requests nobody can solve a challenge for: programs that a browser or a standard sends for
 * fixed things, without a body. They skip the challenge and nothing else. What origins may read as
 * another request is none of these.
 */

import { isPlainPath } from '../../../base/path-readings.ts';
import type { RequestView } from '../request-view.ts';

/**
 * RFC 9309, sitemaps.org, IAB ads.txt, humanstxt.org, icons that browsers ask for by themselves and
 * manifests, for which they send no cookies; RFC 9116, RFC 8461 section 3.3, the links of apps of
 * Android and Apple, RFC 8555 section 8.3, the file by which authorities prove a name, and what
 * OpenID Connect Discovery and RFC 8414 have programs read.
 */
const fixedPath = new RegExp(
  '^/(?:(?:robots|ads|app-ads|security|humans)\\.txt|sitemap\\.xml|favicon\\.ico|' +
    'manifest\\.json|(?:site|manifest)\\.webmanifest|browserconfig\\.xml|' +
    'apple-touch-icon(?:-[0-9]{1,3}x[0-9]{1,3})?(?:-precomposed)?\\.png|' +
    '\\.well-known/(?:(?:security|mta-sts)\\.txt|assetlinks\\.json|apple-app-site-association|' +
    'openid-configuration|oauth-authorization-server|jwks\\.json|' +
    'pki-validation/[A-Za-z0-9_-]{1,128}\\.txt|acme-challenge/[A-Za-z0-9_-]{1,128}))$',
);

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
