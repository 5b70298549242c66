/** The names of HTTP's versions as people and the API write them (RFC 9110 section 2.5). */

/** HTTP/2 and HTTP/3 have no minor version; other texts stay as they are. */
export function canonicalHttpVersion(text: string): string {
  return text === 'HTTP/2.0' || text === 'HTTP/3.0' ? text.slice(0, -2) : text;
}
