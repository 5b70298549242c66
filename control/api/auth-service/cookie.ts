/** Owns the refresh cookie: its name, its reach, how it is read and written. */

import type { HandlerContext } from '@connectrpc/connect';
import { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';

const name = 'waf_refresh';
const path = `/${AuthService.typeName}`;
const valueMax = 256;

/** The refresh token of the request; '' when there is none. */
export function readRefreshCookie(context: HandlerContext): string {
  const header = context.requestHeader.get('cookie') ?? '';
  for (const part of header.split(';')) {
    const [key, value = ''] = part.trim().split('=', 2);
    if (key === name && value.length <= valueMax) return value;
  }
  return '';
}

/** Sets the cookie until `expiresAtMs`. */
export function setRefreshCookie(
  context: HandlerContext,
  token: string,
  expiresAtMs: number,
  secure: boolean,
): void {
  const expires = new Date(expiresAtMs).toUTCString();
  context.responseHeader.append('set-cookie', cookie(token, `Expires=${expires}`, secure));
}

/** Removes the cookie. */
export function clearRefreshCookie(context: HandlerContext, secure: boolean): void {
  context.responseHeader.append('set-cookie', cookie('', 'Max-Age=0', secure));
}

function cookie(value: string, lifetime: string, secure: boolean): string {
  const flags = `Path=${path}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  return `${name}=${value}; ${lifetime}; ${flags}`;
}
