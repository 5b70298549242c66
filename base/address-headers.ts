/** Owns the names of headers that proxies and delivery networks write to name a client. */

/** In lower case; they mean nothing else, and samples hold no others. */
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
