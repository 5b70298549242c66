/** Proves the overload controller: its table of states, what it admits, what counts as a wait. */

import { expect, test } from 'vitest';
import { overloadStates } from '../../base/overload-states.ts';
import { overloadLimits } from '../base/limits.ts';
import { createLogger } from '../../base/log.ts';
import { notOverloaded, worseOverload } from '../contract/overload.ts';
import type { RequestError } from '../contract/request-error.ts';
import { causeOf, OverloadController, type PressureSample } from './controller.ts';
import { OverloadReport } from './overload-report.ts';
import { PressureProbe } from './pressure-probe.ts';
import { nextOverloadState, overloadTransitions, type OverloadEvent } from './states.ts';

const calm: PressureSample = { loopDelayMs: 5, poolWaitMs: 0, heldShare: 0.2 };
const late: PressureSample = { ...calm, loopDelayMs: overloadLimits.loopDelayMs };
const { hotSamples, calmSamples, firstPercent, leastPercent } = overloadLimits;

/** Samples in a row; the states and percents they lead to. */
function run(controller: OverloadController, sample: PressureSample, times: number): string[] {
  return Array.from({ length: times }, () => {
    controller.sample(sample);
    return `${controller.status.state} ${controller.status.probePercent}`;
  });
}

function shed(): OverloadController {
  const controller = new OverloadController();
  run(controller, late, hotSamples);
  return controller;
}

const events: readonly OverloadEvent[] = ['hot', 'hot_long', 'calm', 'calm_long', 'whole'];

test.each(overloadStates)('every event in the state %s is in the table or an error', (state) => {
  const expected: Record<string, Partial<Record<OverloadEvent, string>>> = {
    normal: { hot: 'pressed', hot_long: 'shedding', calm: 'normal', calm_long: 'normal' },
    pressed: { hot: 'pressed', hot_long: 'shedding', calm: 'normal', calm_long: 'normal' },
    shedding: { hot: 'shedding', hot_long: 'shedding', calm: 'shedding', calm_long: 'probing' },
    probing: {
      ...{ hot: 'shedding', hot_long: 'shedding', calm: 'probing', calm_long: 'probing' },
      whole: 'normal',
    },
  };
  for (const event of events) {
    const to = expected[state]![event];
    if (to === undefined) expect(() => nextOverloadState(state, event)).toThrow('not possible');
    else expect(nextOverloadState(state, event)).toBe(to);
  }
  const rows = Object.values(expected).reduce((sum, row) => sum + Object.keys(row).length, 0);
  expect(overloadTransitions).toHaveLength(rows);
});

test('a wait that lasts sheds, ever more of the requests, and never all', () => {
  const controller = new OverloadController();
  expect(run(controller, late, hotSamples)).toEqual([
    ...Array.from({ length: hotSamples - 1 }, () => 'pressed 100'),
    `shedding ${firstPercent}`,
  ]);
  run(controller, late, hotSamples);
  expect(controller.status.probePercent).toBe(firstPercent / 2);
  run(controller, late, hotSamples * 10);
  expect(controller.status).toMatchObject({ state: 'shedding', probePercent: leastPercent });
  expect(controller.status).toMatchObject({ action: 'fail_policy', cause: 'event_loop' });
});

test('a wait that does not last sheds nothing', () => {
  const controller = new OverloadController();
  for (let at = 0; at < 20; at++) {
    run(controller, late, hotSamples - 1);
    expect(controller.admits()).toBe(true);
    run(controller, calm, 1);
    expect(controller.status).toEqual(notOverloaded);
  }
});

test('calm tries more again, and ends in the normal state', () => {
  const controller = shed();
  run(controller, late, hotSamples * 2);
  const { probePercent } = controller.status;
  expect(run(controller, calm, calmSamples)).toEqual([
    ...Array.from({ length: calmSamples - 1 }, () => `shedding ${probePercent}`),
    `probing ${probePercent}`,
  ]);
  const seen = run(controller, calm, 8);
  expect(seen.slice(0, 3)).toEqual(['probing 48', 'probing 100', 'normal 100']);
  expect(controller.status).toEqual(notOverloaded);
});

