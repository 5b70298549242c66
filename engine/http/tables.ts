/**
 * The byte classes of HTTP/1.x (RFC 9110 section 5.6, RFC 9112) and the list of header fields that
 * the proxy itself must know. Holds no parsing.
 */

/** Bits of `CLASS`. */
export const TOKEN = 1;
export const VALUE = 2;
export const TARGET = 4;
export const DIGIT = 8;
export const HEX = 16;
export const HOST = 32;
export const QDTEXT = 64;
/** Letters and digits; only names are compared by it. */
const ALNUM = 128;

const tokenMarks = "!#$%&'*+-.^_`|~";
/**
 * Without `%`: no name that is served has escapes, and origins differ in whether they decode them.
 */
const hostMarks = "-._~!$&'()*+,;=";

function classOf(code: number): number {
  const char = String.fromCharCode(code);
  const digit = code >= 0x30 && code <= 0x39;
  const alpha = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  const visible = code > 0x20 && code < 0x7f;
  const obsText = code >= 0x80;
  const blank = code === 0x20 || code === 0x09;
  let bits = 0;
  if (digit || alpha || tokenMarks.includes(char)) bits |= TOKEN;
  if (visible || obsText || blank) bits |= VALUE;
  // RFC 9112 section 3.2: no form of a target has a fragment; origins differ in what they cut off.
  if (visible && char !== '#') bits |= TARGET;
  if (digit) bits |= DIGIT;
  if (digit || alpha) bits |= ALNUM;
  if (digit || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66)) bits |= HEX;
  if (digit || alpha || hostMarks.includes(char)) bits |= HOST;
  if ((visible || obsText || blank) && char !== '"' && char !== '\\') bits |= QDTEXT;
  return bits;
}

/** Class bits of every byte. */
export const CLASS: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) => classOf(code));

/** Values of hexadecimal digits; 0 for other bytes (check `HEX` first). */
export const HEX_VALUE: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) =>
  (classOf(code) & HEX) === 0 ? 0 : Number.parseInt(String.fromCharCode(code), 16),
);

/** What a header field is to the proxy; `OTHER` is everything that it only passes on. */
export const FIELD = {
  OTHER: 0,
  HOST: 1,
  CONTENT_LENGTH: 2,
  TRANSFER_ENCODING: 3,
  CONNECTION: 4,
  KEEP_ALIVE: 5,
  PROXY_CONNECTION: 6,
  TE: 7,
  TRAILER: 8,
  UPGRADE: 9,
  EXPECT: 10,
  PROXY_AUTHORIZATION: 11,
  X_REQUEST_ID: 12,
  X_FORWARDED_FOR: 13,
  X_FORWARDED_PROTO: 14,
  X_FORWARDED_HOST: 15,
  FORWARDED: 16,
  X_REAL_IP: 17,
  /** `Proxy`, which CGI origins would read as HTTP_PROXY. */
  PROXY: 18,
  /** Spelled like one of those but for another mark in place of `-`: the same to CGI origins. */
  ALIAS: 19,
  /** Named in Connection by the sender. */
  NOMINATED: 20,
  USER_AGENT: 21,
  ACCEPT: 22,
  DATE: 23,
  CONTENT_TYPE: 24,
  CONTENT_ENCODING: 25,
  /** What origins believe of proxies and we do not say; forged unless the operator sets it. */
  X_FORWARDED_OTHER: 26,
  ACCEPT_ENCODING: 27,
  REFERER: 28,
  TRACEPARENT: 29,
  TRACESTATE: 30,
  /** The same, that proxies in front of the product set: kept where they are proved. */
  OF_PROXIES: 31,
} as const;

