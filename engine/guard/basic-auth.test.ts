/** Users of paths: what a wrong password costs, what is remembered, and what a trial counts. */

import { expect, test } from 'vitest';
import { pathAuthLimits } from '../../base/guard-limits.ts';
import { hashPathPassword, isPathPasswordHash } from '../../base/path-password.ts';
import { viewOf } from '../../test/support/request-view.ts';
import { noDelivery } from '../contract/delivery.ts';
import type { GuardVerdict } from '../contract/guard.ts';
import type { SiteConfig } from '../contract/site.ts';
import { noGuardServices, type Guard } from './guard.ts';
import { pathAuth } from './path-auth.ts';

const passwordHash = hashPathPassword('right');

function guard(): Guard {
  const rule = { pathPrefix: '/in', realm: '', open: false };
  const delivery = {
    ...noDelivery,
    basicAuth: [{ ...rule, users: [{ name: 'ann', passwordHash }] }],
  };
  return pathAuth.compile({ delivery } as unknown as SiteConfig, noGuardServices)!;
}

const sent = (password: string, more: object = {}) => {
  const text = Buffer.from(`ann:${password}`).toString('base64');
  return viewOf({ target: '/in', fields: [`Authorization: Basic ${text}`], ...more });
};
const outcome = (
  verdict: GuardVerdict | null,
): Promise<GuardVerdict | null> | GuardVerdict | null => verdict?.later ?? verdict;

test('a hash has its form, and a salt of its own', () => {
  expect(isPathPasswordHash(passwordHash)).toBe(true);
  expect(hashPathPassword('right')).not.toBe(passwordHash);
  expect(isPathPasswordHash('right')).toBe(false);
});

test('what was right is not checked again', async () => {
  const asked = guard();
  const first = asked.decide(sent('right'));
  expect(first?.later).toBeDefined();
  expect(await outcome(first)).toBeNull();
  expect(asked.decide(sent('right'))).toBeNull();
  expect(asked.decide(sent('wrong'))?.later).toBeDefined();
});

test('after some wrong passwords a network waits, and others do not', async () => {
  const asked = guard();
  for (let i = 0; i < pathAuthLimits.failuresMax; i++) {
    expect(await outcome(asked.decide(sent(`wrong ${i}`)))).toMatchObject({ status: 401 });
  }
  expect(asked.decide(sent('right'))).toMatchObject({ status: 429, retryAfterS: 60 });
  expect(await outcome(asked.decide(sent('right', { ip: '198.51.100.9' })))).toBeNull();
  const after = { ip: '192.0.2.1', afterMs: pathAuthLimits.failuresSpanMs };
  expect(asked.decide(sent('right', after))).toBeNull();
});

test('checks at one time are bounded', async () => {
  const asked = guard();
  const verdicts = Array.from({ length: pathAuthLimits.checksMax + 1 }, (_, at) =>
    asked.decide(sent(`wrong ${at}`, { ip: `198.51.100.${at}` })),
  );
  expect(verdicts.at(-1)).toMatchObject({ status: 429, retryAfterS: 1 });
  const settled = await Promise.all(verdicts.slice(0, -1).map(outcome));
  expect(settled.map((one) => one?.status)).toEqual(settled.map(() => 401));
});

test('a trial decides at once and counts nothing', () => {
  const asked = guard();
  expect(asked.decide(sent('right', { trial: true }))).toBeNull();
  for (let i = 0; i <= pathAuthLimits.failuresMax; i++) {
    expect(asked.decide(sent('wrong', { trial: true }))).toMatchObject({ status: 401 });
  }
});
