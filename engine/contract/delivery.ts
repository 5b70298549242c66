/**
 * How a site is delivered beside protection, as the traffic path uses it: plain data. Path prefixes
 * are folded, without a slash at the end, the longest first; '' for every path. Byte strings.
 */

/** A site that is closed for work on it. */
export interface MaintenanceConfig {
  /** 0 for no Retry-After. */
  readonly retryAfterSeconds: number;
  /** '' for the usual wording. */
  readonly title: string;
  readonly message: string;
  /** Addresses and networks that are served. */
  readonly allowedNetworks: readonly string[];
  /** Prefixes that are served. */
  readonly allowedPaths: readonly string[];
}

/** Sends visitors of a path elsewhere. */
export interface RedirectConfig {
  /** '' for every host of the site. */
  readonly host: string;
  /** As it was sent; what lies under it where `under`. */
  readonly path: string;
  readonly under: boolean;
  /** With * for what lies under the path. */
  readonly target: string;
  readonly status: number;
}

/** Asks for a user name and a password. */
export interface BasicAuthConfig {
  readonly pathPrefix: string;
  readonly realm: string;
  readonly users: readonly { readonly name: string; readonly passwordHash: string }[];
  /** Nobody is asked. */
  readonly open: boolean;
}

/** Asks a service of the operator's own. */
export interface ForwardAuthConfig {
  readonly pathPrefix: string;
  /** '' where `open`. */
  readonly url: string;
  /** Lower case. */
  readonly copiedFields: readonly string[];
  readonly timeoutMs: number;
  /** Special addresses that it may have, in CIDR form. */
  readonly allowedNetworks: readonly string[];
  /** Nobody is asked. */
  readonly open: boolean;
}

/** Asks clients for certificates. */
export interface ClientCertificatesConfig {
  /** PEM of the authorities. */
  readonly caPem: string;
  /** PEM of their revocation lists; '' where none are checked. */
  readonly crlPem: string;
  /** Of both: equal means the same authorities and lists. */
  readonly fingerprint: string;
  readonly optional: boolean;
}

/** Bounds bodies of requests. */
export interface BodyLimitConfig {
  readonly pathPrefix: string;
  readonly maxBytes: number;
}

/** Lets pages of other origins read answers. */
export interface CorsConfig {
  readonly pathPrefix: string;
  /** Lower case; `*` for all. */
  readonly allowedOrigins: readonly string[];
  readonly allowedMethods: readonly string[];
  readonly allowedHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  readonly allowCredentials: boolean;
  readonly maxAgeSeconds: number;
}

/** Sets a field, or takes it away. */
export interface FieldChangeConfig {
  readonly name: string;
  readonly value: string;
  readonly remove: boolean;
}

/** Fields of the origin's answer that are replaced. */
export interface ResponseFields {
  /** Lower case: the origin's are not copied. */
  readonly names: readonly string[];
  /** Ready lines with their ends. */
  readonly lines: string;
}

/** Compresses answers of the origin. */
export interface CompressionConfig {
  readonly pathPrefix: string;
  /** Lower case; `text/*` for all of a kind. */
  readonly types: readonly string[];
  readonly minBytes: number;
  /** Nothing is compressed. */
  readonly off: boolean;
}

/** What a client accepts of an answer that may be compressed. */
export interface AnswerCompression extends Pick<CompressionConfig, 'types' | 'minBytes'> {
  /** '' where the answer stays as it is, and says that it depends on the request. */
  readonly coding: 'br' | 'gzip' | '';
}

/** Keeps visitors with the origin address that answered them first. */
export interface StickySessionsConfig {
  readonly cookieName: string;
  /** 0 for as long as the browser is open. */
  readonly maxAgeSeconds: number;
}

/** Everything; what is not set is empty. */
export interface DeliveryConfig {
  readonly maintenance?: MaintenanceConfig;
  readonly redirects: readonly RedirectConfig[];
  readonly basicAuth: readonly BasicAuthConfig[];
  readonly forwardAuth: readonly ForwardAuthConfig[];
  readonly clientCertificates?: ClientCertificatesConfig;
  readonly bodyLimits: readonly BodyLimitConfig[];
  readonly securityTxt: string;
  readonly cors: readonly CorsConfig[];
  readonly compression: readonly CompressionConfig[];
  readonly stickySessions?: StickySessionsConfig;
  readonly requestFields: readonly FieldChangeConfig[];
  readonly responseFields: readonly FieldChangeConfig[];
}

/** Nothing is set: what a stored object lacks. */
export const noDelivery: DeliveryConfig = {
  redirects: [],
  basicAuth: [],
  forwardAuth: [],
  bodyLimits: [],
  securityTxt: '',
  cors: [],
  compression: [],
  requestFields: [],
  responseFields: [],
};
