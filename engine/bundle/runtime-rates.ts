/** Which rate limits each site of a bundle has: its own before those of its policy. */

import type { RuntimeBundle, RuntimeSite } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { RuntimeRateLimit } from '../../proto/gen/waf/runtime/v1/access_pb.ts';
import { rateLimits as bounds } from '../../base/guard-limits.ts';
import { plain } from '../contract/plain.ts';
import type { RateKey, RateLimitConfig, RateLimits } from '../contract/rate-limit.ts';

/**
 * The limits of each site; undefined for none. A limit of a site stands in for the one of its
 * policy with the same path and methods. Limits that this release does not know are left out.
 */
export function ratesOf({
  rateLimits,
}: Pick<RuntimeBundle, 'rateLimits'>): (
  site: Pick<RuntimeSite, 'id' | 'policyId'>,
) => RateLimits | undefined {
  if (rateLimits.length === 0) return () => undefined;
  const sorted = [...rateLimits].sort(
    (one, other) => one.sortOrder - other.sortOrder || (one.id < other.id ? -1 : 1),
  );
  const bans = sorted.filter((one) => one.action === 'ban' && one.banGlobally && !one.observe);
  const globalBans = [
    ...new Map(bans.map((one) => [one.countingKey, readKey(one.countingKey)])).values(),
  ].filter((key) => key !== null);
  return ({ id, policyId }) => {
    const limits = limitsOf(sorted, id, basePolicy(policyId));
    return limits.length + globalBans.length === 0 ? undefined : { limits, globalBans };
  };
}

/** A variant of a policy is named after the policy and the site that it is for. */
function basePolicy(variantId: string): string {
  return variantId.split('~', 1)[0]!;
}

function limitsOf(
  sorted: readonly RuntimeRateLimit[],
  siteId: string,
  policyId: string,
): RateLimitConfig[] {
  const applies = (one: RuntimeRateLimit): boolean =>
    (one.siteId === '' || one.siteId === siteId) &&
    (one.policyId === '' || one.policyId === policyId);
  const mine = sorted.filter(applies);
  const own = new Set(mine.filter((one) => one.siteId !== '').map(signatureOf));
  return mine
    .filter((one) => one.siteId !== '' || !own.has(signatureOf(one)))
    .slice(0, bounds.limitsPerSiteMax)
    .flatMap(readLimit);
}

function signatureOf({ pathPattern, methods }: RuntimeRateLimit): string {
  return JSON.stringify([pathPattern, [...methods].sort()]);
}

function readLimit(one: RuntimeRateLimit): RateLimitConfig[] {
  const { action, ...fields } = plain(one);
  const key = readKey(one.countingKey);
  const known = action === 'block' || action === 'ban' || action === 'challenge';
  if (key === null || !known || one.requestCount < 1 || one.windowSeconds < 1) return [];
  const budget = { requests: one.requestCount, windowSeconds: one.windowSeconds };
  const verifiedBudget =
    one.verifiedRequestCount < 1 || one.verifiedWindowSeconds < 1
      ? budget
      : { requests: one.verifiedRequestCount, windowSeconds: one.verifiedWindowSeconds };
  const challenge = action === 'challenge' ? { challenge: fields } : {};
  return [{ ...fields, action, key, budget, verifiedBudget, ...challenge }];
}

function readKey(text: string): RateKey | null {
  if (text === 'ip' || text === 'session') return { kind: text };
  if (!text.startsWith('header:')) return null;
  return { kind: 'header', name: text.slice('header:'.length).toLowerCase() };
}
