/** The variables of the request's head and of who sent it. */

import { createHash } from 'node:crypto';
import { type ByteString, encodeUtf8, toByteString } from '../../../../base/byte-string.ts';
import { cgiName, phpName } from '../../../../base/origin-names.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type { VariableDefinition } from '../../transaction/types.ts';
import { SOURCE } from '../../transaction/values.ts';
import { firstValue, renamedCollection, rowCollection, rowScalar, scalar } from './define.ts';

function named(name: string, summary: string, example: string) {
  return { name, summary, example };
}

const ownSource = 'own; base/path-readings.ts';
const namesSource = 'own; base/origin-names.ts';

/** In the order of the message, then what is derived from it. */
export const requestVariables: readonly VariableDefinition[] = [
  rowScalar(
    named('REQUEST_LINE', 'The request line as sent.', 'SecRule REQUEST_LINE "@rx #"'),
    SOURCE.requestLine,
  ),
  rowScalar(
    named('REQUEST_METHOD', 'The method.', 'SecRule REQUEST_METHOD "@streq POST"'),
    SOURCE.requestMethod,
  ),
  rowScalar(
    named(
      'REQUEST_PROTOCOL',
      'For example HTTP/1.1.',
      'SecRule REQUEST_PROTOCOL "@streq HTTP/1.0"',
    ),
    SOURCE.requestProtocol,
  ),
  rowScalar(
    named(
      'REQUEST_URI',
      'Path and query as sent, without scheme, host and fragment.',
      'SecRule REQUEST_URI "@beginsWith /admin"',
    ),
    SOURCE.requestUri,
  ),
  rowScalar(
    named(
      'REQUEST_URI_RAW',
      'The request target as sent.',
      'SecRule REQUEST_URI_RAW "@contains #"',
    ),
    SOURCE.requestUriRaw,
  ),
  rowScalar(
    named(
      'REQUEST_FILENAME',
      'The path, %XX decoded once.',
      'SecRule REQUEST_FILENAME "@endsWith .bak"',
    ),
    SOURCE.requestFilename,
  ),
  rowScalar(
    named(
      'REQUEST_BASENAME',
      'What follows the last slash or backslash of REQUEST_FILENAME; may be empty.',
      'SecRule REQUEST_BASENAME "@streq login.php"',
    ),
    SOURCE.requestBasename,
  ),
  rowCollection(
    {
      ...named(
        'REQUEST_PATHS',
        'The path in every reading that an origin may have, also without the slash at its end.',
        'SecRule REQUEST_PATHS "@streq /api/login" "t:none,t:lowercase"',
      ),
      source: ownSource,
    },
    [SOURCE.requestPath],
  ),
  rowScalar(
    {
      ...named(
        'REQUEST_PATHS_JOINED',
        'The usual readings of the path, each ended by a line feed: for what all must match.',
        'SecRule REQUEST_PATHS_JOINED "@rx \\A(?:/api(?:/[^\\n]*)?\\n)+\\z"',
      ),
      source: ownSource,
    },
    SOURCE.requestPathsJoined,
  ),
  rowScalar(
    named(
      'QUERY_STRING',
      'The query string as sent; may be empty.',
      'SecRule QUERY_STRING "@rx attack"',
    ),
    SOURCE.queryString,
  ),
  rowCollection(
    named(
      'REQUEST_HEADERS',
      'Header fields, each one an entry.',
      'SecRule REQUEST_HEADERS:Host "^$"',
    ),
    [SOURCE.requestHeader],
  ),
  rowCollection(
    named(
      'REQUEST_HEADERS_NAMES',
      'Names of REQUEST_HEADERS as sent.',
      'SecRule REQUEST_HEADERS_NAMES "@streq x-forwarded-for"',
    ),
    [SOURCE.requestHeader],
    'key',
  ),
  renamedCollection(
    {
      ...named(
        'REQUEST_HEADERS_RENAMED',
        'Header fields with a mark other than - in their names, with - in its place, as CGI does.',
        'SecRule REQUEST_HEADERS:X-Tool|REQUEST_HEADERS_RENAMED:X-Tool "@rx ;"',
      ),
      source: namesSource,
    },
    SOURCE.headerRenamed,
    { of: 'REQUEST_HEADERS', read: cgiName },
  ),
  rowCollection(
    named(
      'REQUEST_COOKIES',
      'Cookies, not decoded.',
      'SecRule REQUEST_COOKIES:SESSION "!@rx ^\\w+$"',
    ),
    [SOURCE.requestCookie],
  ),
  rowCollection(
    named(
      'REQUEST_COOKIES_NAMES',
      'Names of REQUEST_COOKIES.',
      'SecRule &REQUEST_COOKIES_NAMES:JSESSIONID "@eq 0"',
    ),
    [SOURCE.requestCookie],
    'key',
  ),
  renamedCollection(
    {
      ...named(
        'REQUEST_COOKIES_RENAMED',
        'Cookies whose names PHP changes, under the names that it gives them.',
        'SecRule REQUEST_COOKIES:user_id|REQUEST_COOKIES_RENAMED:user_id "@rx \\D"',
      ),
      source: namesSource,
    },
    SOURCE.cookieRenamed,
    { of: 'REQUEST_COOKIES', read: phpName },
  ),
  scalar(
    { name: 'PATH_INFO', summary: 'The decoded path.', example: 'SecRule PATH_INFO "^/(bin|etc)"' },
    pathOf,
  ),
  scalar(
    named('AUTH_TYPE', 'First word of Authorization.', 'SecRule AUTH_TYPE "Basic"'),
    (tx) => tx.authType || (authorization(tx)[0] ?? ''),
  ),
  scalar(
    named('REMOTE_USER', 'User of a Basic Authorization.', 'SecRule REMOTE_USER "@streq admin"'),
    (tx) => tx.remoteUser || basicUser(tx) || null,
  ),
  scalar(
    named(
      'SERVER_NAME',
      'Host of the request, without port.',
      'SecRule SERVER_NAME "@streq example.com"',
    ),
    serverName,
  ),
  scalar(
    named('REMOTE_ADDR', 'Address of the client.', 'SecRule REMOTE_ADDR "@ipMatch 192.0.2.0/24"'),
    (tx) => tx.request.connection.clientIp,
  ),
  scalar(
    named(
      'REMOTE_HOST',
      'Address of the client; names are never looked up.',
      'SecRule REMOTE_HOST "@endsWith .1"',
    ),
    (tx) => tx.request.connection.clientIp,
  ),
  scalar(
    named('REMOTE_PORT', 'Port of the client.', 'SecRule REMOTE_PORT "@lt 1024"'),
    (tx) => tx.request.connection.clientPort,
  ),
  scalar(
    named('USERAGENT_IP', 'Address of the client.', 'SecRule USERAGENT_IP "@ipMatch 192.0.2.1"'),
    (tx) => tx.request.connection.clientIp,
  ),
  scalar(
    named('SERVER_ADDR', 'Address the client came to.', 'SecRule SERVER_ADDR "@ipMatch ::1"'),
    (tx) => tx.request.connection.serverIp,
  ),
  scalar(
    named('SERVER_PORT', 'Port the client came to.', 'SecRule SERVER_PORT "@eq 443"'),
    (tx) => tx.request.connection.serverPort,
  ),
  scalar(
    named(
      'UNIQUE_ID',
      'The request id; made of it and the arrival where the client chose the id.',
      "logdata:'%{UNIQUE_ID}'",
    ),
    uniqueId,
  ),
];

