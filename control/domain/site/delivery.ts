/** What the delivery of a site may be. Pure. */

import { X509Certificate } from 'node:crypto';
import type {
  BasicAuthRuleJson,
  CompressionRuleJson,
  CookieRuleJson,
  CorsRuleJson,
  FieldChangeJson,
  ForwardAuthRuleJson,
  PathRewriteJson,
  SiteDeliveryJson,
  SiteRedirectJson,
  TimeoutRuleJson,
} from '../../../proto/gen/waf/v1/delivery_pb.ts';
import { certificateFields } from '../../../base/certificate-fields.ts';
import { parseNetwork } from '../../../base/ip-address.ts';
import { isPathPasswordHash } from '../../../base/path-password.ts';
import { isRevocationList } from '../../../base/revocation-list.ts';
import { invalidField } from '../errors.ts';
import { isSecretHeader } from './header-secrets.ts';
import { checkRequestHeaders } from './request-headers.ts';

const redirectStatuses = [301, 302, 303, 307, 308];
const path = /^\/[^\s?#*]{0,2047}$/;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Fields of answers that frame them, or that other settings and the proxy itself write. */
const ownResponseFields = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'date',
  'keep-alive',
  'set-cookie',
  'strict-transport-security',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
]);
const at = 'site.delivery';

/** The delivery with standard values. Errors: invalid_argument naming the field. */
export function checkDelivery(delivery: SiteDeliveryJson | undefined): typeof delivery {
  if (delivery === undefined) return undefined;
  checkMaintenance(delivery);
  const redirects = (delivery.redirects ?? []).map(checkRedirect);
  (delivery.rewrites ?? []).forEach(checkRewrite);
  checkPrefixes('basicAuth', delivery.basicAuth ?? []);
  (delivery.basicAuth ?? []).forEach(checkBasicAuth);
  checkPrefixes('forwardAuth', delivery.forwardAuth ?? []);
  (delivery.forwardAuth ?? []).forEach((rule, index) => checkForwardAuth(rule, index, delivery));
  checkClientCertificates(delivery);
  checkPrefixes('bodyLimits', delivery.bodyLimits ?? []);
  checkPrefixes('timeouts', delivery.timeouts ?? []);
  (delivery.timeouts ?? []).forEach(checkTimes);
  checkPrefixes('cors', delivery.cors ?? []);
  (delivery.cors ?? []).forEach(checkCors);
  checkPrefixes('compression', delivery.compression ?? []);
  (delivery.compression ?? []).forEach(checkCompression);
  checkStickySessions(delivery);
  checkSecurityText(delivery.securityTxt ?? '');
  checkFields('requestFields', delivery.requestFields ?? []);
  checkFields('responseFields', delivery.responseFields ?? []);
  checkCookies(delivery.cookies ?? []);
  return { ...delivery, ...(redirects.length === 0 ? {} : { redirects }) };
}

function checkMaintenance({ maintenance }: SiteDeliveryJson): void {
  if (maintenance === undefined) return;
  (maintenance.allowedNetworks ?? []).forEach((network, index) => {
    if (parseNetwork(network) !== null) return;
    const field = `${at}.maintenance.allowedNetworks[${index}]`;
    throw invalidField(field, 'must be an address or a network such as 192.0.2.0/24');
  });
  (maintenance.allowedPaths ?? []).forEach((one, index) => {
    checkPath(one, `${at}.maintenance.allowedPaths[${index}]`);
  });
}

function checkPath(text: string, field: string): void {
  if (!path.test(text)) throw invalidField(field, 'must be a path that begins with a slash');
}

