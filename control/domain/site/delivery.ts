/** What the delivery of a site may be. Pure. */

import type {
  BasicAuthRuleJson,
  CorsRuleJson,
  FieldChangeJson,
  SiteDeliveryJson,
  SiteRedirectJson,
} from '../../../proto/gen/waf/v1/delivery_pb.ts';
import { parseNetwork } from '../../../base/ip-address.ts';
import { isPathPasswordHash } from '../../../base/path-password.ts';
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
  checkPrefixes('basicAuth', delivery.basicAuth ?? []);
  (delivery.basicAuth ?? []).forEach(checkBasicAuth);
  checkPrefixes('bodyLimits', delivery.bodyLimits ?? []);
  checkPrefixes('cors', delivery.cors ?? []);
  (delivery.cors ?? []).forEach(checkCors);
  checkSecurityText(delivery.securityTxt ?? '');
  checkFields('requestFields', delivery.requestFields ?? []);
  checkFields('responseFields', delivery.responseFields ?? []);
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
  const stars = target.split('*').length - 1;
  if (stars > 1 || (stars === 1 && !from.endsWith('/*'))) {
    throw invalidField(
      `${field}.target`,
      'has one * at most, and only where the path ends with /*',
    );
  }
  const own = /^\/(?![/\\])[^\s\\]*$/.test(target);
  // A visitor must not choose the host: * stands after it.
  const elsewhere = /^https?:\/\/[^/\s*?#@\\]+(?:[/?#][^\s\\]*)?$/.test(target);
  if (!own && !(elsewhere && URL.canParse(target))) {
    throw invalidField(`${field}.target`, 'must be a path, or an http or https URL with a host');
  }
  const host = (redirect.host ?? '').toLowerCase();
  if (target === from && host === '') throw invalidField(`${field}.target`, 'is the path itself');
  return { ...redirect, status, ...(host === '' ? {} : { host }) };
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
  changes.forEach(({ name: header = '', value = '', remove = false }, index) => {
    const field = `${at}.${name}[${index}]`;
    const lower = header.toLowerCase();
    if (!token.test(header)) throw invalidField(`${field}.name`, 'is no header name');
    if (seen.has(lower)) throw invalidField(`${field}.name`, 'is that of another entry');
    seen.add(lower);
    if (remove !== (value === '')) {
      throw invalidField(`${field}.value`, 'is needed, unless the field is removed');
    }
    checkRequestHeaders({ [header]: value }, `${field}.value`);
    if (name === 'responseFields' && ownResponseFields.has(lower)) {
      throw invalidField(`${field}.name`, `must not be ${lower}: the proxy writes it`);
    }
    if (name === 'responseFields') return;
    if (lower === 'host') throw invalidField(`${field}.name`, 'must not be host: pools have it');
    if (!remove && isSecretHeader(header, value)) {
      const problem = 'looks like a secret: set it on the pool, which never shows it';
      throw invalidField(`${field}.value`, problem);
    }
  });
}