const names: readonly (readonly [string, number])[] = [
  ['host', FIELD.HOST],
  ['content-length', FIELD.CONTENT_LENGTH],
  ['transfer-encoding', FIELD.TRANSFER_ENCODING],
  ['connection', FIELD.CONNECTION],
  ['keep-alive', FIELD.KEEP_ALIVE],
  ['proxy-connection', FIELD.PROXY_CONNECTION],
  ['te', FIELD.TE],
  ['trailer', FIELD.TRAILER],
  ['upgrade', FIELD.UPGRADE],
  ['expect', FIELD.EXPECT],
  ['proxy-authorization', FIELD.PROXY_AUTHORIZATION],
  ['x-request-id', FIELD.X_REQUEST_ID],
  ['x-forwarded-for', FIELD.X_FORWARDED_FOR],
  ['x-forwarded-proto', FIELD.X_FORWARDED_PROTO],
  ['x-forwarded-host', FIELD.X_FORWARDED_HOST],
  ['forwarded', FIELD.FORWARDED],
  ['x-real-ip', FIELD.X_REAL_IP],
  ['x-forwarded-port', FIELD.X_FORWARDED_OTHER],
  ['x-forwarded-server', FIELD.X_FORWARDED_OTHER],
  ['x-forwarded-scheme', FIELD.X_FORWARDED_OTHER],
  ['x-forwarded-ssl', FIELD.X_FORWARDED_OTHER],
  ['x-forwarded-prefix', FIELD.X_FORWARDED_OTHER],
  ['x-forwarded-protocol', FIELD.OF_PROXIES],
  ['x-forwarded-proto-version', FIELD.OF_PROXIES],
  ['x-forwarded-by', FIELD.OF_PROXIES],
  ['x-forwarded', FIELD.OF_PROXIES],
  ['x-forwarded-client-ip', FIELD.OF_PROXIES],
  ['x-forwarded-path', FIELD.OF_PROXIES],
  ['x-forwarded-uri', FIELD.OF_PROXIES],
  ['x-forwarded-method', FIELD.OF_PROXIES],
  ['x-forwarded-https', FIELD.OF_PROXIES],
  ['forwarded-for', FIELD.OF_PROXIES],
  ['front-end-https', FIELD.OF_PROXIES],
  ['x-url-scheme', FIELD.OF_PROXIES],
  ['x-scheme', FIELD.OF_PROXIES],
  ['x-original-host', FIELD.OF_PROXIES],
  ['x-original-url', FIELD.OF_PROXIES],
  ['x-original-forwarded-for', FIELD.OF_PROXIES],
  ['x-rewrite-url', FIELD.OF_PROXIES],
  ['x-host', FIELD.OF_PROXIES],
  ['x-http-host-override', FIELD.OF_PROXIES],
  ['x-remote-ip', FIELD.OF_PROXIES],
  ['x-remote-addr', FIELD.OF_PROXIES],
  ['x-originating-ip', FIELD.OF_PROXIES],
  ['x-client-ip', FIELD.OF_PROXIES],
  ['x-cluster-client-ip', FIELD.OF_PROXIES],
  ['x-proxyuser-ip', FIELD.OF_PROXIES],
  ['x-appengine-user-ip', FIELD.OF_PROXIES],
  ['x-azure-clientip', FIELD.OF_PROXIES],
  ['x-azure-socketip', FIELD.OF_PROXIES],
  ['client-ip', FIELD.OF_PROXIES],
  ['true-client-ip', FIELD.OF_PROXIES],
  ['cf-connecting-ip', FIELD.OF_PROXIES],
  ['cf-connecting-ipv6', FIELD.OF_PROXIES],
  ['fastly-client-ip', FIELD.OF_PROXIES],
  ['proxy-client-ip', FIELD.OF_PROXIES],
  ['x-client-subject', FIELD.OF_PROXIES],
  ['x-client-issuer', FIELD.OF_PROXIES],
  ['x-client-verify', FIELD.OF_PROXIES],
  ['x-client-dn', FIELD.OF_PROXIES],
  ['x-client-cn', FIELD.OF_PROXIES],
  ['cf-visitor', FIELD.OF_PROXIES],
  ['fastly-ssl', FIELD.OF_PROXIES],
  ['https', FIELD.OF_PROXIES],
  ['x-https', FIELD.OF_PROXIES],
  ['x-ssl', FIELD.OF_PROXIES],
  ['x-tls', FIELD.OF_PROXIES],
  ['x-proto', FIELD.OF_PROXIES],
  ['x-client-proto', FIELD.OF_PROXIES],
  ['x-client-scheme', FIELD.OF_PROXIES],
  ['x-edge-proto', FIELD.OF_PROXIES],
  ['x-proxy-proto', FIELD.OF_PROXIES],
  ['x-proxy-https', FIELD.OF_PROXIES],
  ['x-proxy-ssl', FIELD.OF_PROXIES],
  ['x-real-scheme', FIELD.OF_PROXIES],
  ['x-original-proto', FIELD.OF_PROXIES],
  ['x-original-scheme', FIELD.OF_PROXIES],
  ['x-original-for', FIELD.OF_PROXIES],
  ['x-original-uri', FIELD.OF_PROXIES],
  ['x-envoy-external-address', FIELD.OF_PROXIES],
  ['x-envoy-original-path', FIELD.OF_PROXIES],
  ['x-envoy-original-host', FIELD.OF_PROXIES],
  ['cloudfront-forwarded-proto', FIELD.OF_PROXIES],
  ['cloudfront-viewer-address', FIELD.OF_PROXIES],
  ['x-real-host', FIELD.OF_PROXIES],
  ['x-real-proto', FIELD.OF_PROXIES],
  ['x-ms-forwarded-client-ip', FIELD.OF_PROXIES],
  ['proxy', FIELD.PROXY],
  ['user-agent', FIELD.USER_AGENT],
  ['accept', FIELD.ACCEPT],
  ['accept-encoding', FIELD.ACCEPT_ENCODING],
  ['referer', FIELD.REFERER],
  ['date', FIELD.DATE],
  ['content-type', FIELD.CONTENT_TYPE],
  ['content-encoding', FIELD.CONTENT_ENCODING],
  ['traceparent', FIELD.TRACEPARENT],
  ['tracestate', FIELD.TRACESTATE],
];

