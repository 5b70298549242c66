/** What a rate limit may be, and the numbers that its challenge profile stands for. */

import type { RateLimitEndpointRecordJson } from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { BotProtectionConfigSchema } from '../../../proto/gen/waf/v1/site_pb.ts';
import { invalidField } from '../errors.ts';
import { boundsOf, type Bounds } from '../proto-bounds.ts';
import { checkSortOrder, oneOf } from './ip-list-checks.ts';

/** A rate limit as it is kept. */
export type RateLimitRecord = RateLimitEndpointRecordJson & {
  readonly id: string;
  readonly tenantId: string;
  readonly policyId: string;
  readonly siteId: string;
  readonly pathPattern: string;
  readonly methodMode: string;
  readonly methods: string[];
};

/** What a challenge demands of a client and what it grants. */
interface ChallengeNumbers {
  readonly challengeTtlSeconds: number;
  readonly clearanceTtlSeconds: number;
  readonly proofDifficulty: number;
  readonly bindNetwork: boolean;
  /** Factor by which the limit of a verified client is higher. */
  readonly verifiedFactor: number;
}

const presets: Readonly<Record<string, ChallengeNumbers>> = {
  comfort: {
    challengeTtlSeconds: 300,
    clearanceTtlSeconds: 14_400,
    proofDifficulty: 14,
    bindNetwork: false,
    verifiedFactor: 5,
  },
  standard: {
    challengeTtlSeconds: 120,
    clearanceTtlSeconds: 3_600,
    proofDifficulty: 16,
    bindNetwork: false,
    verifiedFactor: 3,
  },
  strict: {
    challengeTtlSeconds: 60,
    clearanceTtlSeconds: 900,
    proofDifficulty: 18,
    bindNetwork: true,
    verifiedFactor: 1,
  },
};

const countMax = 1_000_000;
const windowSecondsMax = 86_400;
const mitigationSecondsMax = 30 * 86_400;

/** The checked limit, its defaults filled in. Errors: invalid_argument under `endpoint`. */
export function checkRateLimit(limit: RateLimitEndpointRecordJson) {
  const { methodMode, methods } = checkMethods(limit);
  const action = oneOf(limit.action, ['block', 'ban', 'challenge'], 'endpoint.action');
  const enforcementMode = oneOf(
    limit.enforcementMode || 'enforce',
    ['observe', 'enforce'],
    'endpoint.enforcementMode',
  );
  const requestCount = within(limit.requestCount, 1, countMax, 'requestCount');
  const windowSeconds = within(limit.windowSeconds, 1, windowSecondsMax, 'windowSeconds');
  const leastSeconds = action === 'ban' ? 1 : 0;
  const mitigationSeconds = within(
    limit.mitigationSeconds || (action === 'ban' ? 600 : 0),
    leastSeconds,
    mitigationSecondsMax,
    'mitigationSeconds',
  );
  return {
    pathPattern: checkPattern(limit.pathPattern ?? ''),
    methodMode,
    methods,
    action,
    sortOrder: checkSortOrder(limit.sortOrder, 'endpoint.sortOrder'),
    enforcementMode,
    countingKey: checkCountingKey(limit.countingKey || 'ip'),
    requestCount,
    windowSeconds,
    mitigationSeconds,
    ...checkBanScope(limit, action),
    ...checkChallenge(limit, action, requestCount, windowSeconds),
  };
}

/** What makes two limits of one place the same. */
export function signatureOf(limit: {
  readonly pathPattern: string;
  readonly methodMode: string;
  readonly methods: readonly string[];
}): string {
  return JSON.stringify([limit.pathPattern, limit.methodMode, limit.methods]);
}

/**
 * Limits of a policy as one site gets them: a limit of the site stands in for the one of the policy
 * with the same path and methods.
 */
export function limitsForSite(
  ofPolicy: readonly RateLimitRecord[],
  ofSite: readonly RateLimitRecord[],
): RateLimitRecord[] {
  const own = new Set(ofSite.map(signatureOf));
  return sortLimits([...ofPolicy.filter((one) => !own.has(signatureOf(one))), ...ofSite]);
}

/** Limits in their order. */
export function sortLimits(limits: readonly RateLimitRecord[]): RateLimitRecord[] {
  return [...limits].sort(
    (left, right) =>
      (left.sortOrder ?? 0) - (right.sortOrder ?? 0) || (left.id < right.id ? -1 : 1),
  );
}

