/**
 * How one site is delivered, ready for its requests: what is answered in place of the origin, how
 * long bodies may be, and which fields answers have. A site without any of it has none of these.
 */

import { BlockList, isIPv6 } from 'node:net';
import { encodeUtf8 } from '../../base/byte-string.ts';
import { readyChanges, type DefaultField } from '../base/field-changes.ts';
import { withoutForcedEscapes } from '../../base/stated-path.ts';
import { siteAnswerNames, type SiteAnswerName } from '../contract/answer-order.ts';
import type {
  AnswerCompression,
  CookieRuleConfig,
  CorsConfig,
  DeliveryConfig,
  RedirectConfig,
  RewriteConfig,
  ResponseFields,
  TimeoutConfig,
} from '../contract/delivery.ts';
import { acceptedCoding } from './accepted-coding.ts';
import { ownPrefix } from './bot/own-paths.ts';
import { rulesOfPath } from './path-rules.ts';
import { shorterTimes, withInheritedTimes } from './request-times.ts';
import type { RequestView } from './request-view.ts';

/** An answer in place of the origin's. */
export interface SiteAnswer {
  readonly status: number;
  /** Stable code for events; null where nothing is refused. */
  readonly reason: string | null;
  readonly location: string | null;
  /** The whole body; null for a page. */
  readonly text: string | null;
  readonly contentType?: string;
  /** Of the page; '' for the usual. */
  readonly title?: string;
  readonly message?: string;
  /** Ready lines with their ends. */
  readonly lines?: string;
}

/** What depends on the head of the origin's answer. */
export interface AnswerRules {
  readonly defaults: readonly DefaultField[];
  readonly cookies: readonly CookieRuleConfig[];
}

/** One path as it was sent, or what lies under it, too. */
type Place = Pick<RewriteConfig, 'path' | 'under'>;

const securityPaths = new Set(['/.well-known/security.txt', '/security.txt']);
const corsNames = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
];
const simpleMethods = ['GET', 'HEAD', 'POST'];

/** See the header. */
export class SiteDelivery {
  private readonly config: DeliveryConfig;
  private readonly allowed = new BlockList();
  private readonly fixed: ResponseFields;
  private readonly times: readonly TimeoutConfig[];
  /** Null for nothing. */
  readonly answerRules: AnswerRules | null;
  /** The site asks for challenges, whose pages need what the product has under its own paths. */
  private readonly challenges: boolean;
  private readonly answers: Readonly<
    Record<SiteAnswerName, (view: RequestView) => SiteAnswer | null>
  > = {
    security_txt: (view) => this.securityText(view),
    maintenance: (view) => this.closed(view),
    redirect: (view) => redirect(this.config.redirects, view),
    preflight: (view) => this.preflight(view),
  };

  constructor(config: DeliveryConfig, challenges = false) {
    this.config = config;
    this.challenges = challenges;
    for (const network of config.maintenance?.allowedNetworks ?? []) {
      const [address = '', prefix] = network.split('/');
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      const bits = prefix ?? (family === 'ipv6' ? '128' : '32');
      this.allowed.addSubnet(address, Number(bits), family);
    }
    const { names, lines, defaults } = readyChanges(config.responseFields);
    this.fixed = { names, lines };
    this.times = withInheritedTimes(config.timeouts);
    const { cookies } = config;
    this.answerRules = defaults.length + cookies.length === 0 ? null : { defaults, cookies };
  }

  /** What the site answers by itself; null for nothing. */
  answer(view: RequestView): SiteAnswer | null {
    for (const name of siteAnswerNames) {
      const answer = this.answers[name](view);
      if (answer !== null) return answer;
    }
    return null;
  }

  /** Who of them gives that answer; null for nobody. */
  answerer(view: RequestView): SiteAnswerName | null {
    return siteAnswerNames.find((name) => this.answers[name](view) !== null) ?? null;
  }

  /** The longest body that a request may have, at most `bytesMax`. */
  bodyBytesMax(view: RequestView, bytesMax: number): number {
    const { bodyLimits } = this.config;
    if (bodyLimits.length === 0) return bytesMax;
    const limits = rulesOfPath(bodyLimits, view).map(({ maxBytes }) => maxBytes);
    return Math.min(bytesMax, ...limits);
  }

  /** Times by the path, 0 for the node's; null for all of the node's. */
  timeouts(view: RequestView): TimeoutConfig | null {
    if (this.times.length === 0) return null;
    const [rule = null, ...others] = rulesOfPath(this.times, view);
    return rule === null ? null : others.reduce(shorterTimes, rule);
  }

  /** What replaces fields of the origin's answer; null for nothing. */
  responseFields(view: RequestView): ResponseFields | null {
    const { fixed } = this;
    const rule = this.corsRule(view);
    if (rule === null) return fixed.names.length === 0 && fixed.lines === '' ? null : fixed;
    const names = [...fixed.names, ...corsNames];
    return { names, lines: fixed.lines + corsLines(rule, view.header('origin')) };
  }

  /**
   * The target that the origin gets; null for the client's. A path that an origin may read as one
   * beside the rule's stays as it was sent: guards decided by its readings.
   */
  rewritten(view: RequestView): string | null {
    const { rewrites } = this.config;
    if (rewrites.length === 0) return null;
    const path = withoutForcedEscapes(view.path);
    for (const rule of rewrites) {
      const rest = restOf(rule, path);
      if (rest === null) continue;
      return view.isUnder(rule.pathPrefix, false) ? targetOf(rule, rest, view.query) : null;
    }
    return null;
  }