/**
 * CRS draws lots by this id (sampling, 901410): who may choose it must not choose to be left out.
 * Source: ModSecurity's id holds the time; no client knows its arrival by the millisecond.
 */
function uniqueId(tx: Transaction): ByteString {
  const { requestId, receivedAtMs, connection } = tx.request;
  const { values } = tx;
  const chosen = values
    .rowsOf(SOURCE.requestHeader)
    .some((row) => values.value(row) === requestId && isRequestIdName(values.key(row)));
  if (!chosen) return encodeUtf8(requestId);
  const arrival = `${requestId}\0${receivedAtMs}\0${connection.peerIp}\0${connection.clientPort}`;
  return createHash('sha256').update(arrival).digest('hex').slice(0, uniqueIdChars);
}

const uniqueIdChars = 32;

function isRequestIdName(name: ByteString): boolean {
  return name.toLowerCase() === 'x-request-id';
}

function pathOf(tx: Transaction): ByteString {
  const row = tx.values.rowsOf(SOURCE.requestFilename)[0];
  return row === undefined ? '' : tx.values.value(row);
}

/** Scheme and credentials of Authorization. */
function authorization(tx: Transaction): string[] {
  const value = firstValue(tx, SOURCE.requestHeader, 'authorization') ?? '';
  const space = value.indexOf(' ');
  return space < 0 ? [value] : [value.slice(0, space), value.slice(space + 1).trim()];
}

function basicUser(tx: Transaction): ByteString {
  const [scheme, credentials] = authorization(tx);
  if (scheme?.toLowerCase() !== 'basic' || credentials === undefined) return '';
  const text = toByteString(Buffer.from(credentials, 'base64'));
  const colon = text.indexOf(':');
  return colon < 0 ? text : text.slice(0, colon);
}

/** RFC 9110 section 7.2; brackets of an IPv6 literal belong to the host. */
function serverName(tx: Transaction): ByteString {
  const host = firstValue(tx, SOURCE.requestHeader, 'host') ?? '';
  const close = host.startsWith('[') ? host.indexOf(']') : -1;
  const colon = host.indexOf(':', close + 1);
  return colon < 0 ? host : host.slice(0, colon);
}
