/**
 * Names of header fields that proxies and delivery networks write: those that name a client, and
 * those that only show which product a request came through.
 */

/** In lower case; they mean nothing else. */
export const addressHeaders: readonly string[] = [
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'fastly-client-ip',
  'fly-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-appengine-user-ip',
  'x-envoy-external-address',
  'x-original-forwarded-for',
  'ali-cdn-real-ip',
  'x-tencent-ua-ip',
  'cdn-src-ip',
  'incap-client-ip',
  'x-sucuri-clientip',
];

/** Fields that one product writes; their values are not looked at. In lower case. */
const signalFields: readonly (readonly [field: string, product: string])[] = [
  ['cf-ray', 'Cloudflare'],
  ['x-amz-cf-id', 'Amazon CloudFront'],
  ['x-amzn-trace-id', 'AWS load balancer'],
  ['x-azure-ref', 'Azure Front Door'],
  ['x-cloud-trace-context', 'Google Cloud'],
  ['fastly-ff', 'Fastly'],
  ['fly-request-id', 'Fly.io'],
  ['x-akamai-edgescape', 'Akamai'],
  ['x-sucuri-country', 'Sucuri'],
  ['x-envoy-expected-rq-timeout-ms', 'Envoy'],
  ['x-varnish', 'Varnish'],
  ['x-traefik-router', 'Traefik'],
];

/** Words of `Via` and `CDN-Loop` by which products name themselves (RFC 9110 7.6.3, RFC 8586). */
const signalWords: readonly (readonly [word: string, product: string])[] = [
  ['cloudflare', 'Cloudflare'],
  ['cloudfront', 'Amazon CloudFront'],
  ['akamai', 'Akamai'],
  ['fastly', 'Fastly'],
  ['google', 'Google Cloud'],
  ['varnish', 'Varnish'],
  ['squid', 'Squid'],
  ['caddy', 'Caddy'],
  ['haproxy', 'HAProxy'],
];

/**
 * Products that a request's fields show, each once, at most four. A hint, never a proof: every
 * client can write these fields.
 */
export function productSignals(valueOf: (field: string) => string | undefined): string[] {
  const found = new Set<string>();
  for (const [field, product] of signalFields) {
    if (valueOf(field) !== undefined) found.add(product);
  }
  const named = `${valueOf('via') ?? ''} ${valueOf('cdn-loop') ?? ''}`.slice(0, 512).toLowerCase();
  for (const [word, product] of signalWords) if (named.includes(word)) found.add(product);
  return [...found].slice(0, 4);
}
