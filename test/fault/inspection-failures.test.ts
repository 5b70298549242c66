/**
 * Every way in which inspection fails, on the front's thread and in the pool, in every phase: by
 * the site's fail policy alone the client gets the same status and page, and the event and the
 * counters say the same.
 */

import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { poolLimits } from '../../engine/base/limits.ts';
import { silentLogger } from '../../base/log.ts';
import type { InspectionPlace, Inspector } from '../../engine/contract/inspection.ts';
import type { SiteConfig } from '../../engine/contract/site.ts';
import type { InspectionFailure } from '../../engine/contract/verdict.ts';
import { FrontCounters } from '../../engine/front/facts/counters.ts';
import {
  Closing,
  httpOrigin,
  RawClient,
  siteFor,
  startFront,
} from '../../engine/front/fixtures/fixture.ts';
import { encodeFact } from '../../engine/link/security-fact.ts';
import { placeInspector, Pool } from '../../engine/pool/dispatch.ts';
import { transpileTree } from '../http/transpile.ts';
import { faultyEngine, type Fault, type FaultPlan } from './faulty-policy.ts';

const root = path.resolve(import.meta.dirname, '../..');
const closing = new Closing();
let thread: { readonly url: URL; readonly folder: string };
/** Serves every plan after which its thread lives on: a thread costs more than a request. */
let shared: Pool;
beforeAll(async () => {
  thread = await transpileTree(root, 'test/fault/faulty-thread.ts');
  shared = startPool(plans, 20_000);
});
afterEach(() => closing.run());
afterAll(async () => {
  await shared.close();
  rmSync(thread.folder, { recursive: true, force: true });
});

type Mode = SiteConfig['waf']['mode'];
type FailPolicy = SiteConfig['waf']['failPolicy'];

const page = '<html>a page</html>';
const request =
  'POST /?a=1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n' +
  'Content-Length: 3\r\nConnection: close\r\n\r\nb=2';

function startPool(policies: ReadonlyMap<string, FaultPlan>, deadlineMs: number): Pool {
  const pool = new Pool({
    workerFile: thread.url,
    workerData: null,
    clock: systemClock,
    log: silentLogger,
    deadlineMs,
    threads: 1,
  });
  for (const [policy, plan] of policies) pool.load(policy, plan, true);
  pool.start();
  return pool;
}

/** A pool that one test may break, with a policy that fails so and one that keeps the thread. */
function startOwnPool(plan: FaultPlan, deadlineMs: number): Pool {
  const busy: FaultPlan = { fault: 'block', phase: 1 };
  const pool = startPool(new Map(Object.entries({ p: plan, busy })), deadlineMs);
  closing.add(() => pool.close());
  return pool;
}

/** One request to a site whose policy fails so; all that can be seen of it. */
async function observe(inspector: Inspector, mode: Mode, failPolicy: FailPolicy) {
  const origin = await httpOrigin(closing, (incoming, response) => {
    response.setHeader('Content-Type', 'text/html');
    incoming.resume().on('end', () => response.end(page));
  });
  const site = siteFor(origin, { waf: { enabled: true, mode, failPolicy } });
  const front = await startFront(closing, [site], inspector);
  const text = await new RawClient(front.port).send(request).all();
  const [event] = await front.eventsReach(1);
  const counters = new FrontCounters();
  counters.add(event!, 'p');
  const { entries } = counters.drain()[0]!;
  const counted = (family: 'outcome' | 'status' | 'verdict' | 'failure'): unknown => [
    ...entries.get(family)!,
  ];
  const { outcome, status, blocked, refusal, transaction } = event!;
  return {
    answer: text.slice(0, 12),
    kind: /"kind":"(\w+)"/.exec(text)?.[1] ?? (text.includes(page) ? 'page' : text),
    event: { outcome, status, blocked, refusal, failure: transaction?.failure },
    verdict: transaction?.verdict.action,
    counted: [counted('outcome'), counted('status'), counted('verdict'), counted('failure')],
    recorded: encodeFact(event!) !== null,
  };
}

