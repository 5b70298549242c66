/** Owns the cookies of sign-in: their names, their reach, how they are read and written. */

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

/** Sets a cookie until `expiresAtMs`. */
export function setCookie(
  context: HandlerContext,
  name: CookieName,
  value: string,
  expiresAtMs: number,
  secure: boolean,
): void {
  const expires = new Date(expiresAtMs).toUTCString();
  append(context, name, value, `Expires=${expires}`, secure);
}

/** Removes a cookie. */
export function clearCookie(context: HandlerContext, name: CookieName, secure: boolean): void {
  append(context, name, '', 'Max-Age=0', secure);
}

function append(
  context: HandlerContext,
  name: CookieName,
  value: string,
  lifetime: string,
  secure: boolean,
): void {
  const flags = `Path=${path}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  context.responseHeader.append('set-cookie', `${name}=${value}; ${lifetime}; ${flags}`);
}