function checkRedirect(redirect: SiteRedirectJson, index: number): SiteRedirectJson {
  const field = `${at}.redirects[${index}]`;
  const from = redirect.path ?? '';
  checkPath(from.replace(/\/\*$/, '') || '/', `${field}.path`);
  const status = redirect.status || 308;
  if (!redirectStatuses.includes(status)) {
    throw invalidField(`${field}.status`, 'must be 301, 302, 303, 307 or 308');
  }
  const target = redirect.target ?? '';
  checkStar(from, target, field);
  const own = isOwnTarget(target);
  // A visitor must not choose the host: * stands after it.
  const elsewhere = /^https?:\/\/[^/\s*?#@\\]+(?:[/?#][^\s\\]*)?$/.test(target);
  if (!own && !(elsewhere && URL.canParse(target))) {
    throw invalidField(`${field}.target`, 'must be a path, or an http or https URL with a host');
  }
  const host = (redirect.host ?? '').toLowerCase();
  if (target === from && host === '') throw invalidField(`${field}.target`, 'is the path itself');
  return { ...redirect, status, ...(host === '' ? {} : { host }) };
}

function checkRewrite({ path: from = '', target = '' }: PathRewriteJson, index: number): void {
  const field = `${at}.rewrites[${index}]`;
  checkPath(from.replace(/\/\*$/, '') || '/', `${field}.path`);
  checkStar(from, target, field);
  if (!isOwnTarget(target)) throw invalidField(`${field}.target`, 'must be a path');
  if (target === from) throw invalidField(`${field}.target`, 'is the path itself');
}

function checkStar(from: string, target: string, field: string): void {
  const stars = target.split('*').length - 1;
  if (stars === 0 || (stars === 1 && from.endsWith('/*'))) return;
  throw invalidField(`${field}.target`, 'has one * at most, and only where the path ends with /*');
}

/** A path of this site; two slashes at the beginning would name a host. */
function isOwnTarget(target: string): boolean {
  return /^\/(?![/\\])[^\s\\]*$/.test(target);
}

function checkPrefixes(name: string, rules: readonly { readonly pathPrefix?: string }[]): void {
  const seen = new Set<string>();
  rules.forEach(({ pathPrefix = '' }, index) => {
    const field = `${at}.${name}[${index}].pathPrefix`;
    checkPath(pathPrefix, field);
    const folded = pathPrefix.toLowerCase().replace(/\/+$/, '');
    if (seen.has(folded)) throw invalidField(field, 'is that of another entry');
    seen.add(folded);
  });
}

function checkBasicAuth({ realm = '', users = [], open }: BasicAuthRuleJson, index: number): void {
  const field = `${at}.basicAuth[${index}]`;
  if (!/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(realm)) {
    throw invalidField(`${field}.realm`, 'must be visible ASCII without quotes and backslashes');
  }
  if (open === true && users.length > 0) {
    throw invalidField(`${field}.users`, 'has no entries where the path is open');
  }
  if (open !== true && users.length === 0) {
    throw invalidField(`${field}.users`, 'needs an entry, or open');
  }
  const names = new Set<string>();
  users.forEach(({ name = '', passwordHash = '' }, place) => {
    const user = `${field}.users[${place}]`;
    if (!/^[^\x00-\x1f\x7f:]{1,128}$/.test(name)) {
      throw invalidField(`${user}.name`, 'must be a name without a colon');
    }
    if (names.has(name)) throw invalidField(`${user}.name`, 'is that of another entry');
    names.add(name);
    if (!isPathPasswordHash(passwordHash)) {
      throw invalidField(`${user}.passwordHash`, 'must be what waf site hash-password prints');
    }
  });
}

function checkForwardAuth(
  rule: ForwardAuthRuleJson,
  index: number,
  { requestFields = [] }: SiteDeliveryJson,
): void {
  const field = `${at}.forwardAuth[${index}]`;
  const { url = '', open = false, copiedFields = [], allowedNetworks = [] } = rule;
  if (open && (url !== '' || copiedFields.length > 0)) {
    throw invalidField(`${field}.${url === '' ? 'copiedFields' : 'url'}`, 'is empty where open');
  }
  if (!open && !isServiceUrl(url)) {
    throw invalidField(`${field}.url`, 'must be an http or https URL without user and fragment');
  }
  allowedNetworks.forEach((network, place) => {
    if (parseNetwork(network) !== null) return;
    const problem = 'must be an address or a network such as 10.0.0.0/8';
    throw invalidField(`${field}.allowedNetworks[${place}]`, problem);
  });
  copiedFields.forEach((name, place) => {
    const one = `${field}.copiedFields[${place}]`;
    if (!token.test(name)) throw invalidField(one, 'is no header name');
    const lower = name.toLowerCase();
    if (lower === 'host') throw invalidField(one, 'must not be host: pools have it');
    checkRequestHeaders({ [name]: '' }, one);
    refuseCertificateField(lower, one);
    if (requestFields.some((change) => change.name?.toLowerCase() === lower)) {
      throw invalidField(one, 'is one of requestFields');
    }
  });
}

/** Origins trust these fields: nothing but a client's certificate fills them. */
function refuseCertificateField(name: string, field: string): void {
  if (!certificateFields.some((one) => one === name)) return;
  throw invalidField(field, `must not be ${name}: clientCertificates fills it`);
}

function isServiceUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s\\#]+$/.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

function checkClientCertificates({ clientCertificates }: SiteDeliveryJson): void {
  const field = `${at}.clientCertificates`;
  const { caPem = '', crlPem = '', optional = false } = clientCertificates ?? {};
  if (caPem === '') {
    if (optional) throw invalidField(`${field}.optional`, 'needs caPem');
    if (crlPem !== '') throw invalidField(`${field}.crlPem`, 'needs caPem');
    return;
  }
  if (!holdsOnly(caPem, isAuthority)) {
    throw invalidField(`${field}.caPem`, 'must hold PEM certificates of authorities, nothing else');
  }
  if (crlPem !== '' && !holdsOnly(crlPem, isRevocationList)) {
    throw invalidField(
      `${field}.crlPem`,
      'must hold PEM certificate revocation lists, nothing else',
    );
  }
}

const pemBlock = /-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g;

/** Whether a text is PEM blocks that all pass, one or more. */
function holdsOnly(pem: string, passes: (block: string) => boolean): boolean {
  const blocks = pem.match(pemBlock) ?? [];
  const rest = pem.replaceAll(pemBlock, '').trim();
  return blocks.length > 0 && rest === '' && blocks.every(passes);
}

function isAuthority(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca;
  } catch {
    // The caller says what is wrong: OpenSSL's words name no field.
    return false;
  }
}

