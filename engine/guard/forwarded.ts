/** Reads address headers: lists as X-Forwarded-For has them, and RFC 7239 Forwarded. */

import { parseAddress, textOfKey } from '../../base/ip-address.ts';

/** One hop of a header: its text, and its key; null when it is no address. */
export interface Hop {
  readonly text: string;
  readonly key: string | null;
}

/** Values of a header by its name in lower case, in the order of the fields. */
export type HeaderValues = (name: string) => readonly string[];

/** One address, perhaps with a port or in brackets; null for anything else. */
export function readHop(text: string): Hop {
  const bare = withoutPort(text.trim());
  const key = parseAddress(bare);
  return { text: key === null ? bare.slice(0, 64) : textOfKey(key), key };
}

/** The hops of comma-joined fields, left to right. */
export function readHopList(values: readonly string[]): Hop[] {
  return values
    .join(',')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(readHop);
}

/** The `for` of every element of Forwarded, left to right; an element without one is no address. */
export function readForwarded(values: readonly string[]): Hop[] {
  return splitOutsideQuotes(values.join(','), ',')
    .filter((element) => element.trim() !== '')
    .map((element) => {
      const pairs = splitOutsideQuotes(element, ';').map((pair) => pair.trim());
      const found = pairs.find((pair) => /^for\s*=/i.test(pair)) ?? '';
      const value = found.slice(found.indexOf('=') + 1).trim();
      const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(value)?.[1];
      return readHop(quoted === undefined ? value : quoted.replace(/\\(.)/g, '$1'));
    });
}

/** Without `:port`; brackets of IPv6 go. */
function withoutPort(text: string): string {
  if (text.startsWith('[')) {
    const inner = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1];
    return inner ?? text;
  }
  const colon = text.indexOf(':');
  const isIpv4WithPort = colon > 0 && text.includes('.') && text.indexOf(':', colon + 1) < 0;
  return isIpv4WithPort && /^\d{1,5}$/.test(text.slice(colon + 1)) ? text.slice(0, colon) : text;
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"') quoted = !quoted;
    else if (char === '\\' && quoted) at++;
    else if (char === separator && !quoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}
