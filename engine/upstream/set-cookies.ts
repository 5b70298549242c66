/** Cookies that an origin sets, and what a site changes in them: attributes that browsers obey. */

import { cookieNameOf, trimmed } from '../base/sticky-cookie.ts';
import type { CookieRuleConfig, ResponseFields } from '../contract/delivery.ts';
import { SPAN } from '../contract/message.ts';
import { equalsIgnoreCase } from '../http/tables.ts';

/** Heads as `engine/http` reads them. */
export interface FieldSpans {
  readonly spans: Int32Array;
  readonly fieldCount: number;
}

/** Values of Set-Cookie, in their order; byte strings. */
export interface SetCookies {
  readonly values: readonly string[];
  /** They are no longer those of the origin. */
  readonly changed: boolean;
}

const sameSites = {
  COOKIE_SAME_SITE_UNSPECIFIED: '',
  COOKIE_SAME_SITE_STRICT: 'Strict',
  COOKIE_SAME_SITE_LAX: 'Lax',
  COOKIE_SAME_SITE_NONE: 'None',
} as const;
const setCookieField = Buffer.from('set-cookie');

/** What an answer sets. */
export function readSetCookies(bytes: Uint8Array, head: FieldSpans): SetCookies {
  return { values: valuesOf(bytes, head, setCookieField), changed: false };
}

/**
 * The cookies with the attributes of their rules: by name, else the rule without one. Over plain
 * HTTP nothing is said that browsers take over TLS only. Source: RFC 6265bis section 4.1.2.
 */
export function withAttributes(
  set: SetCookies,
  rules: readonly CookieRuleConfig[],
  overTls: boolean,
): SetCookies {
  const values = set.values.map((value) => {
    const name = cookieNameOf(value.split(';', 1)[0]!);
    const rule = rules.find((one) => one.name === name) ?? rules.find((one) => one.name === '');
    return rule === undefined ? value : ruled(value, rule, overTls);
  });
  const same = values.every((value, at) => value === set.values[at]);
  return same ? set : { values, changed: true };
}

function ruled(value: string, { secure, httpOnly, sameSite }: CookieRuleConfig, overTls: boolean) {
  const [pair = '', ...others] = value.split(';');
  const site = sameSite === 'COOKIE_SAME_SITE_NONE' && !overTls ? '' : sameSites[sameSite];
  const attributes = others.filter((one) => site === '' || attributeOf(one) !== 'samesite');
  const has = (name: string): boolean => attributes.some((one) => attributeOf(one) === name);
  if (secure && overTls && !has('secure')) attributes.push(' Secure');
  if (httpOnly && !has('httponly')) attributes.push(' HttpOnly');
  if (site !== '') attributes.push(` SameSite=${site}`);
  return [pair, ...attributes].join(';');
}

function attributeOf(text: string): string {
  return trimmed(text.split('=', 1)[0]!).toLowerCase();
}

/** Fields of an answer that sets these cookies, and those of ready lines. */
export function withSetCookies(
  fields: ResponseFields | null,
  { values, changed }: SetCookies,
  lines = '',
): ResponseFields | null {
  if (!changed && lines === '') return fields;
  const { names = [], lines: before = '' } = fields ?? {};
  if (!changed) return { names, lines: before + lines };
  const set = values.map((value) => `Set-Cookie: ${value}\r\n`).join('');
  return { names: [...names, 'set-cookie'], lines: before + set + lines };
}

/** Values of the fields of a name, in their order; byte strings. */
export function valuesOf(
  bytes: Uint8Array,
  { spans, fieldCount }: FieldSpans,
  lowerName: Uint8Array,
): string[] {
  const values: string[] = [];
  for (let i = 0; i < fieldCount; i++) {
    const at = SPAN.fields + 4 * i;
    if (!equalsIgnoreCase(bytes, spans[at]!, spans[at + 1]!, lowerName)) continue;
    values.push(Buffer.prototype.latin1Slice.call(bytes, spans[at + 2]!, spans[at + 3]!));
  }
  return values;
}
