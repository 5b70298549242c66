/**
 * How a site is delivered beside protection, as the traffic path uses it: plain data, the messages
 * of the API with every field. Path prefixes are folded, without a slash at the end, the longest
 * first; '' for every path. Byte strings.
 */

import type {
  BasicAuthRuleJson,
  BodyLimitRuleJson,
  ClientCertificatesJson,
  CompressionRuleJson,
  CookieRuleJson,
  CorsRuleJson,
  ForwardAuthRuleJson,
  MaintenanceModeJson,
  PathRewriteJson,
  SiteDeliveryJson,
  SiteRedirectJson,
  StickySessionsJson,
  TimeoutRuleJson,
} from '../../proto/gen/waf/v1/delivery_pb.ts';
import type { FieldChange } from '../base/field-changes.ts';
import type { Whole } from './plain.ts';

/** A site that is closed for work on it. */
export type MaintenanceConfig = Omit<Whole<MaintenanceModeJson>, 'enabled'>;

/** Another path at the origin: in place of one as it was sent, or of what lies under it. */
export interface RewriteConfig extends Whole<PathRewriteJson> {
  readonly under: boolean;
  /** The path as readings of paths are compared with it. */
  readonly pathPrefix: string;
}

/** Sends visitors of a path elsewhere: one as it was sent, or what lies under it. */
export interface RedirectConfig extends Whole<SiteRedirectJson> {
  readonly under: boolean;
}

/** Asks for a user name and a password. */
export type BasicAuthConfig = Whole<BasicAuthRuleJson>;

/** Asks a service of the operator's own; names of fields in lower case. */
export type ForwardAuthConfig = Whole<ForwardAuthRuleJson>;

/** Asks clients for certificates. */
export interface ClientCertificatesConfig extends Whole<ClientCertificatesJson> {
  /** Of authorities and lists: equal means the same ones. */
  readonly fingerprint: string;
}

/** Bounds bodies of requests. */
export interface BodyLimitConfig extends Omit<Whole<BodyLimitRuleJson>, 'maxBytes'> {
  readonly maxBytes: number;
}

/** Bounds how long parts of a request take; 0 for the node's time. */
export type TimeoutConfig = Whole<TimeoutRuleJson>;

/** Lets pages of other origins, in lower case, read answers. */
export type CorsConfig = Whole<CorsRuleJson>;

/** Attributes of cookies that the origin sets. */
export type CookieRuleConfig = Whole<CookieRuleJson>;

/** Fields of the origin's answer that are replaced. */
export interface ResponseFields {
  /** Lower case: the origin's are not copied. */
  readonly names: readonly string[];
  /** Ready lines with their ends. */
  readonly lines: string;
}

/** Compresses answers of the origin; types in lower case. */
export type CompressionConfig = Whole<CompressionRuleJson>;

/** What a client accepts of an answer that may be compressed. */
export interface AnswerCompression extends Omit<CompressionConfig, 'pathPrefix' | 'off'> {
  /** '' where the answer stays as it is, and says that it depends on the request. */
  readonly coding: 'br' | 'gzip' | '';
}

/** Keeps visitors with the origin address that answered them first. */
export type StickySessionsConfig = Omit<Whole<StickySessionsJson>, 'enabled'>;

/** Fields with a form of their own. */
interface OwnForms {
  readonly maintenance?: MaintenanceConfig;
  readonly redirects: readonly RedirectConfig[];
  readonly rewrites: readonly RewriteConfig[];
  readonly requestFields: readonly FieldChange[];
  readonly responseFields: readonly FieldChange[];
  readonly clientCertificates?: ClientCertificatesConfig;
  readonly bodyLimits: readonly BodyLimitConfig[];
  readonly stickySessions?: StickySessionsConfig;
}

/** Everything; what is not set is empty. */
export interface DeliveryConfig extends OwnForms, Omit<Whole<SiteDeliveryJson>, keyof OwnForms> {}

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
  cookies: [],
  rewrites: [],
  timeouts: [],
};
