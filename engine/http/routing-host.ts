/** The host that sites are found by. */

/** The host to route by: lower case, without port and final dot. */
export function routingHost(authority: string): string {
  const lower = authority.toLowerCase();
  const bracket = lower.lastIndexOf(']');
  const colon = lower.indexOf(':', bracket + 1);
  const host = colon >= 0 ? lower.slice(0, colon) : lower;
  return host.endsWith('.') ? host.slice(0, -1) : host;
}
