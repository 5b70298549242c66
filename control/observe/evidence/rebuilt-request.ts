/**
 * Makes the request of a security event anew, from what its rules matched: for events whose request
 * is not kept whole. What no rule matched is not in it. Values are as the rules saw them, after
 * transformations, so a verdict of it is worth something only where it is blocked as it is. Pure.
 */

import type { SecurityEventJson } from '../../../proto/gen/waf/v1/log_pb.ts';

/** A request that shows the rules what they matched. */
export interface RebuiltRequest {
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  readonly clientIp: string;
  /** Names of matched values that it does not have. */
  readonly leftOut: readonly string[];
}

type Place = 'query' | 'form' | 'cookie' | 'header' | 'name';

/** Collections that a value can be given back to, and where it goes. */
const placeOf: Readonly<Record<string, Place | 'argument'>> = {
  ARGS: 'argument',
  ARGS_GET: 'query',
  ARGS_POST: 'form',
  ARGS_RENAMED: 'argument',
  ARGS_NAMES: 'name',
  ARGS_GET_NAMES: 'name',
  ARGS_POST_NAMES: 'name',
  ARGS_RENAMED_NAMES: 'name',
  REQUEST_COOKIES: 'cookie',
  REQUEST_COOKIES_RENAMED: 'cookie',
  REQUEST_HEADERS: 'header',
  REQUEST_HEADERS_RENAMED: 'header',
};

/** Part of the head, or of scores: no value to be given. */
const inAnyRequest = new Set(['REQUEST_METHOD', 'REQUEST_FILENAME', 'REQUEST_BASENAME', 'TX']);
/** Fields that the rebuilt request states by itself. */
const ownFields = new Set(['host', 'content-type', 'content-length', 'transfer-encoding']);
const withoutBody = new Set(['GET', 'HEAD', '', 'OPTIONS', 'DELETE', 'TRACE']);

/** The request; null where the event does not say enough for one. */
export function rebuildRequest(event: SecurityEventJson): RebuiltRequest | null {
  const { method = '', host = '', path = '', messages = [], clientIp = '' } = event;
  const isHttp = /^[\w!#$%&'*+.^`|~-]+$/.test(method) && /^\/[!-~]*$/.test(path);
  if (!isHttp || !/^[!-~]+$/.test(host)) return null;
  const hasBody = !withoutBody.has(method);
  const found = placeValues(event, hasBody);
  if (found.values.size === 0 || messages.length === 0) return null;
  const of = (place: Place): [string, string][] =>
    [...found.values.values()].flatMap((one) =>
      one.place === place ? [[one.key, one.value]] : [],
    );
  const names = of('name');
  const query = formText([...of('query'), ...(hasBody ? [] : names)]);
  const body = Buffer.from(formText([...of('form'), ...(hasBody ? names : [])]), 'latin1');
  const lines = [`${method} ${path}${query === '' ? '' : `?${query}`} HTTP/1.1`, `Host: ${host}`];
  lines.push('User-Agent: Mozilla/5.0', 'Accept: */*');
  for (const [name, value] of of('header')) lines.push(`${name}: ${value}`);
  const cookies = of('cookie').map(([name, value]) => `${name}=${escaped(value)}`);
  if (cookies.length > 0) lines.push(`Cookie: ${cookies.join('; ')}`);
  if (hasBody) {
    lines.push('Content-Type: application/x-www-form-urlencoded');
    lines.push(`Content-Length: ${body.length}`);
  }
  const head = new Uint8Array(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
  return { head, body, clientIp, leftOut: found.leftOut };
}

interface PlacedValue {
  readonly place: Place;
  readonly key: string;
  readonly value: string;
}

/** Each matched value once, at its place: of several readings the longest, the least decoded. */
function placeValues({ messages = [] }: SecurityEventJson, hasBody: boolean) {
  const values = new Map<string, PlacedValue>();
  const leftOut = new Set<string>();
  for (const { variable = '', key = '', value = '' } of messages.flatMap(
    ({ matchedValues = [] }) => matchedValues,
  )) {
    const general = placeOf[variable];
    const place = general === 'argument' ? (hasBody ? 'form' : 'query') : general;
    const fits = place !== undefined && canCarry(place, key, value);
    if (!fits) {
      if (!inAnyRequest.has(variable)) leftOut.add(key === '' ? variable : `${variable}:${key}`);
      continue;
    }
    const named: PlacedValue =
      place === 'name' ? { place, key: value, value: '' } : { place, key, value };
    const id = `${place}\n${named.key}`;
    if ((values.get(id)?.value.length ?? -1) < value.length) values.set(id, named);
  }
  return { values, leftOut: [...leftOut] };
}

function canCarry(place: Place, key: string, value: string): boolean {
  const inHead = /^[\w!#$%&'*+.^`|~-]+$/.test(key) && !/[\0\r\n]/.test(value);
  if (place === 'header') return inHead && !ownFields.has(key.toLowerCase());
  if (place === 'cookie') return inHead;
  return true;
}

function formText(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join('&');
}

/** Halves of a pair of surrogates, which no URL can hold, become U+FFFD. */
function escaped(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}
