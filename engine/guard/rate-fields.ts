/**
 * The fields that tell a client how it stands with rate limits: RateLimit-Policy and RateLimit of
 * draft-ietf-httpapi-ratelimit-headers-10, lists of structured fields (RFC 9651). Pure.
 */

/** How a client stands with one limit. */
export interface RateStanding {
  readonly name: string;
  /** Requests that the limit lets through in its window. */
  readonly quota: number;
  readonly windowSeconds: number;
  /** Requests that it lets through now. */
  readonly remaining: number;
  /** After a pass: when all of the quota is there again at the latest. Else: when one may pass. */
  readonly resetSeconds: number;
}

/** Names of the fields, lower case: an answer has those of the proxy only. */
export const rateFieldNames: readonly string[] = ['ratelimit', 'ratelimit-policy'];

/** Lines with their ends; '' for no limit. */
export function rateFieldLines(standings: readonly RateStanding[]): string {
  if (standings.length === 0) return '';
  const policies = standings.map(
    ({ name, quota, windowSeconds }) => `${textOf(name)};q=${quota};w=${windowSeconds}`,
  );
  const states = standings.map(
    ({ name, remaining, resetSeconds }) => `${textOf(name)};r=${remaining};t=${resetSeconds}`,
  );
  return `RateLimit-Policy: ${policies.join(', ')}\r\nRateLimit: ${states.join(', ')}\r\n`;
}

/** A string of RFC 9651 section 3.3.3. */
function textOf(name: string): string {
  return `"${name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\]/g, '\\$&')}"`;
}
