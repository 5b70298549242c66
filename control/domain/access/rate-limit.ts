/** What a rate limit may be, and the numbers that its challenge profile stands for. */

import {
  RateLimitEndpointRecordSchema,
  type RateLimitEndpointRecordJson,
} from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { boundsOf } from '../../limits/field-bounds.ts';
import { invalidField } from '../errors.ts';
import { checkBounds } from '../proto-bounds.ts';
import { standardChallenge } from '../site/site-protection.ts';
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
    ...standardChallenge,
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

/** What goes with one action only: it is not kept with others. */
const ofOneAction = new Set([
  'banScope',
  'challengeProfile',
  'verifiedRequestCount',
  'verifiedWindowSeconds',
  ...Object.keys(presets['standard']!),
]);

/** The checked limit, its defaults filled in. Errors: invalid_argument under `endpoint`. */
export function checkRateLimit(limit: RateLimitEndpointRecordJson) {
  const { methodMode, methods } = checkMethods(limit);
  const action = oneOf(limit.action, ['block', 'ban', 'challenge'], 'endpoint.action');
  const enforcementMode = oneOf(
    limit.enforcementMode || 'enforce',
    ['observe', 'enforce'],
    'endpoint.enforcementMode',
  );
  checkBounds(RateLimitEndpointRecordSchema, limit, 'endpoint');
  const { requestCount = 0, windowSeconds = 0 } = limit;
  const stated = Object.entries(limit).filter(([name]) => !ofOneAction.has(name));
  return {
    ...(Object.fromEntries(stated) as RateLimitEndpointRecordJson),
    pathPattern: checkPattern(limit.pathPattern ?? ''),
    methodMode,
    methods,
    action,
    sortOrder: checkSortOrder(limit.sortOrder, 'endpoint.sortOrder'),
    enforcementMode,
    countingKey: checkCountingKey(limit.countingKey || 'ip'),
    requestCount,
    windowSeconds,
    mitigationSeconds: limit.mitigationSeconds || (action === 'ban' ? 600 : 0),
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
  if (given.length === 0) throw invalidField('endpoint.methods', 'needs 1 to 16 methods');
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
  const { verifiedFactor, ...challenge } = presets[profile] ?? presets['standard']!;
  const { max } = boundsOf(RateLimitEndpointRecordSchema, 'verifiedRequestCount');
  const numbers = {
    challengeProfile: profile,
    verifiedRequestCount: Math.min(max, requestCount * verifiedFactor),
    verifiedWindowSeconds: windowSeconds,
    ...challenge,
  };
  if (profile in presets) return numbers;
  const stated = Object.keys(numbers).flatMap((name) => {
    const value = limit[name as keyof typeof numbers];
    return value ? [[name, value]] : [];
  });
  return { ...numbers, ...(Object.fromEntries(stated) as Partial<typeof numbers>) };
}