function expected(reason: InspectionFailure, failPolicy: FailPolicy): object {
  const closed = failPolicy === 'closed';
  const status = closed ? 503 : 200;
  const outcome = closed ? 'inspection_failed' : 'served';
  return {
    answer: `HTTP/1.1 ${status}`,
    kind: closed ? 'service_unavailable' : 'page',
    event: { outcome, status, blocked: false, refusal: null, failure: reason },
    verdict: 'pass',
    counted: [[[outcome, 1]], [[status, 1]], [['failed', 1]], [[reason, 1]]],
    recorded: true,
  };
}

const modes: readonly Mode[] = ['blocking', 'detection'];
const failPolicies: readonly FailPolicy[] = ['closed', 'open'];
const places: readonly InspectionPlace[] = ['inline', 'pool'];
const faults: readonly InspectionFailure[] = ['native', 'memory', 'deadline', 'internal'];
const plans = new Map(
  faults.flatMap((fault) =>
    [1, 2, 3, 4].map((phase): [string, FaultPlan] => {
      return [`${fault} ${phase}`, { fault: fault as Fault, phase }];
    }),
  ),
);

describe.each(places)('failures of inspection, place %s', (place) => {
  const rows = faults.flatMap((fault) =>
    [1, 2, 3, 4].flatMap((phase) =>
      modes.flatMap((mode) => failPolicies.map((fail) => [fault, phase, mode, fail] as const)),
    ),
  );
  test.each(rows)('%s in phase %i, %s, %s', async (fault, phase, mode, failPolicy) => {
    const policy = `${fault} ${phase}`;
    const engine = faultyEngine(plans.get(policy)!);
    const recordOnly = mode === 'detection';
    const inline: Inspector = { open: (one) => engine.open(one, recordOnly) };
    const inspector =
      place === 'inline' ? inline : placeInspector('pool', inline, shared, { policy, recordOnly });
    expect(await observe(inspector, mode, failPolicy)).toEqual(expected(fault, failPolicy));
  });
});

describe('failures that only a pool has', () => {
  const rows = modes.flatMap((mode) => failPolicies.map((fail) => [mode, fail] as const));
  const nobody: Inspector = {
    open: () => {
      throw new Error('inspection is meant for the pool');
    },
  };

  test.each([1, 2, 3, 4].flatMap((phase) => rows.map((row) => [phase, ...row] as const)))(
    'a thread that dies in phase %i, %s, %s',
    async (phase, mode, failPolicy) => {
      const pool = startOwnPool({ fault: 'die', phase }, 20_000);
      const how = { policy: 'p', recordOnly: mode === 'detection' };
      const inspector = placeInspector('pool', nobody, pool, how);
      const seen = await observe(inspector, mode, failPolicy);
      expect(seen).toEqual(expected('worker', failPolicy));
    },
  );

  test.each(rows)('a thread that does not answer in time, %s, %s', async (mode, failPolicy) => {
    const pool = startOwnPool({ fault: 'block', phase: 2 }, 150);
    await pool.settled();
    const how = { policy: 'p', recordOnly: mode === 'detection' };
    const inspector = placeInspector('pool', nobody, pool, how);
    const seen = await observe(inspector, mode, failPolicy);
    expect(seen).toEqual(expected('deadline', failPolicy));
  });

  test.each(rows)('a full queue, %s, %s', async (mode, failPolicy) => {
    const pool = startOwnPool({ fault: 'none', phase: 0 }, 20_000);
    await pool.settled();
    const recordOnly = mode === 'detection';
    const inspector: Inspector = {
      open: (one) => {
        // One that keeps the thread busy, then as many of the same client as may wait.
        void pool.open(one, { policy: 'busy', recordOnly }).requestHead();
        for (let i = 0; i < poolLimits.queuedOperationsMax; i++) {
          void pool.open(one, { policy: 'p', recordOnly }).requestHead();
        }
        return pool.open(one, { policy: 'p', recordOnly });
      },
    };
    const seen = await observe(inspector, mode, failPolicy);
    expect(seen).toEqual(expected('queue', failPolicy));
  });
});
