/** The driver is the only one that feeds its table: no step runs within another. */

import { expect, test } from 'vitest';
import type { InspectionSession, MaybePromise } from '../contract/inspection.ts';
import type { PhaseResult } from '../contract/inspection-failure.ts';
import type { BodySnapshot, RequestSnapshot, ResponseSnapshot } from '../contract/message.ts';
import { passVerdict, type BodyNeed, type TransactionRecord } from '../contract/verdict.ts';
import { PhaseDriver } from './phase-driver.ts';
import type { PhaseHost, PhaseSite } from './phase-host.ts';

const need: BodyNeed = { inspect: true, limitBytes: 100, onExcess: 'prefix' };
const body: BodySnapshot = { bytes: new Uint8Array(3), truncated: false };
const record = { verdict: passVerdict, matchedRules: [] } as unknown as TransactionRecord;

/** The steps of a request whose bodies are held as soon as somebody asks for them, in order. */
async function stepsOf(later: boolean): Promise<readonly string[]> {
  const steps: string[] = [];
  /** Notes where a step of the host begins and ends. */
  const within = (name: string, work: () => void) => (): void => {
    steps.push(`${name} begins`);
    work();
    steps.push(`${name} ends`);
  };
  const phase = (name: string) => (): MaybePromise<PhaseResult> => {
    steps.push(name);
    return later ? Promise.resolve(passVerdict) : passVerdict;
  };
  const session: InspectionSession = {
    ...{ bodyNeed: need, responseNeed: need },
    ...{ requestHead: phase('phase 1'), requestBody: phase('phase 2') },
    ...{ responseHead: phase('phase 3'), responseBody: phase('phase 4') },
    finish: () => record,
  };
  const host: Partial<PhaseHost> = {
    ...{ ended: false, hasBody: true, bodyLength: 3, bodyBytesMax: 100, headRefusal: null },
    ...{ answerHasBody: true, guardTrace: null },
    snapshot: () => ({}) as RequestSnapshot,
    admitsInspection: () => true,
    holdBody: within('the body is held', () => driver.bodyHeld(3)),
    takeBody: () => body,
    route: () => 'routed',
    connect: within('the request is sent', () => driver.answerBegan({} as ResponseSnapshot)),
    holdAnswer: within('the answer is held', () => driver.answerHeld(3)),
    takeAnswer: () => body,
    releaseAnswer: within('the answer is released', () => undefined),
    resumed: () => undefined,
  };
  const driver: PhaseDriver = new PhaseDriver(host as PhaseHost);
  const site = { site: { waf: {} }, inspector: { open: () => session }, guards: null };
  driver.start(site as unknown as PhaseSite);
  await new Promise(setImmediate);
  return steps;
}

test.each([
  ['at once', false],
  ['later', true],
])('bodies that are there when they are asked for, rules that answer %s', async (_, later) => {
  expect(await stepsOf(later)).toEqual([
    ...['phase 1', 'the body is held begins', 'the body is held ends'],
    ...['phase 2', 'the request is sent begins', 'the request is sent ends'],
    ...['phase 3', 'the answer is held begins', 'the answer is held ends'],
    ...['phase 4', 'the answer is released begins', 'the answer is released ends'],
  ]);
});

test('a request that ends within a step does nothing after it', () => {
  const steps: string[] = [];
  const host: Partial<PhaseHost> = {
    ...{ ended: false, hasBody: false, bodyLength: -1, bodyBytesMax: 100, headRefusal: null },
    guardTrace: null,
    route: () => 'routed',
    connect: () => {
      driver.answerBegan({} as ResponseSnapshot);
      driver.finish(() => steps.push('finished'));
    },
    releaseAnswer: () => void steps.push('released'),
  };
  const driver: PhaseDriver = new PhaseDriver(host as PhaseHost);
  driver.start({ inspector: null, guards: null } as unknown as PhaseSite);
  expect(steps).toEqual(['finished']);
});