function checkTimes(rule: TimeoutRuleJson, index: number): void {
  if (Object.values(rule).some((value) => typeof value === 'number' && value > 0)) return;
  throw invalidField(`${at}.timeouts[${index}]`, 'needs a time');
}

function checkCors(rule: CorsRuleJson, index: number): void {
  const field = `${at}.cors[${index}]`;
  const { allowedOrigins = [], allowCredentials = false } = rule;
  if (allowedOrigins.length === 0) throw invalidField(`${field}.allowedOrigins`, 'is required');
  allowedOrigins.forEach((origin, place) => {
    if (origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)) return;
    const problem = 'must be * or an origin such as https://app.example';
    throw invalidField(`${field}.allowedOrigins[${place}]`, problem);
  });
  if (allowCredentials && allowedOrigins.includes('*')) {
    throw invalidField(`${field}.allowCredentials`, 'needs named origins: any page could use them');
  }
  for (const name of ['allowedMethods', 'allowedHeaders', 'exposedHeaders'] as const) {
    (rule[name] ?? []).forEach((one, place) => {
      if (!token.test(one)) throw invalidField(`${field}.${name}[${place}]`, 'is no such name');
    });
  }
}

function checkStickySessions({ stickySessions }: SiteDeliveryJson): void {
  const name = stickySessions?.cookieName ?? '';
  const field = `${at}.stickySessions.cookieName`;
  if (name !== '' && !token.test(name)) throw invalidField(field, 'is no name of a cookie');
  // RFC 6265bis section 4.1.3: browsers take these over TLS only, and with other attributes.
  if (/^__(?:host|secure|http|waf)/i.test(name)) {
    throw invalidField(field, 'must not begin with __Host, __Secure, __Http or __waf');
  }
}