interface KnownField {
  readonly bytes: Uint8Array;
  readonly kind: number;
}

const longestName = Math.max(...names.map(([name]) => name.length));
const byLength: readonly (readonly KnownField[])[] = Array.from(
  { length: longestName + 1 },
  (_, length) =>
    names
      .filter(([name]) => name.length === length)
      .map(([name, kind]) => ({ bytes: Buffer.from(name, 'latin1'), kind })),
);

/**
 * How names begin that only proxies use: of what they forward, of the TLS connection that they took
 * and of the client's certificate on it. Sources: RFC 9440, Apache mod_ssl, nginx, HAProxy, Envoy,
 * Traefik, IIS ARR, WebLogic, AWS, Cloudflare and Google Cloud.
 */
const beginnings = [
  'x-forwarded-client-cert',
  'x-forwarded-tls-',
  'ssl-',
  'x-ssl-',
  'x-tls-',
  'x-mtls-',
  'client-cert',
  'x-client-cert',
  'x-client-ssl-',
  'x-client-tls-',
  'x-amzn-mtls-',
  'x-amzn-tls-',
  'cf-cert-',
  'cf-client-cert',
  'cloudfront-viewer-cert',
  'cloudfront-viewer-tls',
  'wl-proxy-',
  'x-arr-',
  'x-lb-',
].map((name) => Buffer.from(name, 'latin1'));
/** By the first letter. */
const beginningsOf: readonly (readonly Uint8Array[])[] = Array.from({ length: 128 }, (_, letter) =>
  beginnings.filter((name) => name[0] === letter),
);
const none: readonly Uint8Array[] = [];
const noFields: readonly KnownField[] = [];
const UNDERSCORE = 0x5f;

/** The kind of the field named by bytes [start, end), which must all be token bytes. */
export function fieldKind(bytes: Uint8Array, start: number, end: number): number {
  for (const candidate of byLength[end - start] ?? noFields) {
    const match = compareName(bytes, start, candidate.bytes);
    if (match === 1) return candidate.kind;
    if (match === 2) return FIELD.ALIAS;
  }
  for (const name of beginningsOf[bytes[start]! | 0x20] ?? none) {
    if (end - start < name.length) continue;
    const match = compareName(bytes, start, name);
    if (match === 1) return FIELD.OF_PROXIES;
    // Apache's own names have underscores: SSL_CLIENT_VERIFY.
    if (match === 2) return bytes[start + 3] === UNDERSCORE ? FIELD.OF_PROXIES : FIELD.ALIAS;
  }
  return FIELD.OTHER;
}

/** 0 different, 1 the same but for case, 2 the same but for case and another mark for `-`. */
function compareName(bytes: Uint8Array, start: number, name: Uint8Array): 0 | 1 | 2 {
  let result: 1 | 2 = 1;
  for (let i = 0; i < name.length; i++) {
    const byte = bytes[start + i]!;
    if ((byte | 0x20) === name[i]) continue;
    if (name[i] !== 0x2d || (CLASS[byte]! & ALNUM) !== 0) return 0;
    result = 2;
  }
  return result;
}

/**
 * True when bytes [start, end) spell `lower` (lower-case ASCII letters, digits, marks) in any case.
 */
export function equalsIgnoreCase(
  bytes: Uint8Array,
  start: number,
  end: number,
  lower: Uint8Array,
): boolean {
  if (end - start !== lower.length) return false;
  for (let i = 0; i < lower.length; i++) {
    const byte = bytes[start + i]!;
    const folded = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    if (folded !== lower[i]) return false;
  }
  return true;
}