test('from the least share, a calm loop inspects everything again within 4 s', () => {
  const controller = shed();
  run(controller, late, hotSamples * 10);
  expect(controller.status.probePercent).toBe(leastPercent);
  const seen = run(controller, calm, 4_000 / overloadLimits.sampleMs);
  expect(seen).toContain('probing 100');
  expect(seen.at(-1)).toBe('normal 100');
});

test('a wait while more is tried sheds again at once', () => {
  const controller = shed();
  run(controller, calm, calmSamples);
  expect(run(controller, late, 1)).toEqual([`shedding ${firstPercent / 2}`]);
});

test.each([100, 50, 25, 3, 1])('%i percent of requests are admitted, evenly', (percent) => {
  const controller = new OverloadController();
  controller.status = { ...notOverloaded, state: 'shedding', probePercent: percent };
  let admitted = 0;
  for (let at = 0; at < 1000; at++) if (controller.admits()) admitted++;
  expect(admitted).toBe(percent * 10);
  expect(controller.shed).toBe(1000 - percent * 10);
});

test('each figure has a bound of its own', () => {
  expect(causeOf(calm)).toBe('');
  expect(causeOf({ ...calm, loopDelayMs: overloadLimits.loopDelayMs - 1 })).toBe('');
  expect(causeOf(late)).toBe('event_loop');
  expect(causeOf({ ...calm, poolWaitMs: overloadLimits.poolWaitMs })).toBe('pool_queue');
  expect(causeOf({ ...calm, heldShare: overloadLimits.heldShare })).toBe('held_bytes');
});

test('what a thread did before it serves is no pressure', () => {
  let nowUs = 0;
  const clock = { nowMs: () => 0, monotonicUs: () => nowUs };
  const controller = new OverloadController();
  let changes = 0;
  const sources = { poolWaitMs: () => 0, heldShare: () => 0 };
  const probe = new PressureProbe(clock, controller, sources, () => changes++);
  nowUs = 10_000_000;
  probe.start();
  nowUs += overloadLimits.tickMs * 1000;
  probe.tick();
  probe.stop();
  expect(controller.status).toEqual(notOverloaded);
  expect(changes).toBe(0);
});

test('the shortest lateness of a sample counts, by the clock that was given', () => {
  let nowUs = 0;
  const clock = { nowMs: () => 0, monotonicUs: () => nowUs };
  const controller = new OverloadController();
  let changes = 0;
  let held = 0;
  const sources = { poolWaitMs: () => 0, heldShare: () => held };
  const probe = new PressureProbe(clock, controller, sources, () => changes++);
  const tick = (lateMs: number): void => {
    nowUs += (overloadLimits.tickMs + lateMs) * 1000;
    probe.tick();
  };
  // One turn in time is enough: what came then did not wait.
  for (let at = 0; at < 40; at++) tick(at % 2 === 0 ? 2_000 : 0);
  expect(controller.status).toEqual(notOverloaded);
  changes = 0;
  for (let at = 0; at < 20; at++) tick(600);
  expect(controller.status).toMatchObject({ state: 'shedding', cause: 'event_loop' });
  expect(changes).toBeGreaterThan(1);
  for (let at = 0; at < 200; at++) tick(0);
  expect(controller.status).toEqual(notOverloaded);
  held = 1;
  for (let at = 0; at < 60; at++) tick(0);
  expect(controller.status).toMatchObject({ state: 'shedding', cause: 'held_bytes' });
});

test('of several threads the worst counts', () => {
  const shedding = shed().status;
  const less = { ...shedding, probePercent: 2 };
  expect(worseOverload(notOverloaded, shedding)).toBe(shedding);
  expect(worseOverload(less, shedding)).toBe(less);
  const pressed = { ...notOverloaded, state: 'pressed' } as const;
  expect(worseOverload(notOverloaded, pressed)).toBe(pressed);
});

test('a fault is reported once, where shedding begins', () => {
  const told: (RequestError | null)[] = [];
  const report = new OverloadReport(createLogger('test', 'error'), (fault) => told.push(fault));
  const { status } = shed();
  report.take(status);
  report.take({ ...status, probePercent: 10 });
  report.take(notOverloaded);
  expect(told.map((fault) => fault?.reason)).toEqual(['overload', undefined, undefined]);
  expect(told[0]?.message).toContain(`${firstPercent} percent of requests are inspected`);
  expect(report.status).toEqual(notOverloaded);
});