function checkCompression({ types = [], off = false }: CompressionRuleJson, index: number): void {
  const field = `${at}.compression[${index}].types`;
  if (off && types.length > 0) throw invalidField(field, 'has no entries where off');
  types.forEach((type, place) => {
    const [kind = '', name = '', ...more] = type.split('/');
    const whole = token.test(kind) && token.test(name) && more.length === 0 && kind !== '*';
    if (whole && (name === '*' || !name.includes('*'))) return;
    throw invalidField(`${field}[${place}]`, 'must be a media type such as text/html or text/*');
  });
}

/** RFC 9116 section 2.5: who reports, and until when the text holds. */
function checkSecurityText(text: string): void {
  if (text === '') return;
  for (const name of ['Contact', 'Expires']) {
    if (new RegExp(`^${name}:`, 'im').test(text)) continue;
    throw invalidField(`${at}.securityTxt`, `needs a line ${name}: (RFC 9116)`);
  }
}

function checkFields(name: 'requestFields' | 'responseFields', changes: FieldChangeJson[]): void {
  const seen = new Set<string>();
  changes.forEach(({ name: header = '', value = '', remove = false, mode }, index) => {
    const field = `${at}.${name}[${index}]`;
    const lower = header.toLowerCase();
    if (!token.test(header)) throw invalidField(`${field}.name`, 'is no header name');
    if (seen.has(lower) && mode !== 'FIELD_CHANGE_MODE_ADD') {
      throw invalidField(`${field}.name`, 'is that of another entry');
    }
    seen.add(lower);
    const states = mode !== undefined && mode !== 'FIELD_CHANGE_MODE_UNSPECIFIED';
    if (remove && states && mode !== 'FIELD_CHANGE_MODE_REPLACE') {
      throw invalidField(`${field}.mode`, 'is of no use where the field is removed');
    }
    if (remove !== (value === '')) {
      throw invalidField(`${field}.value`, 'is needed, unless the field is removed');
    }
    checkRequestHeaders({ [header]: value }, `${field}.value`);
    if (name === 'responseFields' && ownResponseFields.has(lower)) {
      throw invalidField(`${field}.name`, `must not be ${lower}: the proxy writes it`);
    }
    if (name === 'responseFields') return;
    if (lower === 'host') throw invalidField(`${field}.name`, 'must not be host: pools have it');
    if (!remove) refuseCertificateField(lower, `${field}.name`);
    if (!remove && isSecretHeader(header, value)) {
      const problem = 'looks like a secret: set it on the pool, which never shows it';
      throw invalidField(`${field}.value`, problem);
    }
  });
}

function checkCookies(rules: readonly CookieRuleJson[]): void {
  const seen = new Set<string>();
  rules.forEach(({ name = '', secure, httpOnly, sameSite }, index) => {
    const field = `${at}.cookies[${index}]`;
    if (name !== '' && !token.test(name)) {
      throw invalidField(`${field}.name`, 'is no name of a cookie');
    }
    if (seen.has(name)) throw invalidField(`${field}.name`, 'is that of another entry');
    seen.add(name);
    const keepsSite = sameSite === undefined || sameSite === 'COOKIE_SAME_SITE_UNSPECIFIED';
    if (secure !== true && httpOnly !== true && keepsSite) {
      throw invalidField(field, 'needs secure, httpOnly or sameSite');
    }
    // Browsers refuse such a cookie.
    if (sameSite === 'COOKIE_SAME_SITE_NONE' && secure !== true) {
      throw invalidField(`${field}.sameSite`, 'needs secure to be NONE');
    }
  });
}
