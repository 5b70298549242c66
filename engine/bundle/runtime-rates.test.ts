/** Which limits a site gets: its policy's, its own in their place, in order. */

import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { RuntimeRateLimitSchema } from '../../proto/gen/waf/runtime/v1/access_pb.ts';
import { ratesOf } from './runtime-rates.ts';

const limit = (id: string, change: object = {}) =>
  create(RuntimeRateLimitSchema, {
    ...{ id, pathPattern: '/*', action: 'block', countingKey: 'ip' },
    ...{ requestCount: 5, windowSeconds: 60, ...change },
  });

function idsFor(siteId: string, policyId: string, ...rateLimits: ReturnType<typeof limit>[]) {
  return ratesOf({ rateLimits })({ id: siteId, policyId })?.limits.map(({ id }) => id);
}

test('a limit of the site stands in for the one of its policy with the same path and methods', () => {
  const all = [
    limit('policy', { policyId: 'p', methods: ['GET', 'POST'] }),
    limit('other path', { policyId: 'p', pathPattern: '/x', sortOrder: 3 }),
    limit('site', { policyId: 'p', siteId: 's', methods: ['POST', 'GET'], sortOrder: 9 }),
    limit('of the site alone', { siteId: 's', pathPattern: '/y', sortOrder: -1 }),
  ];
  expect(idsFor('s', 'p', ...all)).toEqual(['of the site alone', 'other path', 'site']);
  expect(idsFor('t', 'p', ...all)).toEqual(['policy', 'other path']);
  expect(idsFor('s', 'q', ...all)).toEqual(['of the site alone']);
});

test('a variant of a policy has the limits of the policy', () => {
  expect(idsFor('s', 'p~s', limit('policy', { policyId: 'p' }))).toEqual(['policy']);
  expect(idsFor('s', '', limit('policy', { policyId: 'p' }))).toBeUndefined();
});

test('what this release does not know is left out', () => {
  const all = [limit('a', { action: 'teleport' }), limit('b', { countingKey: 'dns' }), limit('c')];
  expect(idsFor('s', 'p', ...all)).toEqual(['c']);
});

test('every site asks for global bans, by each key once', () => {
  const ban = { action: 'ban', banGlobally: true, mitigationSeconds: 60, siteId: 's' };
  const rateLimits = [
    limit('1', ban),
    limit('2', { ...ban, pathPattern: '/x' }),
    limit('3', { ...ban, countingKey: 'header:X-Key', pathPattern: '/y' }),
    limit('4', { ...ban, countingKey: 'session', observe: true, pathPattern: '/z' }),
  ];
  expect(ratesOf({ rateLimits })({ id: 'far', policyId: '' })).toEqual({
    limits: [],
    globalBans: [{ kind: 'ip' }, { kind: 'header', name: 'x-key' }],
  });
});

test('a challenge has a budget of its own for verified clients', () => {
  const verified = { verifiedRequestCount: 50, verifiedWindowSeconds: 30 };
  const rates = ratesOf({ rateLimits: [limit('a', { action: 'challenge', ...verified })] });
  expect(rates({ id: 's', policyId: 'p' })?.limits[0]).toMatchObject({
    budget: { requests: 5, windowSeconds: 60 },
    verifiedBudget: { requests: 50, windowSeconds: 30 },
  });
});
