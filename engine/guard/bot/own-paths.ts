/** The paths under which the proxy itself answers on sites that challenge. */

/** Prefix of all of them; what an origin has there is not reachable on such sites. */
export const ownPrefix = '/.waf-check/';

/** What answers under the prefix. */
export type OwnResource =
  'check.css' | 'check.js' | 'solve.js' | 'sound' | 'pass' | 'wait' | 'answer' | 'done';

/** The path of one. */
export function ownPath(name: OwnResource): string {
  return `${ownPrefix}${name}`;
}

/** Parameters of a query, the first of each name; names and values hold no escapes in ours. */
export function readQuery(query: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const part of query.split('&', queryPartsMax)) {
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    if (!found.has(name)) found.set(name, equals < 0 ? '' : part.slice(equals + 1));
  }
  return found;
}

const queryPartsMax = 8;