  /** How the answer may be compressed; null for not at all, as where several rules may hold. */
  compression(view: RequestView): AnswerCompression | null {
    const { compression } = this.config;
    if (compression.length === 0) return null;
    const [rule, another] = rulesOfPath(compression, view);
    if (rule === undefined || another !== undefined || rule.off) return null;
    // RFC 9111 section 5.2.1.6.
    const asIs = /(?:^|[\s,])no-transform(?:$|[\s,])/i.test(view.header('cache-control') ?? '');
    const coding = asIs ? '' : acceptedCoding(view.header('accept-encoding') ?? '');
    return { types: rule.types, minBytes: rule.minBytes, coding };
  }

  private securityText({ method, path }: RequestView): SiteAnswer | null {
    const { securityTxt } = this.config;
    if (securityTxt === '' || !securityPaths.has(path)) return null;
    if (method !== 'GET' && method !== 'HEAD') return null;
    const text = encodeUtf8(securityTxt);
    const contentType = 'text/plain; charset=utf-8';
    return { status: 200, reason: null, location: null, text, contentType };
  }

  private closed(view: RequestView): SiteAnswer | null {
    const { maintenance } = this.config;
    if (maintenance === undefined) return null;
    const { clientIp } = view.facts;
    const family = isIPv6(clientIp) ? 'ipv6' : 'ipv4';
    if (clientIp !== '' && this.allowed.check(clientIp, family)) return null;
    if (maintenance.allowedPaths.some((path) => view.isUnder(path, false))) return null;
    // Who is challenged on an open path could not solve it otherwise.
    if (this.challenges && view.path.startsWith(ownPrefix)) return null;
    const { retryAfterSeconds, title, message } = maintenance;
    const lines = retryAfterSeconds === 0 ? '' : `Retry-After: ${retryAfterSeconds}\r\n`;
    const page = { title, message, lines };
    return { status: 503, reason: 'maintenance', location: null, text: null, ...page };
  }

  private preflight(view: RequestView): SiteAnswer | null {
    if (view.method !== 'OPTIONS') return null;
    const asked = view.header('access-control-request-method');
    const rule = asked === null ? null : this.corsRule(view);
    const origin = view.header('origin');
    if (asked === null || rule === null || origin === null) return null;
    const methods = rule.allowedMethods.length === 0 ? simpleMethods : rule.allowedMethods;
    if (!allows(rule, origin) || !methods.includes(asked)) {
      const lines = rule.allowedOrigins.includes('*') ? '' : 'Vary: Origin\r\n';
      const reason = allows(rule, origin) ? 'cors_method' : 'cors_origin';
      return { status: 403, reason, location: null, text: null, lines };
    }
    let lines = corsLines(rule, origin);
    lines += `Access-Control-Allow-Methods: ${methods.join(', ')}\r\n`;
    const { allowedHeaders, maxAgeSeconds } = rule;
    if (allowedHeaders.length > 0) {
      lines += `Access-Control-Allow-Headers: ${allowedHeaders.join(', ')}\r\n`;
    }
    if (maxAgeSeconds > 0) lines += `Access-Control-Max-Age: ${maxAgeSeconds}\r\n`;
    const contentType = 'text/plain; charset=utf-8';
    return { status: 200, reason: null, location: null, text: '', contentType, lines };
  }

  /** A path that origins may read in several ways has the rule that allows least: none. */
  private corsRule(view: RequestView): CorsConfig | null {
    const { cors } = this.config;
    if (cors.length === 0) return null;
    const found = rulesOfPath(cors, view);
    return found.length === 1 ? found[0]! : null;
  }
}

function allows({ allowedOrigins }: CorsConfig, origin: string): boolean {
  return allowedOrigins.includes('*') || allowedOrigins.includes(origin.toLowerCase());
}

/** Fetch standard, section 3.3: what lets a page of `origin` read the answer. */
function corsLines(rule: CorsConfig, origin: string | null): string {
  const any = rule.allowedOrigins.includes('*');
  const vary = any ? '' : 'Vary: Origin\r\n';
  if (origin === null || !allows(rule, origin)) return vary;
  let lines = `Access-Control-Allow-Origin: ${any ? '*' : origin}\r\n${vary}`;
  if (rule.allowCredentials) lines += 'Access-Control-Allow-Credentials: true\r\n';
  const { exposedHeaders } = rule;
  if (exposedHeaders.length === 0) return lines;
  return `${lines}Access-Control-Expose-Headers: ${exposedHeaders.join(', ')}\r\n`;
}

function redirect(redirects: readonly RedirectConfig[], view: RequestView): SiteAnswer | null {
  if (redirects.length === 0) return null;
  const path = withoutForcedEscapes(view.path);
  for (const rule of redirects) {
    if (rule.host !== '' && rule.host !== view.host) continue;
    const rest = restOf(rule, path);
    if (rest === null) continue;
    const location = targetOf(rule, rest, view.query);
    return { status: rule.status, reason: null, location, text: null };
  }
  return null;
}

/** What lies under the rule's path; null where it does not fit. */
function restOf({ path, under }: Place, sent: string): string | null {
  if (sent === path) return '';
  if (!under || !sent.startsWith(`${path}/`)) return null;
  return sent.slice(path.length + 1);
}

function targetOf({ target }: Pick<RewriteConfig, 'target'>, rest: string, query: string): string {
  const filled = target.replace('*', () => rest);
  // Two slashes at the beginning would name another host.
  const own = target.startsWith('/') ? filled.replace(/^[/\\]+/, '/') : filled;
  const asked = query === '' || target.includes('?') ? '' : `?${query}`;
  return (own + asked).replace(/[^\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]/g, escapeByte);
}

function escapeByte(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
