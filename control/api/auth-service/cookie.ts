/** The cookies of sign-in: their names, their reach, how they are read and written. */

import type { HandlerContext } from '@connectrpc/connect';
import { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';

/** Cookies: the refresh token, and an open challenge. */
export type CookieName = 'waf_refresh' | 'waf_challenge';

const path = `/${AuthService.typeName}`;
const valueMax = 256;

/** The value of a cookie of the request; '' when there is none. */
export function readCookie(context: HandlerContext, name: CookieName): string {
  const header = context.requestHeader.get('cookie') ?? '';
  for (const part of header.split(';')) {
    const [key, value = ''] = part.trim().split('=', 2);
    if (key === name && value.length <= valueMax) return value;
  }
  return '';
}

/** Sets a cookie until `expiresAtMs`, or until the browser closes when that is null. */
export function setCookie(
  context: HandlerContext,
  name: CookieName,
  value: string,
  expiresAtMs: number | null,
  secure: boolean,
): void {
  context.responseHeader.append('set-cookie', formatCookie(name, value, expiresAtMs, secure));
}

/** A cookie as a header carries it: no script reads it, no other site sends it. */
export function formatCookie(
  name: CookieName,
  value: string,
  expiresAtMs: number | null,
  secure: boolean,
): string {
  const expires = expiresAtMs === null ? '' : `; Expires=${new Date(expiresAtMs).toUTCString()}`;
  return `${name}=${value}${expires}${flags(secure)}`;
}

/** Removes a cookie. */
export function clearCookie(context: HandlerContext, name: CookieName, secure: boolean): void {
  context.responseHeader.append('set-cookie', `${name}=; Max-Age=0${flags(secure)}`);
}

function flags(secure: boolean): string {
  return `; Path=${path}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}