function checkPattern(pattern: string): string {
  if (/^\/[^\s"'\\?#]{0,1023}$/.test(pattern) && !/\*[^/]*\*/.test(pattern)) return pattern;
  throw invalidField(
    'endpoint.pathPattern',
    'must be a path such as /login or /api/*, with at most one star between slashes',
  );
}

function checkMethods(limit: RateLimitEndpointRecordJson) {
  const methodMode = oneOf(limit.methodMode || 'any', ['any', 'include'], 'endpoint.methodMode');
  const given = limit.methods ?? [];
  if (methodMode === 'any') {
    if (given.length > 0) throw invalidField('endpoint.methods', 'goes with include only');
    return { methodMode, methods: [] };
  }
  if (given.length < 1 || given.length > 16) {
    throw invalidField('endpoint.methods', 'needs 1 to 16 methods');
  }
  given.forEach((method, at) => {
    if (/^[A-Za-z][A-Za-z-]{0,31}$/.test(method)) return;
    throw invalidField(`endpoint.methods[${at}]`, 'must be an HTTP method');
  });
  return { methodMode, methods: [...new Set(given.map((one) => one.toUpperCase()))].sort() };
}

function checkCountingKey(key: string): string {
  if (key === 'ip' || key === 'session') return key;
  const name = /^header:([!#$%&'*+.^_`|~0-9A-Za-z-]{1,128})$/.exec(key)?.[1];
  if (name !== undefined) return `header:${name.toLowerCase()}`;
  throw invalidField('endpoint.countingKey', 'must be ip, session or header:<name>');
}

function checkBanScope(limit: RateLimitEndpointRecordJson, action: string) {
  const scope = limit.banScope ?? '';
  if (action !== 'ban') {
    if (scope === '') return {};
    throw invalidField('endpoint.banScope', 'goes with action ban only');
  }
  return { banScope: oneOf(scope || 'site', ['site', 'global'], 'endpoint.banScope') };
}

type ChallengeNumber = 'challengeTtlSeconds' | 'clearanceTtlSeconds' | 'proofDifficulty';

function checkChallenge(
  limit: RateLimitEndpointRecordJson,
  action: string,
  requestCount: number,
  windowSeconds: number,
) {
  const given = limit.challengeProfile ?? '';
  if (action !== 'challenge') {
    if (given === '') return {};
    throw invalidField('endpoint.challengeProfile', 'goes with action challenge only');
  }
  const profile = oneOf(
    given || 'standard',
    [...Object.keys(presets), 'custom'],
    'endpoint.challengeProfile',
  );
  const preset = presets[profile];
  const basis = preset ?? presets['standard']!;
  const numbers = {
    challengeProfile: profile,
    verifiedRequestCount: Math.min(countMax, requestCount * basis.verifiedFactor),
    verifiedWindowSeconds: windowSeconds,
    challengeTtlSeconds: basis.challengeTtlSeconds,
    clearanceTtlSeconds: basis.clearanceTtlSeconds,
    proofDifficulty: basis.proofDifficulty,
    bindNetwork: basis.bindNetwork,
  };
  if (preset !== undefined) return numbers;
  const own = (
    name: 'verifiedRequestCount' | 'verifiedWindowSeconds' | ChallengeNumber,
    { min, max }: Pick<Bounds, 'min' | 'max'>,
  ): number => within(limit[name] || numbers[name], min, max, name);
  // A challenge is the same whether a limit or the gate of a site asks for it.
  const asOfSites = (name: ChallengeNumber): number =>
    own(name, boundsOf(BotProtectionConfigSchema, name));
  return {
    challengeProfile: profile,
    verifiedRequestCount: own('verifiedRequestCount', { min: 1, max: countMax }),
    verifiedWindowSeconds: own('verifiedWindowSeconds', { min: 1, max: windowSecondsMax }),
    challengeTtlSeconds: asOfSites('challengeTtlSeconds'),
    clearanceTtlSeconds: asOfSites('clearanceTtlSeconds'),
    proofDifficulty: asOfSites('proofDifficulty'),
    bindNetwork: limit.bindNetwork ?? false,
  };
}

function within(value: number | undefined, min: number, max: number, field: string): number {
  if (value !== undefined && value >= min && value <= max) return value;
  throw invalidField(`endpoint.${field}`, `must be between ${min} and ${max}`);
}
