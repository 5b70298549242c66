/** Tests which thread links, plans ahead and prepares what. The threads are stand-ins. */

import { afterEach, expect, test, vi } from 'vitest';
import { eventually } from '../../test/support/eventually.ts';
import type { KeyedPolicy } from '../contract/policy.ts';
import { planName, type SharedImages } from '../contract/shared-images.ts';
import { engineLimits } from '../base/limits.ts';
import { Planner } from './planner.ts';

/** Answers each task with its thread's id as the number of rules; a slow one waits for `open`. */
const entry = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId, workerData } from 'node:worker_threads';
    const [open, links, plans] = [0, 1, 2];
    parentPort.on('message', ({ id, kind, policy }) => {
      Atomics.add(workerData, kind === 'link' ? links : plans, 1);
      const slow = policy.key.startsWith('slow');
      const answer = () => {
        if (slow && Atomics.load(workerData, open) === 0) return setTimeout(answer, 2);
        const plan = { plan: new SharedArrayBuffer(1) };
        const shared = new Map(kind === 'link' ? [] : [['plan:' + policy.key, plan]]);
        const outcome = { ok: true, diagnostics: [], rules: threadId, shared };
        parentPort.postMessage({ kind: 'done', id, outcome });
      };
      answer();
    });
  `)}`,
);

const planners: Planner[] = [];

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(planners.splice(0).map((planner) => planner.close()));
});

function make() {
  const state = new Int32Array(new SharedArrayBuffer(12));
  const onEnded = vi.fn<() => void>();
  const planner = new Planner({ entry, settings: state, onProgress: () => undefined, onEnded });
  planners.push(planner);
  return {
    planner,
    onEnded,
    release: () => Atomics.store(state, 0, 1),
    links: () => Atomics.load(state, 1),
    plans: () => Atomics.load(state, 2),
  };
}

function policy(key: string): KeyedPolicy {
  const source = { id: key, name: key, revision: '1', seclangEntry: key, files: new Map() };
  return { key, source };
}

/** Each look moves the planner's clock on; it ends before the first thread is at rest for long. */
const patience = { timeout: engineLimits.plannerRestMs / 2, interval: 50 };

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

test('a policy that was linked and planned ahead is there when it is asked for', async () => {
  const { planner, links, plans } = make();
  expect(await planner.link(policy('a'))).toMatchObject({ ok: true, shared: new Map() });
  planner.planAhead(policy('a'));
  const { shared } = await planner.plan(policy('a'));
  await turn();
  expect((await planner.plan(policy('a'))).shared).toBe(shared);
  expect([links(), plans()]).toEqual([1, 1]);
});

test('what was planned ahead is let go of once it serves, and beyond a number', async () => {
  const { planner, plans } = make();
  planner.planAhead(policy('a'));
  const { shared } = await planner.plan(policy('a'));
  await turn();
  planner.use(shared);
  planner.use(new Map());
  await planner.plan(policy('a'));
  expect(plans()).toBe(2);
  const keys = Array.from({ length: engineLimits.plannedAheadMax + 1 }, (_, at) => `of-${at}`);
  for (const key of keys) {
    planner.planAhead(policy(key));
    await planner.plan(policy(key));
  }
  await turn();
  await planner.plan(policy(keys[0]!));
  expect(plans()).toBe(2 + keys.length + 1);
});

test('a policy that serves is not planned again', async () => {
  const { planner, plans } = make();
  const images: SharedImages = (await planner.plan(policy('a'))).shared;
  expect(images.has(planName('a'))).toBe(true);
  planner.use(images);
  await planner.plan(policy('a'));
  expect(plans()).toBe(1);
});

test('what nobody waits for begins after what somebody does', async () => {
  const { planner, plans, release } = make();
  const first = planner.plan(policy('slow'));
  const prepared = planner.prepare(policy('default'));
  await eventually(() => plans() === 1);
  await new Promise((resolve) => setTimeout(resolve, 2 * engineLimits.plannerPollMs));
  expect(plans()).toBe(1);
  release();
  await first;
  await prepared;
  expect(plans()).toBe(2);
});

test('a policy that comes meanwhile waits for the databases that are being made', async () => {
  const { planner, release } = make();
  const prepared = planner.prepare(policy('slow-default'));
  await turn();
  const asked = await planner.plan(policy('first'));
  const free = await planner.link(policy('other'));
  expect(free!.rules).not.toBe(asked.rules);
  release();
  await prepared;
});

test('a second thread plans what need not wait, and none is left to link then', async () => {
  const { planner, release } = make();
  const slow = planner.plan(policy('slow'));
  const [quick, other] = [await planner.plan(policy('a')), planner.plan(policy('slow-b'))];
  expect(await planner.link(policy('c'))).toBeNull();
  release();
  expect((await slow).rules).not.toBe(quick.rules);
  expect((await other).rules).toBe(quick.rules);
});

test('idle threads end, the first later, and a policy that comes then gets a new one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { planner, onEnded, release } = make();
  const slow = planner.plan(policy('slow'));
  const { rules: second } = await planner.plan(policy('b'));
  release();
  const { rules: first } = await slow;
  vi.advanceTimersByTime(engineLimits.plannerIdleMs);
  await vi.waitFor(() => expect(onEnded).toHaveBeenCalledTimes(1), patience);
  expect((await planner.link(policy('c')))?.rules).toBe(first);
  vi.advanceTimersByTime(engineLimits.plannerIdleMs);
  vi.advanceTimersByTime(engineLimits.plannerRestMs);
  await vi.waitFor(() => expect(onEnded).toHaveBeenCalledTimes(3), patience);
  const { rules: third } = await planner.plan(policy('d'));
  expect([first, second]).not.toContain(third);
});
