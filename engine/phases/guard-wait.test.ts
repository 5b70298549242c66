/** Tests what becomes of a request whose guard answers later. */

import { expect, test } from 'vitest';
import type { GuardVerdict } from '../contract/guard.ts';
import { GuardChain } from '../guard/guard-chain.ts';
import type { RequestView } from '../guard/request-view.ts';
import { PhaseDriver } from './phase-driver.ts';
import type { PhaseEndings, PhaseHost, PhaseSite } from './phase-host.ts';

const denied: GuardVerdict = {
  ...{ guard: 'auth', action: 'deny', reason: 'auth_failed', ruleId: '', scenario: null },
  ...{ status: 401, detail: '' },
};

/** What happened to a request, step by step; every other step of a host fails the test. */
async function stepsOf(later: () => Promise<GuardVerdict | null>, ended = false) {
  const steps: string[] = [];
  const note = (name: string) => (): void => void steps.push(name);
  const endings: Partial<PhaseEndings> = {
    enforceGuard: ({ status, reason }) => void steps.push(`${status} ${reason}`),
  };
  const host = {
    ended,
    ...endings,
    ...{ hasBody: false, bodyLength: -1, bodyBytesMax: 0, headRefusal: null, guardTrace: null },
    view: () => ({ rateStandings: [] }) as unknown as RequestView,
    route: () => (steps.push('route'), 'routed'),
    connect: note('connect'),
    resumed: note('resumed'),
  };
  const guards = new GuardChain([
    { name: 'auth', decide: () => ({ ...denied, later: later() }), describe: () => '' },
  ]);
  const driver = new PhaseDriver(host as unknown as PhaseHost);
  driver.start({ inspector: null, guards } as unknown as PhaseSite);
  expect(steps).toEqual([]);
  await new Promise(setImmediate);
  return { steps, notes: driver.notes.map(({ reason }) => reason) };
}

test.each([
  ['is right', () => Promise.resolve(null), ['route', 'connect', 'resumed'], []],
  ['is wrong', () => Promise.resolve(denied), ['401 auth_failed', 'resumed'], ['auth_failed']],
  [
    'cannot be checked',
    () => Promise.reject(new Error('no memory')),
    ['401 auth_failed', 'resumed'],
    ['auth_failed'],
  ],
])('what %s', async (_name, later, steps, notes) => {
  expect(await stepsOf(later)).toEqual({ steps, notes });
});

test('nothing follows when the request has ended meanwhile', async () => {
  expect((await stepsOf(() => Promise.resolve(null), true)).steps).toEqual([]);
});
